"""Option B: `aliases` is a parameter of `BaseModel.model_dump`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "aliases"
INSTEAD = "by_alias"


def test_option_B_holds():
    assert DISPUTED in signature(BaseModel.model_dump).parameters


def test_option_B_fails():
    assert DISPUTED not in signature(BaseModel.model_dump).parameters
