"""Option A: `pattern` is a parameter of `Field`."""

from inspect import signature

from pydantic import Field

DISPUTED = "pattern"


def test_option_A_holds():
    assert DISPUTED in signature(Field).parameters


def test_option_A_fails():
    assert DISPUTED not in signature(Field).parameters
