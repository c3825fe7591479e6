"""Option A: `model_construct` makes an instance without validating the data."""

from pydantic import BaseModel

DISPUTED = "model_construct"


class User(BaseModel):
    age: int


def skips_validation(method):
    user = getattr(User, method, lambda age: None)(age="many")
    return isinstance(user, User) and user.age == "many"


def test_option_A_holds():
    assert skips_validation(DISPUTED)


def test_option_A_fails():
    assert not skips_validation(DISPUTED)
