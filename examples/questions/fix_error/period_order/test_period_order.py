"""A period ends on or after the day on which it starts."""

from datetime import date

import pytest
from pydantic import ValidationError
from unfixed import Period

MONDAY, TUESDAY = date(2024, 7, 1), date(2024, 7, 2)


def test_one_day_is_a_period():
    assert Period(start=MONDAY, end=MONDAY).end == MONDAY


def test_end_before_start_is_refused():
    with pytest.raises(ValidationError, match="before the start"):
        Period(start=TUESDAY, end=MONDAY)
