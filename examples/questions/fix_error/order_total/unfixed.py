"""Orders and what they cost."""

from pydantic import BaseModel


class Order(BaseModel):
    """A number of equal things at a price."""

    price: int
    count: int

    @property
    def total(self) -> int:
        return self.price * self.count
