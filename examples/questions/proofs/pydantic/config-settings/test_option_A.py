"""Option A: `frozen` is a setting of `ConfigDict`."""

from pydantic import ConfigDict

DISPUTED = "frozen"


def test_option_A_holds():
    assert DISPUTED in ConfigDict.__annotations__


def test_option_A_fails():
    assert DISPUTED not in ConfigDict.__annotations__
