"""Question reports: `quality_report.json`, Markdown, SARIF, and one question as text."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.documents import Place, replace_file
from assay.escaping import escape_hidden
from assay.findings import Finding, Rule, Severity, sarif_text, to_sarif
from assay.model import CaseRecord, Outcome
from assay.reports import Paint, cell, code_block, code_span, count, one_line
from assay.runs import Row, Run

VERSION = 1
# The reading order for a maintainer: urgent repairs first.
VERDICTS = (
    "Incorrect", "Ambiguous", "Broken", "Leaked", "Trivial", "Unsolved", "Unproven", "Valid",
    "Error",
)  # fmt: skip

_encode = json.JSONEncoder(allow_nan=False, check_circular=False).encode


def render_json(run: Run) -> Iterator[str]:
    """Yield one versioned object, a line per question; docs/questions.md describes it."""
    head = {
        "version": VERSION,
        "suite": run.manifest.title,
        "finished": run.manifest.finished is not None,
        "targets": run.manifest.asked.get("described", []),
        "verdicts": dict(_counts(run)),
    }
    yield _encode(head)[:-1] + ', "questions": ['
    separator = "\n"
    for row in run.rows():
        yield separator + _encode(_question(run, row))
        separator = ",\n"
    yield "\n]}\n"


def _question(run: Run, row: Row) -> dict[str, Any]:
    packed = run.read_packed(row)
    detail = packed["detail"] or {}
    return {
        "id": packed["id"],
        "verdict": verdict_of(packed),
        "known": run.is_known(row),
        "reason": packed["reason"],
        **{name: value for name, value in detail.items() if name not in ("version", "verdict")},
    }


def verdict_of(packed: dict[str, Any]) -> str:
    """Return the verdict of a record, or Error for one that has none."""
    detail = packed["detail"]
    return str(detail["verdict"]) if isinstance(detail, dict) else "Error"


def _counts(run: Run) -> Counter[str]:
    found = Counter(verdict_of(run.read_packed(row)) for row in run.rows())
    return Counter({verdict: found[verdict] for verdict in VERDICTS if found[verdict]})


def render_markdown(run: Run) -> Iterator[str]:
    """Yield the questions by verdict, each with its options and their proofs."""
    counts = _counts(run)
    yield f"# Quality of {code_span(one_line(run.manifest.title))}\n\n"
    yield "| verdict | questions |\n|---|---:|\n"
    for verdict, number in counts.items():
        yield f"| {verdict} | {number:,} |\n"
    for verdict in counts:
        yield f"\n## {verdict}\n"
        for row in run.rows():
            packed = run.read_packed(row)
            if verdict_of(packed) == verdict:
                yield from _question_parts(packed, known=run.is_known(row))


def _question_parts(packed: dict[str, Any], *, known: bool) -> Iterator[str]:
    detail = packed["detail"] or {}
    accepted = " (accepted by the baseline)" if known else ""
    yield f"\n### {code_span(one_line(packed['id']))}{accepted}\n\n"
    yield code_block(escape_hidden(packed["reason"]))
    if "question" in detail:
        yield "\n" + code_block(escape_hidden(detail["question"]))
    if options := detail.get("options"):
        yield "\n| option | | finding | why |\n|---|---|---|---|\n"
        for letter, option in options.items():
            key = "key" if letter == detail["key"] else ""
            text, why = one_line(option["text"]), one_line(option["reason"])
            grounds = " (documented)" if option["grounds"] == "documented" else ""
            state = f"{option['state']}{grounds}"
            yield f"| {cell(f'{letter}: {text}')} | {key} | {state} | {cell(why)} |\n"
        if detail["verdict"] != "Valid":
            for option in options.values():
                yield from _proof_parts(option["proofs"])
    for name, found in detail.get("names", {}).items():
        yield f"\n- {code_span(one_line(name))}: {found['truth']}\n"
    if notes := detail.get("notes"):
        yield "\n" + "".join(f"- {code_span(one_line(note))}\n" for note in notes)
    if fix := detail.get("fix"):
        yield from _fix_parts(fix)


def _fix_parts(fix: dict[str, Any]) -> Iterator[str]:
    kept = f" ({fix['kept']})" if fix.get("kept") else ""
    yield f"\n**{fix['status']}**{kept}\n"
    for number, one in enumerate(fix["tries"], 1):
        definition = json.dumps(one["definition"], indent=2, ensure_ascii=False)
        yield (
            f"\n<details><summary>try {number}: {one['verdict']}</summary>\n\n"
            f"{code_block(escape_hidden(definition), 'json')}\n"
            f"{code_block(escape_hidden(one['reason']))}\n</details>\n"
        )
    for note in fix["notes"]:
        yield f"\n- {code_span(one_line(note))}\n"


def _proof_parts(proofs: list[dict[str, Any]]) -> Iterator[str]:
    for proof in proofs:
        tests = ", ".join(f"{test['name']} {test['status']}" for test in proof["tests"])
        yield (
            f"\n<details><summary>{proof['file']}: {proof['truth']}</summary>\n\n"
            f"{code_block(escape_hidden(proof['source'].rstrip()), 'python')}\n"
            f"{code_span(one_line(tests or proof['reason'] or 'not run'))}\n\n</details>\n"
        )


def write_quality_report(run: Run) -> Path:
    """Write the report beside the journal, as JSON and Markdown; return the JSON path."""
    path = run.path / "quality_report.json"
    for file, render in ((path, render_json), (path.with_suffix(".md"), render_markdown)):
        replace_file(file, (piece.encode() for piece in render(run)))
    return path


def render_sarif(run: Run) -> Iterator[str]:
    """Yield the findings as SARIF, on the lines of the suite."""
    rules = [
        Rule[Any](verdict.lower(), _LEVELS.get(verdict, "error"), title, title)
        for verdict, title in _HELP.items()
    ]
    yield sarif_text(to_sarif(_sarif_findings(run), rules, root=Path.cwd()))


def _sarif_findings(run: Run) -> Iterator[Finding]:
    for row in run.rows(Outcome.FAILED, Outcome.UNVERIFIED):
        packed = run.read_packed(row)
        if run.is_known(row) or not packed["detail"]:
            continue
        verdict = verdict_of(packed)
        file, _, line = str(packed["detail"]["place"]).rpartition(":")
        yield Finding(
            code=verdict.lower(),
            message=packed["reason"],
            place=Place(Path(file), int(line)),
            severity="error" if run.fails(row.outcome) else "note",
            identity=packed["id"],
        )


_LEVELS: dict[str, Severity] = {"Unproven": "note", "Unsolved": "note"}
_HELP = {
    "Incorrect": "Execution refutes the key: correct the key or the option.",
    "Ambiguous": "More than one option holds: harden the others or say more in the question.",
    "Broken": "The repaired file does not pass, or the broken one never reaches the test.",
    "Leaked": "The text contains the repair: remove it.",
    "Trivial": "The unrepaired file passes already: make the test fail on it.",
    "Unsolved": "A model did not find the repair: see whether the description says enough.",
    "Flipped": "A finding differs between releases: name the version in the question.",
    "Unproven": "Execution does not decide the question: prove the open options by hand.",
}


def summary_lines(run: Run) -> list[str]:
    """Return the verdicts counted, for a terminal."""
    counts = _counts(run)
    total = count(sum(counts.values()), "question")
    parts = [f"{number:,} {verdict}" for verdict, number in counts.items()]
    return [f"{total}: {', '.join(parts)}"] if parts else []


_WIDTH = 96
_STATES = {"HOLDS": "passed", "FAILS": "failed", "CONTRADICTED": "error", "UNPROVEN": "unverified"}


def question_lines(record: CaseRecord, paint: Paint, *, proofs: bool = True) -> Iterator[str]:
    """Yield the lines for a terminal; everything from the suite is made visible first."""
    detail: Any = record.detail
    yield paint(escape_hidden(record.id), "bold")
    yield paint(detail["place"], "dim")
    yield ""
    yield from _wrap(detail["question"])
    if detail.get("snippet"):
        yield ""
        yield from _indent(detail["snippet"], "    │ ")
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
    lines = [*_wrap(option["text"], _WIDTH - 6)] or [""]
    yield f"{paint(letter, 'bold')}  {lines[0]}{key}"
    yield from (f"   {line}" for line in lines[1:])
    reason = f": {escape_hidden(option['reason'])}" if option["reason"] else ""
    grounds = " (documented)" if option["grounds"] == "documented" else ""
    first, *more = [*_wrap(f"{option['state']}{grounds}{reason}", _WIDTH - 6)]
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
    yield from _indent(proof["source"], "   │ ")
    for test in proof["tests"]:
        yield f"   {escape_hidden(test['name'])} {paint(test['status'], _style(test['status']))}"
        if test["message"]:
            yield from _indent(test["message"], "     ")
        if test["output"]:
            yield from _indent(test["output"], "     > ")
        if test["objection"]:
            yield f"     not evidence: {escape_hidden(test['objection'])}"


def _style(status: str) -> str:
    return {"passed": "passed", "failed": "failed"}.get(status, "unverified")


def _wrap(text: str, width: int = _WIDTH) -> Iterator[str]:
    for line in escape_hidden(text).splitlines():
        yield from textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [
            ""
        ]


def _indent(text: str, mark: str) -> Iterator[str]:
    for line in escape_hidden(text).rstrip().splitlines():
        yield f"{mark}{line}".rstrip()
