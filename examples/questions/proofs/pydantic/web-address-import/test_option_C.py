"""Option C: `from pydantic.networks import WebUrl` works."""

from importlib import import_module

DISPUTED = "pydantic.networks.WebUrl"
INSTEAD = "pydantic.HttpUrl"


def is_importable():
    module, _, name = DISPUTED.rpartition(".")
    try:
        return hasattr(import_module(module), name)
    except ModuleNotFoundError as error:
        # It is this module that is missing, and nothing it needs.
        assert error.name == module
        return False


def test_option_C_holds():
    assert is_importable()


def test_option_C_fails():
    assert not is_importable()
