"""Where a comparison is made: here if it is certain to be quick, else in a process with limits.

That process costs a comparison a fraction of a millisecond. If one exceeds its limits nobody knows
whether the result is right: it stays undecided, so that its case has not passed, and goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.checks import ABSENT, get_check
from assay.model import CaseResult, VerificationResult
from assay.submissions.declarative.comparisons import Comparison
from assay.submissions.declarative.targets import Target
from assay.submissions.declarative.wanted import Wanted
from assay.submissions.file_formats import Compression, FileType, signature
from assay.submissions.untrusted_reader import Readers, TooMuchError

# Quick on whatever they are given, as long as it is small.
_QUICK_TYPES = frozenset(
    {FileType.TEXT, FileType.BINARY, FileType.JSON, FileType.JSONL, FileType.CSV, FileType.TSV}
)
_SLOW_CHECKS = frozenset({"regex", "file_pattern", "schema"})
_LARGE_TEXT = 1 << 20
_MANY_PARTS = 20_000


async def judged(one: Comparison, actual: CaseResult, readers: Readers) -> VerificationResult:
    """What a comparison says; undecided if it takes too much."""
    if not is_slow(one, actual):
        return one.result(actual)
    comparison = {**vars(one), "target": _packed(one.target), "options": dict(one.options)}
    try:
        packed = await readers.ask(
            "compare", comparison=comparison, actual=_narrowed(one.target, actual)
        )
    except TooMuchError as error:
        diff = f"the check `{one.check}` of `{one.key}` {error}"
        return VerificationResult(diff=diff, is_correct=None, weight=one.weight)
    return VerificationResult(**packed[""])


async def found(target: Target, actual: CaseResult, readers: Readers) -> Any:
    """What stands at a place of a result; ABSENT if that is nothing, or cannot be read."""
    if not _is_slow_to_read(target, actual):
        there = target.found(actual)
    else:
        about = {"target": _packed(target), "actual": _narrowed(target, actual)}
        try:
            there = await readers.ask("find", **about)
        except TooMuchError:
            there = []
    return there[0] if there else ABSENT


def may_be_slow(one: Wanted) -> bool:
    """Whether a comparison can be one that is made elsewhere, whatever the result."""
    return one.check in _SLOW_CHECKS or not _has_quick_type(one.target)


def is_slow(one: Comparison, actual: CaseResult) -> bool:
    """Whether nobody can say how long a comparison takes."""
    if one.impossible or one.target.content(actual) is ABSENT or _is_registered_here(one.check):
        return False
    has_free_pairs = bool(one.options.get("unordered"))
    return one.check in _SLOW_CHECKS or has_free_pairs or _is_slow_to_read(one.target, actual)


def _is_registered_here(check: str) -> bool:
    """A check of the user's own is not known elsewhere."""
    return not get_check(check).__module__.startswith("assay.checks.")


def _is_slow_to_read(target: Target, actual: CaseResult) -> bool:
    content = target.content(actual)
    return content is not ABSENT and (not _has_quick_type(target) or _is_large(content))


def _has_quick_type(target: Target) -> bool:
    if target.file is None:
        return True
    kind, packing = signature(Path(target.file))
    return kind in _QUICK_TYPES and packing is Compression.NONE


def _is_large(value: Any) -> bool:
    """Whether it is a long text, or has more parts than can be looked at in no time."""
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


def _packed(target: Target) -> list[Any]:
    return [target.root, *target.steps]


def _narrowed(target: Target, actual: CaseResult) -> dict[str, Any]:
    """As much of a result as a target looks at."""
    content = target.content(actual)
    looked_at = {target.file: content} if target.file is not None else content
    return {"id": actual.id, "group": actual.group, target.root: looked_at}
