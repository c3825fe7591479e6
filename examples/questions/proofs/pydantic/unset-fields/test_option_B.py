"""Option B: `exclude_{kind}` is a parameter of `BaseModel.model_dump_json`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "exclude_{kind}"
INSTEAD = "exclude_unset"


def test_option_B_holds():
    assert DISPUTED in signature(BaseModel.model_dump_json).parameters


def test_option_B_fails():
    assert DISPUTED not in signature(BaseModel.model_dump_json).parameters
