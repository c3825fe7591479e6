"""Servers that real libraries bring may be slow to begin on a busy machine."""

from __future__ import annotations

import pytest

from assay.agents.connections import web
from tests.waiting import PATIENCE


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_BEGINNING", PATIENCE)
