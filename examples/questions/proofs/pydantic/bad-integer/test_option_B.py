"""Option B: a text that is no number, given for an `int`, raises `TypeError`."""

import pytest
from pydantic import BaseModel, ValidationError

DISPUTED = TypeError
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


def test_option_B_holds():
    assert isinstance(raised(), DISPUTED)
    with pytest.raises(DISPUTED):
        run()


def test_option_B_fails():
    assert not isinstance(raised(), DISPUTED)


def test_option_B_control():
    assert User(age="7").age == 7
