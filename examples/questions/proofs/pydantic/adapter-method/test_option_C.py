"""Option C: `parse_obj` is a method of `TypeAdapter`."""

from pydantic import TypeAdapter

DISPUTED = "parse_obj"
INSTEAD = "validate_python"


def test_option_C_holds():
    assert callable(getattr(TypeAdapter, DISPUTED, None))


def test_option_C_fails():
    assert not hasattr(TypeAdapter, DISPUTED)
