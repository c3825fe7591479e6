"""Option B: what `model_copy()` returns is an instance of the same class."""

from pydantic import BaseModel

DISPUTED = "model_copy"


class User(BaseModel):
    name: str


def is_of_the_same_class(method):
    user = User(name="Ada")
    copied = getattr(user, method, lambda: None)()
    return type(copied) is User and copied is not user


def test_option_B_holds():
    assert is_of_the_same_class(DISPUTED)


def test_option_B_fails():
    assert not is_of_the_same_class(DISPUTED)
