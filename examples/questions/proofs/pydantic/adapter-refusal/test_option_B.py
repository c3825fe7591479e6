"""Option B: `TypeAdapter(int).validate_python("many")` raises `ValidationError`."""

import pytest
from pydantic import TypeAdapter, ValidationError

DISPUTED = ValidationError


def run():
    TypeAdapter(int).validate_python("many")


def raised():
    try:
        run()
    except Exception as error:
        return error
    return None


def test_option_B_holds():
    assert isinstance(raised(), DISPUTED)
    with pytest.raises(DISPUTED):
        run()


def test_option_B_fails():
    assert not isinstance(raised(), DISPUTED)


def test_option_B_control():
    assert TypeAdapter(int).validate_python("7") == 7
