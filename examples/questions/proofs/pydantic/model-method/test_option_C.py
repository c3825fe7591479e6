"""Option C: `as_dict` is a method of `BaseModel`."""

from pydantic import BaseModel

DISPUTED = "as_dict"
INSTEAD = "model_dump"


def test_option_C_holds():
    assert callable(getattr(BaseModel, DISPUTED, None))


def test_option_C_fails():
    assert not hasattr(BaseModel, DISPUTED)
