"""Option D: a text that is no number, given for an `int`, raises `KeyError`."""

import pytest
from pydantic import BaseModel, ValidationError

DISPUTED = KeyError
INSTEAD = ValidationError


class User(BaseModel):
    age: int


def run():
    User(age="many")


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
    assert User(age="7").age == 7
