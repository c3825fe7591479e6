"""Option D: the default of `exclude_none` of `BaseModel.model_dump` is `'unset'`."""

from inspect import signature

from pydantic import BaseModel

DISPUTED = "unset"
INSTEAD = False


def default_of_exclude_none():
    return signature(BaseModel.model_dump).parameters["exclude_none"].default


def test_option_D_holds():
    assert default_of_exclude_none() == DISPUTED


def test_option_D_fails():
    assert default_of_exclude_none() != DISPUTED
