"""Option A: the code raises `ValueError`."""

import pytest
from pydantic import BaseModel, field_validator

DISPUTED = ValueError


class Ticket(BaseModel):
    seat: int

    @field_validator("seat")
    @classmethod
    def is_free(cls, seat: int) -> int:
        if seat == 13:
            raise ValueError("there is no seat 13")
        return seat


def run():
    Ticket(seat=13)


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
    assert Ticket(seat=12).seat == 12
