"""Option C: `TypeAdapter(int).validate_python("many")` raises `TypeError`."""

import pytest
from pydantic import TypeAdapter, ValidationError

DISPUTED = TypeError
INSTEAD = ValidationError


def run():
    TypeAdapter(int).validate_python("many")


def raised():
    try:
        run()
    except Exception as error:
        return error
    return None


def test_option_C_holds():
    assert isinstance(raised(), DISPUTED)
    with pytest.raises(DISPUTED):
        run()


def test_option_C_fails():
    assert not isinstance(raised(), DISPUTED)


def test_option_C_control():
    assert TypeAdapter(int).validate_python("7") == 7
