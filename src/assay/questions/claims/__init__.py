"""Claims: typed data between reading a question and proving its options.

What proves them is imported on first use: reading a suite needs only the kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.questions.claims.library import CLASSES, Library
    from assay.questions.claims.writers import write_proof

_HOME = {"CLASSES": "library", "Library": "library", "write_proof": "writers"}

__all__ = ["CLASSES", "Library", "write_proof"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
