"""Option A: `model_dump` is a method of `TypeAdapter`."""

from pydantic import TypeAdapter

DISPUTED = "model_dump"
INSTEAD = "validate_python"


def test_option_A_holds():
    assert callable(getattr(TypeAdapter, DISPUTED, None))


def test_option_A_fails():
    assert not hasattr(TypeAdapter, DISPUTED)
