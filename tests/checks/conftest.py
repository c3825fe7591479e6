"""What the tests of checks share."""

from __future__ import annotations

import pytest

from assay.checks import registry


@pytest.fixture
def own_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the registry that a test may add to."""
    monkeypatch.setattr(registry, "_ENTRIES", dict(registry._ENTRIES))
