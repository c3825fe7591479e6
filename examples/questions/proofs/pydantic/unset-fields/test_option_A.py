"""Option A: `exclude_unset` is a parameter of `BaseModel.model_dump_json`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "exclude_unset"


def test_option_A_holds():
    assert DISPUTED in signature(BaseModel.model_dump_json).parameters


def test_option_A_fails():
    assert DISPUTED not in signature(BaseModel.model_dump_json).parameters
