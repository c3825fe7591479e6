"""Option B: `from pydantic.types import TypeAdapter` works."""

from importlib import import_module

DISPUTED = "pydantic.types.TypeAdapter"
INSTEAD = "pydantic.TypeAdapter"


def is_importable():
    module, _, name = DISPUTED.rpartition(".")
    try:
        return hasattr(import_module(module), name)
    except ModuleNotFoundError as error:
        # It is this module that is missing, and nothing it needs.
        assert error.name == module
        return False


def test_option_B_holds():
    assert is_importable()


def test_option_B_fails():
    assert not is_importable()
