"""Option A: `TypeAdapter(int).validate_python("many")` raises `ValueError`."""

import pytest
from pydantic import TypeAdapter

DISPUTED = ValueError


def run():
    TypeAdapter(int).validate_python("many")


def raised():
    try:
        run()
    except Exception as error:
        return error
    return None


def test_option_A_holds():
    assert isinstance(raised(), DISPUTED)
    with pytest.raises(DISPUTED):
        run()


def test_option_A_fails():
    assert not isinstance(raised(), DISPUTED)


def test_option_A_control():
    assert TypeAdapter(int).validate_python("7") == 7
