"""Option B: `description` is a parameter of `Field`."""

from inspect import signature

from pydantic import Field

DISPUTED = "description"


def test_option_B_holds():
    assert DISPUTED in signature(Field).parameters


def test_option_B_fails():
    assert DISPUTED not in signature(Field).parameters
