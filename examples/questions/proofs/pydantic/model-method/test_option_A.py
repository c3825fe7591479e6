"""Option A: `to_dict` is a method of `BaseModel`."""

from pydantic import BaseModel

DISPUTED = "to_dict"
INSTEAD = "model_dump"


def test_option_A_holds():
    assert callable(getattr(BaseModel, DISPUTED, None))


def test_option_A_fails():
    assert not hasattr(BaseModel, DISPUTED)
