"""Option D: `max_length` is a parameter of `Field`."""

from inspect import signature

from pydantic import Field

DISPUTED = "max_length"


def test_option_D_holds():
    assert DISPUTED in signature(Field).parameters


def test_option_D_fails():
    assert DISPUTED not in signature(Field).parameters
