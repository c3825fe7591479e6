"""Option D: what `model_copy()` returns is a dictionary."""

from pydantic import BaseModel

DISPUTED = "model_copy"
INSTEAD = "model_dump"


class User(BaseModel):
    name: str


def test_option_D_holds():
    assert isinstance(getattr(User(name="Ada"), DISPUTED)(), dict)


def test_option_D_fails():
    assert not isinstance(getattr(User(name="Ada"), DISPUTED)(), dict)
