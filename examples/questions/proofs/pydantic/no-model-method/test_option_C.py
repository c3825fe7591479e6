"""Option C: `model_serialize` is a method of `BaseModel`."""

from pydantic import BaseModel

DISPUTED = "model_serialize"
INSTEAD = "model_rebuild"


def test_option_C_holds():
    assert callable(getattr(BaseModel, DISPUTED, None))


def test_option_C_fails():
    assert not hasattr(BaseModel, DISPUTED)
