"""What is wrong with a problem folder, as far as reading alone can tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.documents import Place
from assay.errors import InputError

Level: TypeAlias = Literal["error", "warning"]

UNREADABLE = "unreadable"
UNKNOWN_KEY = "unknown-key"
WRONG_VALUE = "wrong-value"
UNKNOWN_NAME = "unknown-name"
MISSING_FILE = "missing-file"
NO_CASES = "no-cases"
WRONG_CHECK = "wrong-check"
WRONG_SIGNATURE = "wrong-signature"
UNVERIFIED = "unverified"


@dataclass(frozen=True)
class Finding:
    """One defect: its code, what it is, where it stands and what to do.

    An error keeps cases from being run as they are meant; a warning does not.
    """

    code: str
    message: str
    place: Place
    advice: str = ""
    level: Level = "error"

    def error(self) -> InputError:
        """The same as an error, for those who cannot go on."""
        return InputError(self.message, where=str(self.place), advice=self.advice or None)


def refuse_errors(findings: Iterable[Finding]) -> None:
    """Raise the first error, naming how many more there are."""
    errors = [finding for finding in findings if finding.level == "error"]
    if not errors:
        return
    first = errors[0].error()
    if len(errors) > 1:
        more = f"(and {len(errors) - 1} more; `assay submissions lint` lists all)"
        first.advice = f"{first.advice}\n  {more}" if first.advice else more
    raise first
