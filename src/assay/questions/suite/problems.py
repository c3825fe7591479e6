"""What is wrong with a suite as far as reading alone can tell."""

from __future__ import annotations

from assay.findings import UNREADABLE

__all__ = ["DUPLICATE_ID", "FATAL", "MISSING_SECTION", "UNKNOWN_KEY", "UNREADABLE"]

DUPLICATE_ID = "duplicate-id"
MISSING_SECTION = "missing-section"
UNKNOWN_KEY = "unknown-key"

# With one of these a question is lost or cannot be told from another, so nothing may be verified.
FATAL = frozenset({UNREADABLE, DUPLICATE_ID})
