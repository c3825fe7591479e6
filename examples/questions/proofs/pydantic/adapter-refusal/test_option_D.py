"""Option D: `TypeAdapter(int).validate_python("many")` raises `AssertionError`."""

import pytest
from pydantic import TypeAdapter, ValidationError

DISPUTED = AssertionError
INSTEAD = ValidationError


def run():
    TypeAdapter(int).validate_python("many")


def raised():
    try:
        run()
    except Exception as error:
        return error
    return None


def test_option_D_holds():
    assert isinstance(raised(), DISPUTED)
    with pytest.raises(DISPUTED):
        run()


def test_option_D_fails():
    assert not isinstance(raised(), DISPUTED)


def test_option_D_control():
    assert TypeAdapter(int).validate_python("7") == 7
