"""Limits: sensible by default, never zero."""

from __future__ import annotations

import dataclasses

import pytest

from assay.errors import InputError
from assay.sandbox.workers import Limits


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Limits)])
def test_every_limit_is_greater_than_zero(name: str) -> None:
    for value in (0, -1):
        with pytest.raises(InputError, match=name):
            Limits(**{name: value})


def test_one_file_fits_into_the_work_folder() -> None:
    limits = Limits()
    assert limits.file_size <= limits.work_size <= limits.memory
    assert limits.collected <= limits.work_size
