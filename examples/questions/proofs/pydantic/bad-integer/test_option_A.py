"""Option A: a text that is no number, given for an `int`, raises `ValueError`."""

import pytest
from pydantic import BaseModel

DISPUTED = ValueError


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


def test_option_A_holds():
    assert isinstance(raised(), DISPUTED)
    with pytest.raises(DISPUTED):
        run()


def test_option_A_fails():
    assert not isinstance(raised(), DISPUTED)


def test_option_A_control():
    assert User(age="7").age == 7
