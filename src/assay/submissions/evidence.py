"""The evidence of a case of a submission as blocks: what was run, on what, and what came back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from assay.model import AttributeResult, CaseRecord, Outcome, VerifierReport, to_json
from assay.reports import (
    Block,
    Cell,
    Code,
    Facts,
    Fold,
    Table,
    count,
    describe_rest,
    describe_value,
    describe_wrong,
    draw_outcomes,
    seconds,
)
from assay.runs import Run

# What the case and the adapter say of a run, which is shown in a place of its own.
_ABOUT = frozenset(
    {"id", "group", "group_type", "type", "elapsed", "command", "method", "resource_path",
     "stderr", "timed_out", "retries"}
)  # fmt: skip
_NOTHING: tuple[Any, ...] = (None, "", 0, False, [], {})
_LANGUAGES = {"json": "json", "jsonl": "json", "yaml": "yaml", "toml": "toml", "sql": "sql"}


def describe_case(run: Run, record: CaseRecord) -> Iterator[Block]:
    """Yield how the submission was called, what is not as expected, and what is."""
    if not record.reports:
        # The reason says why there are no cases.
        return
    report = record.reports[0]
    yield from _describe_call(report)
    if report.error:
        yield Code(report.error, caption="why nothing could be verified", tone="error")
    yield from describe_wrong(report)
    yield from _describe_stderr(report)
    yield from describe_rest(report, _ABOUT)


def describe_run(run: Run) -> Iterator[Block]:
    """Yield the groups of the checkpoints, with how many of their cases passed."""
    groups: dict[tuple[str, str], Counter[str]] = {}
    for _, packed in run.all_packed():
        home = packed["detail"]
        name = f"{home['checkpoint']}/{home['group'] or '(set-up)'}"
        counts = groups.setdefault((name, str(home["type"])), Counter())
        counts[packed["outcome"]] += 1
    if len(groups) < 2:
        return
    rows = [_overview_row(*key, counts) for key, counts in groups.items()]
    yield Table(("group", "kind", "passed"), rows, has_labels=True)


def _overview_row(name: str, kind: str, counts: Counter[str]) -> list[Cell | str]:
    told = f"{counts['passed']:,} of {count(counts.total(), 'case')}"
    ordered = {one.value: counts[one.value] for one in Outcome}
    bar = draw_outcomes(ordered, title=", ".join(f"{n:,} {one}" for one, n in ordered.items() if n))
    return [name, kind, Cell(told, chart=bar)]


def _describe_call(report: VerifierReport) -> Iterator[Block]:
    results, case = report.results, report.case
    yield Facts(list(_list_facts(results, case)))
    if command := _actual(results, "command"):
        yield Code(str(command), caption="command")
    if method := _actual(results, "method") or case.get("method"):
        yield from _describe_request(str(method), _actual(results, "resource_path"), case)
    if stdin := case.get("stdin"):
        yield Code(_as_text(stdin), caption="standard input")
    for file in _list_files(case):
        yield _describe_file(file)


def _list_facts(
    results: Mapping[str, AttributeResult], case: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    if checkpoint := case.get("checkpoint"):
        yield "checkpoint", str(checkpoint)
    if (kind := case.get("group_type")) is not None:
        yield "kind of group", str(kind)
    if isinstance(elapsed := _actual(results, "elapsed"), int | float):
        yield "the program took", seconds(max(float(elapsed), 0.0))
    if _actual(results, "timed_out"):
        yield "ended", "by its time limit"
    if retries := _actual(results, "retries"):
        yield "retries", str(retries)


def _actual(results: Mapping[str, AttributeResult], name: str) -> Any:
    found = results.get(name)
    return found.actual if found is not None else None


def _describe_request(method: str, address: Any, case: Mapping[str, Any]) -> Iterator[Block]:
    path = str(address or case.get("path") or "")
    lines = [f"{method} {path}", *(f"{k}: {v}" for k, v in (case.get("headers") or {}).items())]
    yield Code("\n".join(lines), "http", "request")
    if (body := case.get("body")) not in _NOTHING:
        yield Code(_write(body), "json" if isinstance(body, dict | list) else "", "its body")


def _list_files(case: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    files = case.get("input_files")
    return [one for one in files if isinstance(one, dict)] if isinstance(files, list) else []


def _describe_file(file: Mapping[str, Any]) -> Fold:
    content, kind = file.get("content"), str(file.get("file_type") or "")
    block = describe_value(content)
    if isinstance(content, str):
        block = Code(content, _LANGUAGES.get(kind, ""))
    packed = file.get("compression")
    note = " ".join(filter(None, [kind, f"({packed})" if packed not in (None, "none") else ""]))
    return Fold(str(file.get("path") or "a file"), [block], note=f"input file, {note}".rstrip(", "))


def _describe_stderr(report: VerifierReport) -> Iterator[Block]:
    """Yield standard error where it is not judged: after a failure it may explain it."""
    found = report.results.get("stderr")
    if found is None or found.is_correct is False or not found.actual:
        return
    block = Code(_as_text(found.actual), "pytb" if "Traceback" in str(found.actual) else "")
    yield Fold("standard error", [block], is_open=not report.did_pass())


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else _write(value)


def _write(value: Any) -> str:
    return json.dumps(to_json(value), ensure_ascii=False, indent=2)
