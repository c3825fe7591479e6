"""Question reports: `quality_report.json`, Markdown and SARIF."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.documents import Place, replace_file
from assay.escaping import escape_hidden
from assay.findings import Finding, Rule, Severity, sarif_text, to_sarif
from assay.model import Outcome
from assay.questions.authorship import Source
from assay.reports import cell, code_block, code_span, count, html_code, one_line
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
        yield "\n| option | | finding | grounds | why |\n|---|---|---|---|---|\n"
        for letter, option in options.items():
            key = "key" if letter == detail["key"] else ""
            text, why = one_line(option["text"]), one_line(option["reason"])
            source = one_line(str(Source.of_values(option)))
            yield (
                f"| {cell(f'{letter}: {text}')} | {key} | {option['state']} | "
                f"{cell(source) if source else ''} | {cell(why)} |\n"
            )
        if detail["verdict"] != "Valid":
            for option in options.values():
                yield from _proof_parts(option["proofs"])
    for name, found in detail.get("names", {}).items():
        yield f"\n- {code_span(one_line(name))}: {found['truth']}\n"
    if advice := detail.get("advice"):
        yield f"\nTo settle it: {code_span(one_line(advice))}\n"
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
        source = one_line(str(Source.of_values(proof)))
        tests = ", ".join(f"{test['name']} {test['status']}" for test in proof["tests"])
        yield (
            f"\n<details><summary>{proof['file']}: {proof['truth']} "
            f"{html_code(source) if source else ''}</summary>\n\n"
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
            advice=_sarif_advice(packed["detail"]),
            severity="error" if run.fails(row.outcome) else "note",
            identity=packed["id"],
            properties=_properties(packed["detail"]),
        )


def _sarif_advice(detail: dict[str, Any]) -> str:
    return f"to settle it: {detail['advice']}" if "advice" in detail else ""


def _properties(detail: dict[str, Any]) -> dict[str, Any]:
    """Return the grounds and the author of a verdict and of its options; drift has none."""
    named = ("grounds", "author")
    found: dict[str, Any] = {name: detail[name] for name in named if name in detail}
    if found and (options := detail.get("options")):
        found["options"] = {
            letter: {name: option[name] for name in ("state", *named)}
            for letter, option in options.items()
        }
    return found


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
