"""What is wrong with a test file, as far as reading alone can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from assay.documents import Place
from assay.errors import InputError

Code: TypeAlias = Literal[
    "unreadable",
    "missing-include",
    "repeated-key",
    "missing-key",
    "unknown-key",
    "wrong-value",
    "unknown-test",
    "empty-test",
    "impossible-test",
    "nothing-tested",
]


@dataclass(frozen=True)
class Problem:
    """One mistake: its code, what it is, where it stands, what to do."""

    code: Code
    message: str
    place: Place
    advice: str = ""

    def describe(self) -> dict[str, Any]:
        """Return the problem as JSON."""
        return {
            "code": self.code,
            "message": self.message,
            "file": str(self.place.file),
            "line": self.place.line,
            "advice": self.advice,
        }

    def error(self) -> InputError:
        """The same as an error, for those who cannot go on."""
        return InputError(self.message, where=str(self.place), advice=self.advice or None)


@dataclass(frozen=True)
class Note:
    """Something that is no mistake and yet may not be what was meant."""

    message: str
    place: Place
    advice: str


class FileProblems(Exception):  # noqa: N818 - it carries problems to who reports them
    """A file that cannot be read as a document at all."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0].message)
        self.problems = list(problems)


def unreadable(what: str, place: Place, advice: str = "") -> Problem:
    """The problem of a file that is no document."""
    return Problem("unreadable", what, place, advice)
