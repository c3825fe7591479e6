"""One question as a person reads it: its text, every option with its finding, and the proofs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from assay.reports.plain import Paint
from assay.results import CaseRecord
from assay.visible import visible

_WIDTH = 96
_STATES = {"HOLDS": "passed", "FAILS": "failed", "CONTRADICTED": "error", "UNPROVEN": "unverified"}


def question_lines(record: CaseRecord, paint: Paint, *, proofs: bool = True) -> Iterator[str]:
    """The lines for a terminal; everything from the suite is made visible first."""
    detail: Any = record.detail
    yield paint(visible(record.id), "bold")
    yield paint(detail["place"], "dim")
    yield ""
    yield from _wrapped(detail["question"])
    if detail.get("snippet"):
        yield ""
        yield from _indented(detail["snippet"], "    │ ")
    yield ""
    for letter, option in detail.get("options", {}).items():
        yield from _option_lines(letter, option, letter == detail["key"], paint, proofs)
    for name, found in detail.get("names", {}).items():
        yield f"{visible(name)}: {found['truth']}"
    for side in ("fixed", "unfixed"):
        for test in detail.get(side, ()):
            yield f"{side}: {visible(test['name'])} {test['status']}"
    for note in detail.get("notes", ()):
        yield paint(f"note: {visible(note)}", "dim")
    yield paint(visible(record.reason), record.outcome.value)


def _option_lines(
    letter: str, option: dict[str, Any], is_key: bool, paint: Paint, proofs: bool
) -> Iterator[str]:
    key = paint("  ← the key", "bold") if is_key else ""
    lines = [*_wrapped(option["text"], _WIDTH - 6)] or [""]
    yield f"{paint(letter, 'bold')}  {lines[0]}{key}"
    yield from (f"   {line}" for line in lines[1:])
    reason = f": {visible(option['reason'])}" if option["reason"] else ""
    grounds = " (documented)" if option["grounds"] == "documented" else ""
    first, *more = [*_wrapped(f"{option['state']}{grounds}{reason}", _WIDTH - 6)]
    state = option["state"]
    yield f"   {paint(state, _STATES[state])}{first.removeprefix(state)}"
    yield from (f"   {line}" for line in more)
    for note in option["notes"]:
        yield paint(f"   note: {visible(note)}", "dim")
    if proofs:
        for proof in option["proofs"]:
            yield from _proof_lines(proof, paint)
    yield ""


def _proof_lines(proof: dict[str, Any], paint: Paint) -> Iterator[str]:
    yield paint(
        f"   {proof['file']} ({proof['kind']}, {proof['relation']}): {proof['truth']}", "dim"
    )
    yield from _indented(proof["source"], "   │ ")
    for test in proof["tests"]:
        yield f"   {visible(test['name'])} {paint(test['status'], _style(test['status']))}"
        if test["message"]:
            yield from _indented(test["message"], "     ")
        if test["output"]:
            yield from _indented(test["output"], "     > ")
        if test["objection"]:
            yield f"     not evidence: {visible(test['objection'])}"


def _style(status: str) -> str:
    return {"passed": "passed", "failed": "failed"}.get(status, "unverified")


def _wrapped(text: str, width: int = _WIDTH) -> Iterator[str]:
    for line in visible(text).splitlines():
        yield from textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [
            ""
        ]


def _indented(text: str, mark: str) -> Iterator[str]:
    for line in visible(text).rstrip().splitlines():
        yield f"{mark}{line}".rstrip()
