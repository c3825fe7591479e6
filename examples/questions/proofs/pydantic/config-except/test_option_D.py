"""Option D: `orm_mode` is a setting of `ConfigDict`."""

from pydantic import ConfigDict

DISPUTED = "orm_mode"
INSTEAD = "from_attributes"


def test_option_D_holds():
    assert DISPUTED in ConfigDict.__annotations__


def test_option_D_fails():
    assert DISPUTED not in ConfigDict.__annotations__
