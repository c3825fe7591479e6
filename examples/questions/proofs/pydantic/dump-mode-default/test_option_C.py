"""Option C: the default of `mode` of `BaseModel.model_dump` is `None`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = None
INSTEAD = "python"


def default_of_mode():
    return signature(BaseModel.model_dump).parameters["mode"].default


def test_option_C_holds():
    assert default_of_mode() == DISPUTED


def test_option_C_fails():
    assert default_of_mode() != DISPUTED
