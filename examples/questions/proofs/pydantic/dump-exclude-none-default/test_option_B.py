"""Option B: the default of `exclude_none` of `BaseModel.model_dump` is `True`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = True
INSTEAD = False


def default_of_exclude_none():
    return signature(BaseModel.model_dump).parameters["exclude_none"].default


def test_option_B_holds():
    assert default_of_exclude_none() == DISPUTED


def test_option_B_fails():
    assert default_of_exclude_none() != DISPUTED
