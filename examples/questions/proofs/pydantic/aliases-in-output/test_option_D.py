"""Option D: `alias_keys` is a parameter of `BaseModel.model_dump`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "alias_keys"
INSTEAD = "by_alias"


def test_option_D_holds():
    assert DISPUTED in signature(BaseModel.model_dump).parameters


def test_option_D_fails():
    assert DISPUTED not in signature(BaseModel.model_dump).parameters
