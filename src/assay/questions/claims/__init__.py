"""Claims: typed data between reading a question and proving its options."""

from __future__ import annotations

from assay.questions.claims.library import CLASSES, Library
from assay.questions.claims.writers import write_proof

__all__ = ["CLASSES", "Library", "write_proof"]
