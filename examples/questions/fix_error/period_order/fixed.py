"""Periods of time."""

from datetime import date
from typing import Self

from pydantic import BaseModel, model_validator


class Period(BaseModel):
    """Whole days from a start to an end."""

    start: date
    end: date

    @model_validator(mode="after")
    def is_in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError("the end lies before the start")
        return self
