"""Option A: `from_attributes` is a setting of `ConfigDict`."""

from pydantic import ConfigDict

DISPUTED = "from_attributes"


def test_option_A_holds():
    assert DISPUTED in ConfigDict.__annotations__


def test_option_A_fails():
    assert DISPUTED not in ConfigDict.__annotations__
