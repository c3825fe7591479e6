"""Option D: the code raises an exception."""

from pydantic import BaseModel

DISPUTED = "append"
INSTEAD = "add"


def run(method):
    class Basket(BaseModel):
        items: list[str] = []

    first, second = Basket(), Basket()
    getattr(first.items, method)("apple")
    return len(second.items)


def raises_an_exception(method):
    try:
        run(method)
    except AttributeError as error:
        # A list has no such method: this is what an exception would look like here.
        return method in str(error)
    return False


def test_option_D_holds():
    assert raises_an_exception(DISPUTED)


def test_option_D_fails():
    assert not raises_an_exception(DISPUTED)
