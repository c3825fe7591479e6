"""What is wrong with a suite as far as reading alone can tell."""

from __future__ import annotations

from dataclasses import dataclass

from assay.documents import Place
from assay.errors import InputError

UNREADABLE = "unreadable"
DUPLICATE_ID = "duplicate-id"
MISSING_SECTION = "missing-section"
UNKNOWN_KEY = "unknown-key"

# With one of these a question is lost or cannot be told from another, so nothing may be verified.
FATAL = frozenset({UNREADABLE, DUPLICATE_ID})


@dataclass(frozen=True)
class LintFinding:
    """One defect: its code, what it is, where it stands, what to do, and whose it is."""

    code: str
    message: str
    place: Place
    advice: str = ""
    question_id: str | None = None

    def error(self) -> InputError:
        """The same as an error, for those who cannot go on."""
        return InputError(self.message, where=str(self.place), advice=self.advice or None)
