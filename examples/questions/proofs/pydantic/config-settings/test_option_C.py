"""Option C: `extra` is a setting of `ConfigDict`."""

from pydantic import ConfigDict

DISPUTED = "extra"


def test_option_C_holds():
    assert DISPUTED in ConfigDict.__annotations__


def test_option_C_fails():
    assert DISPUTED not in ConfigDict.__annotations__
