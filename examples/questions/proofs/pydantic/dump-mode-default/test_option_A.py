"""Option A: the default of `mode` of `BaseModel.model_dump` is `'json'`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "json"
INSTEAD = "python"


def default_of_mode():
    return signature(BaseModel.model_dump).parameters["mode"].default


def test_option_A_holds():
    assert default_of_mode() == DISPUTED


def test_option_A_fails():
    assert default_of_mode() != DISPUTED
