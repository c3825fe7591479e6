"""Option B: `model_validate` is a method of `TypeAdapter`."""

from pydantic import TypeAdapter

DISPUTED = "model_validate"
INSTEAD = "validate_python"


def test_option_B_holds():
    assert callable(getattr(TypeAdapter, DISPUTED, None))


def test_option_B_fails():
    assert not hasattr(TypeAdapter, DISPUTED)
