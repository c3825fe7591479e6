"""Option C: `gt` is a parameter of `Field`."""

from inspect import signature

from pydantic import Field

DISPUTED = "gt"


def test_option_C_holds():
    assert DISPUTED in signature(Field).parameters


def test_option_C_fails():
    assert DISPUTED not in signature(Field).parameters
