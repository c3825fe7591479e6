"""Option B: the default of `mode` of `BaseModel.model_dump` is `'python'`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "python"


def default_of_mode():
    return signature(BaseModel.model_dump).parameters["mode"].default


def test_option_B_holds():
    assert default_of_mode() == DISPUTED


def test_option_B_fails():
    assert default_of_mode() != DISPUTED
