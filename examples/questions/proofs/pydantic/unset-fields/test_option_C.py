"""Option C: `skip_unset` is a parameter of `BaseModel.model_dump_json`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "skip_unset"
INSTEAD = "exclude_unset"


def test_option_C_holds():
    assert DISPUTED in signature(BaseModel.model_dump_json).parameters


def test_option_C_fails():
    assert DISPUTED not in signature(BaseModel.model_dump_json).parameters
