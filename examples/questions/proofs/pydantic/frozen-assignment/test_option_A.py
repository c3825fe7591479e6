"""Option A: assigning to a field of a frozen model raises `TypeError`."""

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

DISPUTED = TypeError
INSTEAD = ValidationError


class Point(BaseModel):
    model_config = ConfigDict(frozen=True)
    x: int


def run():
    point = Point(x=1)
    point.x = 2


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
    assert Point(x=1).x == 1
