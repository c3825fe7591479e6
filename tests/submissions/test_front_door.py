"""What the front door of submissions offers is there."""

from __future__ import annotations

from assay import submissions


def test_every_name_that_is_offered_can_be_imported() -> None:
    assert all(callable(getattr(submissions, name)) for name in submissions.__all__)
