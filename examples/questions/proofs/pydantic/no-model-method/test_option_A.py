"""Option A: `model_construct` is a method of `BaseModel`."""

from pydantic import BaseModel

DISPUTED = "model_construct"


def test_option_A_holds():
    assert callable(getattr(BaseModel, DISPUTED, None))


def test_option_A_fails():
    assert not hasattr(BaseModel, DISPUTED)
