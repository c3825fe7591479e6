"""Option B: assigning to a field of a frozen model raises `ValidationError`."""

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

DISPUTED = ValidationError


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


def test_option_B_holds():
    assert isinstance(raised(), DISPUTED)
    with pytest.raises(DISPUTED):
        run()


def test_option_B_fails():
    assert not isinstance(raised(), DISPUTED)


def test_option_B_control():
    assert Point(x=1).x == 1
