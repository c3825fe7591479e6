"""Option D: `drop_missing` is a parameter of `BaseModel.model_dump_json`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "drop_missing"
INSTEAD = "exclude_unset"


def test_option_D_holds():
    assert DISPUTED in signature(BaseModel.model_dump_json).parameters


def test_option_D_fails():
    assert DISPUTED not in signature(BaseModel.model_dump_json).parameters
