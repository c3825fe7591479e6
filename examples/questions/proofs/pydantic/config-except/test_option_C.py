"""Option C: `str_strip_whitespace` is a setting of `ConfigDict`."""

from pydantic import ConfigDict

DISPUTED = "str_strip_whitespace"


def test_option_C_holds():
    assert DISPUTED in ConfigDict.__annotations__


def test_option_C_fails():
    assert DISPUTED not in ConfigDict.__annotations__
