"""Option A: `from pydantic import HttpsUrl` works."""

from importlib import import_module

DISPUTED = "pydantic.HttpsUrl"
INSTEAD = "pydantic.HttpUrl"


def is_importable():
    module, _, name = DISPUTED.rpartition(".")
    try:
        return hasattr(import_module(module), name)
    except ModuleNotFoundError as error:
        # It is this module that is missing, and nothing it needs.
        assert error.name == module
        return False


def test_option_A_holds():
    assert is_importable()


def test_option_A_fails():
    assert not is_importable()
