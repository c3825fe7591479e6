"""Option D: the code runs without an error."""

from pydantic import BaseModel, ValidationError, field_validator

DISPUTED = 13
INSTEAD = 12


class Ticket(BaseModel):
    seat: int

    @field_validator("seat")
    @classmethod
    def is_free(cls, seat: int) -> int:
        if seat == 13:
            raise ValueError("there is no seat 13")
        return seat


def runs_without_an_error(seat):
    try:
        return Ticket(seat=seat).seat == seat
    except ValidationError as error:
        assert error.errors()[0]["loc"] == ("seat",)
        return False


def test_option_D_holds():
    assert runs_without_an_error(DISPUTED)


def test_option_D_fails():
    assert not runs_without_an_error(DISPUTED)
