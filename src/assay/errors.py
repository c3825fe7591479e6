"""Exceptions raised by Assay; each message says what happened, where, and what to do next.

    AssayError
    ├── InputError            invalid input: a file, an option, a case (exit 2)
    ├── InfrastructureError   the machine or a service failed, not the subject under test (exit 3)
    ├── BudgetExceeded        the budget is used up: the run stops and can be resumed (exit 3)
    └── Unverifiable          a check cannot decide; the case is unverified, not failed

Any other exception is a bug in Assay and is reported as one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AssayError(Exception):
    """Base class of the exceptions raised by Assay."""

    def __init__(self, what: str, *, where: str | None = None, advice: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f"\n  {self.advice}" if self.advice else ""
        return f"{place}{self.what}{advice}"

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process boundaries; keyword-only arguments need this to survive pickling.
        return (_rebuild, (type(self), self.what, self.where, self.advice))


class InputError(AssayError):
    """The user's input is invalid; trying again will not help."""


class InfrastructureError(AssayError):
    """The disk, a process, the network or a service failed; trying again may help."""


class BudgetExceeded(AssayError):  # noqa: N818 - the name says what is the case
    """A model has used up the user's budget; the run stops, and no case is charged for it."""


class Unverifiable(AssayError):  # noqa: N818 - the name says what is the case, not that Assay failed
    """A check cannot decide (no judge is configured, for example): neither right nor wrong."""


def _rebuild(
    kind: type[AssayError], what: str, where: str | None, advice: str | None
) -> AssayError:
    return kind(what, where=where, advice=advice)


def nearest(word: str, valid: Iterable[str]) -> str:
    """Return advice for an invalid word: the nearest valid one, or all of them."""
    words = sorted(set(valid))
    close = difflib.get_close_matches(word, words, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    if not words:
        return "there are none"
    shown = ", ".join(words[:20])
    return f"valid: {shown}" + (f" and {len(words) - 20} more" if len(words) > 20 else "")
