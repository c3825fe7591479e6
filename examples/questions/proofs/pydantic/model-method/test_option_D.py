"""Option D: `model_export` is a method of `BaseModel`."""

from pydantic import BaseModel

DISPUTED = "model_export"
INSTEAD = "model_dump"


def test_option_D_holds():
    assert callable(getattr(BaseModel, DISPUTED, None))


def test_option_D_fails():
    assert not hasattr(BaseModel, DISPUTED)
