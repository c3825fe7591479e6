"""Reads single keys of an object of a test file: what they must be, and where they are not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from assay.agents.files.source import Source
from assay.documents import KeyPath
from assay.errors import nearest
from assay.findings import Finding

Value = TypeVar("Value")
_TRUTHS = {"true": True, "false": False}


class Wrong(Exception):  # noqa: N818 - said by a reader of values to the one who knows the place
    """A value that is not what its key needs; and what to write instead.

    Where `what` has `{}`, the value stands once somebody has shown it who knows what is secret.
    """

    def __init__(self, what: str, value: Any = None, advice: str = "") -> None:
        super().__init__(what)
        self.what, self.value, self.advice = what, value, advice


_ADVISED = 100


@dataclass
class Fields:
    """The keys of one object, read one by one; problems go to the list that is shared."""

    source: Source
    at: KeyPath
    given: dict[str, Any]
    problems: list[Finding]

    def take(self, key: str, read: Callable[[Any], Value], default: Value) -> Value:
        """The value of a key as `read` makes it; the default where it is absent or wrong."""
        if key not in self.given:
            return default
        try:
            return read(self.given[key])
        except Wrong as wrong:
            what = wrong.what.replace("{}", self.source.shown(wrong.value))
            self.refuse("wrong-value", f"`{key}` {what}", key, wrong.advice)
            return default

    def refuse(self, code: str, message: str, key: str, advice: str = "") -> None:
        place = self.source.place((*self.at, key) if key else self.at)
        self.problems.append(Finding(code, message, place, advice))

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """A problem for every key that nobody would look at."""
        known = set(known)
        unknown = [key for key in self.given if key not in known]
        for number, key in enumerate(unknown):
            # Looking for the nearest word takes a while, and nobody reads it thousands of times.
            advice = nearest(key, known) if number < _ADVISED else ""
            self.refuse("unknown-key", f"there is no key `{key}`", key, advice)


def text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Wrong("must be text, not {}", value)
    return value


def text_or_nothing(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise Wrong("must be text, not {}", value, "put it in quotes")
    return value


def mapping_or_nothing(value: Any) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise Wrong("must be an object, not {}", value)
    return value


def seconds(value: Any) -> float | None:
    """A time limit; as text too, because that is what the environment gives."""
    if value is None:
        return None
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not 0 < found < math.inf:
        raise Wrong("must be a number of seconds above 0, not {}", value)
    return found


def truth(value: Any) -> bool:
    found = _TRUTHS.get(value) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise Wrong("must be true or false, not {}", value)
    return found


def texts(value: Any) -> tuple[str, ...]:
    """One text or a list of texts, none of them empty."""
    several = value if isinstance(value, list) else [value]
    for one in several:
        if not isinstance(one, str) or not one.strip():
            raise Wrong("must be text or a list of texts; {} is neither", one)
    return tuple(several)


def one_of(words: tuple[Value, ...]) -> Callable[[Any], Value]:
    """A reader of exactly these words."""

    def read(value: Any) -> Value:
        for word in words:
            if value == word:
                return word
        raise Wrong("cannot be {}", value, nearest(str(value), map(str, words)))

    return read
