"""Option C: `by_alias` is a parameter of `BaseModel.model_dump`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "by_alias"


def test_option_C_holds():
    assert DISPUTED in signature(BaseModel.model_dump).parameters


def test_option_C_fails():
    assert DISPUTED not in signature(BaseModel.model_dump).parameters
