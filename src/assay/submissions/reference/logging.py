"""`slop_code.logging`: a logger for loaders and verifiers."""

from __future__ import annotations

from typing import Any


def get_logger(name: str | None = None, **values: Any) -> Any:
    """A structlog logger; what it writes is captured with everything else the code prints."""
    import structlog

    return structlog.get_logger(name, **values)
