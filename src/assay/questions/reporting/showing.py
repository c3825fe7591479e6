"""One question as a person reads it: its text, every option with its finding, and the proofs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from assay.escaping import escape_hidden
from assay.model import CaseRecord
from assay.reports.plain import Paint

_WIDTH = 96
_STATES = {"HOLDS": "passed", "FAILS": "failed", "CONTRADICTED": "error", "UNPROVEN": "unverified"}


def question_lines(record: CaseRecord, paint: Paint, *, proofs: bool = True) -> Iterator[str]:
    """The lines for a terminal; everything from the suite is made visible first."""
    detail: Any = record.detail
    yield paint(escape_hidden(record.id), "bold")
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
        yield f"{escape_hidden(name)}: {found['truth']}"
    for side in ("fixed", "unfixed"):
        for test in detail.get(side, ()):
            yield f"{side}: {escape_hidden(test['name'])} {test['status']}"
    for note in detail.get("notes", ()):
        yield paint(f"note: {escape_hidden(note)}", "dim")
    yield paint(escape_hidden(record.reason), record.outcome.value)


def _option_lines(
    letter: str, option: dict[str, Any], is_key: bool, paint: Paint, proofs: bool
) -> Iterator[str]:
    key = paint("  ← the key", "bold") if is_key else ""
    lines = [*_wrapped(option["text"], _WIDTH - 6)] or [""]
    yield f"{paint(letter, 'bold')}  {lines[0]}{key}"
    yield from (f"   {line}" for line in lines[1:])
    reason = f": {escape_hidden(option['reason'])}" if option["reason"] else ""
    grounds = " (documented)" if option["grounds"] == "documented" else ""
    first, *more = [*_wrapped(f"{option['state']}{grounds}{reason}", _WIDTH - 6)]
    state = option["state"]
    yield f"   {paint(state, _STATES[state])}{first.removeprefix(state)}"
    yield from (f"   {line}" for line in more)
    for note in option["notes"]:
        yield paint(f"   note: {escape_hidden(note)}", "dim")
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
        yield f"   {escape_hidden(test['name'])} {paint(test['status'], _style(test['status']))}"
        if test["message"]:
            yield from _indented(test["message"], "     ")
        if test["output"]:
            yield from _indented(test["output"], "     > ")
        if test["objection"]:
            yield f"     not evidence: {escape_hidden(test['objection'])}"


def _style(status: str) -> str:
    return {"passed": "passed", "failed": "failed"}.get(status, "unverified")


def _wrapped(text: str, width: int = _WIDTH) -> Iterator[str]:
    for line in escape_hidden(text).splitlines():
        yield from textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [
            ""
        ]


def _indented(text: str, mark: str) -> Iterator[str]:
    for line in escape_hidden(text).rstrip().splitlines():
        yield f"{mark}{line}".rstrip()
