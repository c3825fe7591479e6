"""One test of an agent as text for a terminal, with its conversations; also for pytest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from assay.escaping import escape_hidden
from assay.model import AttributeResult, CaseRecord, Outcome, VerifierReport
from assay.reports import Paint, one_line, seconds
from assay.runs import Run

_MOST_LINES = 200
_STYLES = {True: "passed", False: "failed", None: "unverified"}
_WORDS = {True: "passed", False: "failed", None: "undecided"}


def show_test(run: Run, record: CaseRecord, paint: Paint) -> Iterator[str]:
    """Yield the verdict, then every sample with its conversation."""
    yield f"{paint(record.outcome.value.upper(), record.outcome.value)} {one_line(record.id)}"
    yield from (f"  {line}" for line in escape_hidden(record.reason).splitlines())
    conversations = dict(run.conversations(run.row(record.id)))
    for place, report in enumerate(record.reports):
        number = report.case.get("sample", place + 1)
        yield ""
        word = paint(report.outcome.value, report.outcome.value)
        yield f"sample {number}: {word}, {seconds(max(report.duration, 0.0))}"
        conversation = conversations.get(number) if isinstance(number, int) else None
        if conversation is None:
            yield from (f"  {line}" for line in _result_lines(report.results, paint))
        else:
            lines = conversation_lines(conversation, report, paint)
            yield from (f"  {line}" for line in lines)
    if record.reports and not conversations:
        yield ""
        yield paint("no conversation of this test was kept", "dim")


def conversation_lines(
    value: Mapping[str, Any], report: VerifierReport, paint: Paint
) -> Iterator[str]:
    """Yield both sides of a conversation, each answer with the checks that looked at it."""
    *before, last = value["attempts"]
    for number, attempt in enumerate(before, 1):
        yield paint(f"attempt {number}: {one_line(str(attempt['reason']))}", "error")
    known: set[str] = set()
    for turn in last["turns"]:
        yield from _speech_lines("user", turn["sent"]["text"], "", paint)
        if turn["answer"] is not None:
            speaker = turn["origin"] or "agent"
            yield from _speech_lines(speaker, turn["answer"]["text"], _measures(turn), paint)
            if (structure := turn["answer"]["structure"]) is not None:
                written = json.dumps(structure, ensure_ascii=False)
                yield from _speech_lines("structure", written, "", paint)
        known.update(turn["checks"])
        results = {name: report.results[name] for name in turn["checks"] if name in report.results}
        yield from (f"  {line}" for line in _result_lines(results, paint))
        yield from (f"  {line}" for one in turn["judged"] for line in _ruling_lines(one, paint))
    if last["reason"]:
        style = "error" if report.outcome is Outcome.ERROR else "failed"
        yield paint(f"no answer: {one_line(str(last['reason']))}", style)
    rest = {name: one for name, one in report.results.items() if name not in known}
    yield from _result_lines(rest, paint)


def _measures(turn: Mapping[str, Any]) -> str:
    parts = [seconds(turn["seconds"])]
    if turn["first_byte"] is not None:
        parts.append(f"first byte after {seconds(turn['first_byte'])}")
    if tokens := turn["tokens"]:
        parts.append(f"{tokens.get('input', 0):,} tokens in, {tokens.get('output', 0):,} out")
    return ", ".join(parts)


def _speech_lines(speaker: str, text: str | None, about: str, paint: Paint) -> Iterator[str]:
    note = paint(f" ({about})", "dim") if about else ""
    lines = escape_hidden(text if text is not None else "(no text)").split("\n")
    head = f"{paint(one_line(speaker), 'bold')}{note}: "
    yield f"{head}{lines[0]}"
    yield from (f"  {line}" for line in lines[1:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield paint(f"  … {len(lines) - _MOST_LINES:,} more lines", "dim")


def _result_lines(results: Mapping[str, AttributeResult], paint: Paint) -> Iterator[str]:
    for name, result in results.items():
        is_correct = result.is_correct
        word = paint(_WORDS[is_correct], _STYLES[is_correct])
        yield f"{word} {one_line(name)}: {one_line(str(result.expected))}"
        if not is_correct and result.diff:
            yield from (f"  {line}" for line in escape_hidden(str(result.diff)).splitlines()[:20])


def _ruling_lines(ruling: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    for vote in ruling["votes"]:
        word = "holds" if vote["holds"] else "does not hold"
        yield paint(
            f"a vote on {one_line(ruling['check'])}: {word}: {one_line(vote['reason'])}", "dim"
        )
