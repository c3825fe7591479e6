"""Turns the expectations of a case into checks: named ones, or defaults for plain values.

The defaults: structures and numbers are compared as JSON (a float may differ by rounding), text
without white space at the ends of lines, files by the type their name implies. A check runs in this
process if it is certain to be fast, otherwise in a process with limits; a check that exceeds them
is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.checks import ABSENT, check_options, check_traits, get_check, run_check
from assay.errors import InputError, nearest
from assay.model import CaseResult, VerificationResult
from assay.submissions.declarative.expectations import (
    Expectation,
    ResultPath,
    UnreadableError,
    find_saved_names,
)
from assay.submissions.file_formats import (
    Compression,
    FileType,
    parse_content,
    signature,
    write_content,
)
from assay.submissions.untrusted_reader import Readers, TooMuchError
from assay.tracebacks import describe

_ROUNDING = 1e-9
_PLAIN_TYPES = (FileType.TEXT, FileType.BINARY, FileType.JSON)


@dataclass(frozen=True)
class ResultCheck:
    """One check on one place in a result."""

    key: str
    """Its name in the report."""
    target: ResultPath
    check: str
    value: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    manner: str = ""
    """How a bare value is compared, in words."""
    path: str = ""
    """Where it is written, for findings."""
    is_filled: bool = False
    """Whether something of it comes from an earlier answer."""
    impossible: str = ""
    """Why nothing can be equal to it, if an earlier answer made it so."""

    def describe(self) -> list[Any]:
        """Return everything that determines its result, as values."""
        place = [self.target.root, *self.target.steps]
        return [self.key, place, self.check, self.value, dict(self.options), self.weight]

    def validate(self) -> None:
        """InputError if it can never be right: an unknown check, option, pattern, weight."""
        if not any(find_saved_names(self.value)):
            run_check(self.check, ABSENT, self.value, weight=self.weight, **self.options)
            return
        known = check_options(self.check)
        for name in self.options:
            if name not in known:
                what = f"check {self.check!r} has no option {name!r}"
                raise InputError(what, advice=nearest(name, known))

    def result(self, actual: CaseResult) -> VerificationResult:
        """Return what the check says of an actual result."""
        if self.impossible:
            return self._fail(f"cannot be compared: {self.impossible}")
        try:
            return self._compare(actual)
        except InputError as error:
            if not self.is_filled:
                raise
            return self._fail(f"cannot be compared: {error.what}")

    def _fail(self, diff: str) -> VerificationResult:
        return VerificationResult(diff=diff, is_correct=False, weight=self.weight)

    def _compare(self, actual: CaseResult) -> VerificationResult:
        reads = check_traits(self.check).reads
        try:
            found = self.target.of(actual, is_structure=reads == "structure")
        except UnreadableError as error:
            return self._fail(str(error))
        if self.value == [None] and found in ("", b""):
            found = None
        if reads == "text" and isinstance(found, bytes):
            found = _decode(found)
        result = run_check(self.check, found, self.value, weight=self.weight, **self.options)
        return result.model_copy(update={"diff": self._explain(result)}) if self.manner else result

    def _explain(self, result: VerificationResult) -> Any:
        """Return the diff, with the comparison method if the author did not name one."""
        if result.is_correct:
            return f"equal, compared {self.manner}"
        if isinstance(result.diff, str):
            return f"{result.diff}\n(compared {self.manner})"
        return {"compared": self.manner, "differences": result.diff}


def _decode(content: bytes) -> str | bytes:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def plan_check(one: Expectation) -> ResultCheck:
    """Return how an expectation is compared; raise InputError if it is invalid.

    If a saved value makes it invalid, that is not the author's fault: nothing is equal to it.
    """
    if one.impossible:
        return _impossible(one, one.impossible)
    try:
        return _comparison(one)
    except (InputError, ValueError, TypeError) as error:
        if not one.is_filled:
            raise
        return _impossible(one, describe(error))


def _impossible(one: Expectation, why: str) -> ResultCheck:
    return replace(_make(one, one.check or "value", one.value, {}), impossible=why)


def _comparison(one: Expectation) -> ResultCheck:
    if one.check is None:
        return _default(one)
    return _make(one, one.check, _one_value(one, one.check), one.options)


def _make(
    one: Expectation, check: str, value: Any, options: Mapping[str, Any], manner: str = ""
) -> ResultCheck:
    about = (one.key, one.target, check, value, options, one.weight, manner, one.path)
    return ResultCheck(*about, is_filled=one.is_filled)


def _one_value(one: Expectation, check: str) -> Any:
    """Return the value in the form the check takes; a saved value is one value, even if a list."""
    if one.is_answer and check_traits(check).takes_several:
        return [one.value]
    if check == "json" and not isinstance(one.value, str):
        return _as_stored(one.target, one.value)
    return one.value


def _default(one: Expectation) -> ResultCheck:
    """Return the default check for a plain value."""
    value = one.value
    if value is None:
        return _make(one, "value", [None], {}, "with nothing")
    if one.target.root in ("status_code", "timed_out"):
        return _make(one, "value", _one_value(one, "value"), {}, "by value")
    if isinstance(value, str):
        manner = "as text, without white space at the ends of lines"
        return _make(one, "flexible", value, {"whitespace": "lines", "ignore_case": False}, manner)
    stored = _as_stored(one.target, value)
    if _has_float(stored):
        manner = "as JSON, floats except for rounding (1e-9)"
        return _make(one, "json", stored, {"relative": _ROUNDING}, manner)
    return _make(one, "json", stored, {}, "as JSON")


def _as_stored(target: ResultPath, value: Any) -> Any:
    """Return the structure as read back from a file: tables have strings instead of numbers."""
    if target.file is None or len(target.steps) != 1:
        return value
    kind, _ = signature(Path(target.file))
    if kind in _PLAIN_TYPES:
        return value
    return parse_content(write_content(value, kind), kind)


def _has_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_float, value.values()))
    if isinstance(value, list):
        return any(map(_has_float, value))
    return isinstance(value, float)


# Quick on whatever they are given, as long as it is small.
_QUICK_TYPES = frozenset(
    {FileType.TEXT, FileType.BINARY, FileType.JSON, FileType.JSONL, FileType.CSV, FileType.TSV}
)
_LARGE_TEXT = 1 << 20
_MANY_PARTS = 20_000


async def judge(one: ResultCheck, actual: CaseResult, readers: Readers) -> VerificationResult:
    """Return the result of a comparison; undecided if it exceeds its limits."""
    if not is_slow(one, actual):
        return one.result(actual)
    comparison = {**vars(one), "target": _pack(one.target), "options": dict(one.options)}
    try:
        packed = await readers.ask(
            "compare", comparison=comparison, actual=_narrow(one.target, actual)
        )
    except TooMuchError as error:
        diff = f"the check `{one.check}` of `{one.key}` {error}"
        return VerificationResult(diff=diff, is_correct=None, weight=one.weight)
    return VerificationResult(**packed[""])


async def find_value(target: ResultPath, actual: CaseResult, readers: Readers) -> Any:
    """Return the value at a place of a result; ABSENT if there is none or it cannot be read."""
    if not _is_slow_to_read(target, actual):
        there = target.find_in(actual)
    else:
        about = {"target": _pack(target), "actual": _narrow(target, actual)}
        try:
            there = await readers.ask("find", **about)
        except TooMuchError:
            there = []
    return there[0] if there else ABSENT


def may_be_slow(one: Expectation) -> bool:
    """Return whether a comparison may run in another process, depending on the result."""
    if one.check is not None and check_traits(one.check).may_be_slow:
        return True
    return not _has_quick_type(one.target)


def is_slow(one: ResultCheck, actual: CaseResult) -> bool:
    """Return whether a comparison may take long."""
    if one.impossible or one.target.content(actual) is ABSENT or _is_registered_here(one.check):
        return False
    if check_traits(one.check).may_be_slow or one.options.get("unordered"):
        return True
    return _is_slow_to_read(one.target, actual)


def _is_registered_here(check: str) -> bool:
    """Return whether it is a user's own check, which other processes do not know."""
    return not get_check(check).__module__.startswith("assay.checks.")


def _is_slow_to_read(target: ResultPath, actual: CaseResult) -> bool:
    content = target.content(actual)
    return content is not ABSENT and (not _has_quick_type(target) or _is_large(content))


def _has_quick_type(target: ResultPath) -> bool:
    if target.file is None:
        return True
    kind, packing = signature(Path(target.file))
    return kind in _QUICK_TYPES and packing is Compression.NONE


def _is_large(value: Any) -> bool:
    """Return whether it is a long text, or has too many parts to inspect quickly."""
    waiting, seen = [value], 0
    while waiting:
        each = waiting.pop()
        if isinstance(each, str | bytes):
            seen += len(each) * _MANY_PARTS // _LARGE_TEXT
        elif isinstance(each, list | dict):
            seen += len(each)
            waiting += each.values() if isinstance(each, dict) else each
        if seen > _MANY_PARTS:
            return True
    return False


def _pack(target: ResultPath) -> list[Any]:
    return [target.root, *target.steps]


def _narrow(target: ResultPath, actual: CaseResult) -> dict[str, Any]:
    """Return as much of a result as a path looks at."""
    content = target.content(actual)
    looked_at = {target.file: content} if target.file is not None else content
    return {"id": actual.id, "group": actual.group, target.root: looked_at}
