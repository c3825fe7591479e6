"""Option D: the default of `mode` of `BaseModel.model_dump` is `'dict'`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "dict"
INSTEAD = "python"


def default_of_mode():
    return signature(BaseModel.model_dump).parameters["mode"].default


def test_option_D_holds():
    assert default_of_mode() == DISPUTED


def test_option_D_fails():
    assert default_of_mode() != DISPUTED
