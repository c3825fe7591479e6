"""Option B: `strict` is a setting of `ConfigDict`."""

from pydantic import ConfigDict

DISPUTED = "strict"


def test_option_B_holds():
    assert DISPUTED in ConfigDict.__annotations__


def test_option_B_fails():
    assert DISPUTED not in ConfigDict.__annotations__
