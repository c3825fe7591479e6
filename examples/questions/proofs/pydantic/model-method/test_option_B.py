"""Option B: `model_dump` is a method of `BaseModel`."""

from pydantic import BaseModel

DISPUTED = "model_dump"


def test_option_B_holds():
    assert callable(getattr(BaseModel, DISPUTED, None))


def test_option_B_fails():
    assert not hasattr(BaseModel, DISPUTED)
