"""Orders and what they cost."""

from pydantic import BaseModel, computed_field


class Order(BaseModel):
    """A number of equal things at a price."""

    price: int
    count: int

    @computed_field
    @property
    def total(self) -> int:
        return self.price * self.count
