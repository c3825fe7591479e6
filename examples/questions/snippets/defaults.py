"""Code of the questions on defaults and conversion, a section each."""

from pydantic import BaseModel


def shared_default() -> None:
    # --8<-- [start:shared_default]
    class Basket(BaseModel):
        items: list[str] = []

    first, second = Basket(), Basket()
    first.items.append("apple")
    print(len(second.items))
    # --8<-- [end:shared_default]


def coerced_amount() -> None:
    # --8<-- [start:coerced_amount]
    class Order(BaseModel):
        amount: int

    print(repr(Order.model_validate({"amount": "7"}).amount))
    # --8<-- [end:coerced_amount]
