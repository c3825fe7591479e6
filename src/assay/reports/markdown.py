"""Markdown reports: the full document, and a size-limited step summary for GitHub Actions.

Text from cases appears only inside code, where markup, HTML, mentions, issue references and links
have no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import escape
from itertools import islice

from assay.model import Outcome
from assay.reports.evidence import (
    CLUE,
    RIGHT,
    UNDECIDED,
    WRONG,
    Attribute,
    Evidence,
    EvidenceLimits,
    Sample,
    gather,
)
from assay.reports.formats import MOST_APPENDED
from assay.reports.matrix import Matrix, find_matrix
from assay.reports.summary import (
    NOT_PASSED,
    Summary,
    describe_interval,
    describe_retries,
    describe_samples,
    not_passed_rows,
    percent,
    summarize,
)
from assay.reports.text import count, one_line, seconds, show_command
from assay.runs import Run

_BACKTICKS = re.compile("`+")


def code_span(text: str) -> str:
    """Return one line as inline code."""
    if not text.strip():
        return "*(empty)*" if not text else f"`{text}`"
    marks = "`" * (_longest_run(text) + 1)
    # A space on both sides is taken away again, and keeps a backtick or space at the edge.
    pad = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{marks}{pad}{text}{pad}{marks}"


def cell(text: str) -> str:
    """Return one line as inline code in a table, where a bar would end the cell even in code."""
    # A backslash before a bar belongs to the table; before anything else it is itself.
    return code_span(text.replace("|", "\\|"))


def code_block(text: str, language: str = "") -> str:
    """Return lines as a code block that none of them can end."""
    marks = "`" * max(3, _longest_run(text) + 1)
    return f"{marks}{language}\n{text}\n{marks}\n"


def html_code(text: str) -> str:
    """Return one line as code in HTML, for places where Markdown is not read."""
    return f"<code>{escape(text)}</code>"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


LIMITS = EvidenceLimits()


def render(run: Run) -> Iterator[str]:
    """Yield the document piece by piece."""
    summary = summarize(run)
    yield f"# Assay: {code_span(one_line(summary.name))}\n\n"
    yield head(summary)
    if (matrix := find_matrix(run)) is not None:
        yield "".join(_matrix_parts(matrix))
    yield from _retry_parts(run, summary)
    if not summary.not_passed:
        return
    heads = ["case", "outcome", "score", *(["samples"] if summary.has_samples else [])]
    yield f"\n## What did not pass\n\n| {' | '.join(heads)} |\n"
    yield f"|---|---|---:|{'---|' * summary.has_samples}\n"
    for row in not_passed_rows(run):
        known = " (known)" if run.is_known(row) else ""
        cells = [cell(one_line(row.id)), f"{row.outcome.value}{known}", f"{row.score:.3f}"]
        if summary.has_samples:
            cells.append(describe_samples(row.samples))
        yield f"| {' | '.join(cells)} |\n"
    yield "\n## Evidence\n"
    for row in not_passed_rows(run):
        evidence = gather(run.read(row), is_known=run.is_known(row), limits=LIMITS)
        yield f"\n### {code_span(evidence.id)}\n\n{evidence_text(evidence)}"


def _retry_parts(run: Run, summary: Summary) -> Iterator[str]:
    """Yield the cases that needed more than one try, up to a limit."""
    if not (summary.tried_again or summary.samples.repeated):
        return
    rows = run.repeated_rows()
    yield "\n## Repetitions\n\n"
    for row in islice(rows, _RETRIES_SHOWN):
        yield f"- {cell(one_line(row.id))}: {describe_retries(row)}\n"
    if more := sum(1 for _ in rows):
        yield f"- … {count(more, 'more case')}\n"


def head(summary: Summary) -> str:
    """Return the verdict, the totals, and outdated baseline entries."""
    lines = [f"**{summary.verdict_line()}**", "", *_totals_table(summary)]
    if summary.outdated:
        lines += ["", "No longer needed in the baseline:", ""]
        lines += [
            f"- {code_span(one_line(entry.case))} ({code_span(one_line(entry.code))})"
            for entry in summary.outdated
        ]
    return "\n".join(lines) + "\n"


_ROWS_AT_MOST = 500
_RETRIES_SHOWN = 100


def _matrix_parts(matrix: Matrix) -> Iterator[str]:
    """Yield the rows that changed as a table, and how many there are."""
    yield f"\n{matrix.summary}.\n"
    changed = (row for row in matrix.rows() if row.is_changed)
    rows = list(islice(changed, _ROWS_AT_MOST))
    if rows:
        columns = (cell(one_line(name)) for name in matrix.columns)
        yield f"\n| {cell(one_line(matrix.corner))} | {' | '.join(columns)} |\n"
        yield f"|---|{'---|' * len(matrix.columns)}\n"
    for row in rows:
        texts = (
            f"**{cell(one_line(one.text))}**" if one.is_changed else cell(one_line(one.text))
            for one in row.cells
        )
        yield f"| {cell(one_line(row.label))} | {' | '.join(texts)} |\n"
    if more := sum(1 for _ in changed):
        yield f"\n… {count(more, 'more row')}\n"
    yield from (f"\n{code_span(one_line(note))}\n" for note in matrix.notes)


def _totals_table(summary: Summary) -> list[str]:
    columns = {"cases": f"{summary.total:,}"}
    for outcome in (Outcome.PASSED, *NOT_PASSED):
        columns[outcome.value] = f"{summary.counts[outcome]:,}"
    columns["known"] = f"{summary.known:,}"
    columns["pass rate"] = percent(summary.pass_rate)
    columns["95% interval"] = describe_interval(summary.share)
    if summary.has_samples:
        columns["samples passed"] = f"{summary.samples.passed:,} of {summary.samples.taken:,}"
    columns["mean score"] = f"{summary.mean_score:.3f}"
    columns["time"] = "not finished" if summary.duration is None else seconds(summary.duration)
    return [
        f"| {' | '.join(columns)} |",
        "|" + "---:|" * len(columns),
        f"| {' | '.join(columns.values())} |",
    ]


def evidence_text(evidence: Evidence) -> str:
    """Return why the case ended as it did."""
    known = ", accepted by the baseline" if evidence.is_known else ""
    parts = [f"{evidence.outcome.value.capitalize()}{known}, score {evidence.score:.3f}\n"]
    if evidence.reason:
        parts.append(code_block(evidence.reason))
    for sample in evidence.samples:
        if evidence.samples_taken > 1 and sample.outcome is Outcome.PASSED:
            continue
        parts += _sample_parts(sample, evidence)
    if evidence.samples_left_out:
        parts.append(f"… {count(evidence.samples_left_out, 'more sample')}\n")
    return "\n".join(parts)


def _sample_parts(sample: Sample, evidence: Evidence) -> Iterator[str]:
    if evidence.samples_taken > 1:
        yield f"**Sample {sample.number} of {evidence.samples_taken}: {sample.outcome.value}**\n"
    if sample.error and sample.error != evidence.reason:
        yield code_block(sample.error)
    for attribute in sample.select(WRONG, UNDECIDED, CLUE):
        yield from _attribute_parts(attribute)
    if right := sample.select(RIGHT):
        yield f"Right: {', '.join(code_span(attribute.name) for attribute in right)}\n"
    if sample.attributes_left_out:
        yield f"… {count(sample.attributes_left_out, 'more attribute')}\n"


def _attribute_parts(attribute: Attribute) -> Iterator[str]:
    yield f"{code_span(attribute.name)} is {attribute.told}\n"
    for label, text in attribute.values:
        language = "diff" if label == "diff" else ""
        yield f"{label}:\n"
        yield code_block(text, language)


# GitHub takes no summary above 1 MiB at all; this is for the note of what is missing.
_NOTE_BYTES = 4096


_MARKS = {
    Outcome.PASSED: "✅",
    Outcome.FAILED: "❌",
    Outcome.ERROR: "💥",
    Outcome.UNVERIFIED: "❔",
}


_VERDICT_MARKS = {0: "✅", 1: "❌", 2: "⚠️", 3: "💥"}


_OUTDATED_SHOWN = 100


_LIMITS = EvidenceLimits(samples=3)


def render_github(run: Run, *, room: int = MOST_APPENDED) -> Iterator[str]:
    """Yield the summary piece by piece, up to the size limit."""
    summary = summarize(run)
    title = f"## {_VERDICT_MARKS[summary.exit_code]} Assay: {code_span(one_line(summary.name))}\n\n"
    outdated = summary.outdated[:_OUTDATED_SHOWN]
    text = title + head(replace(summary, outdated=outdated))
    if left_out := len(summary.outdated) - len(outdated):
        text += f"- … {left_out:,} more\n"
    if (matrix := find_matrix(run)) is not None:
        text += "".join(_matrix_parts(matrix))
    text += "".join(_retry_parts(run, summary))
    yield text
    room -= _NOTE_BYTES + len(text.encode())
    shown = 0
    for row in not_passed_rows(run):
        evidence = gather(run.read(row), is_known=run.is_known(row), limits=_LIMITS)
        text = _fold_evidence(evidence)
        room -= len(text.encode())
        if room < 0:
            break
        yield text
        shown += 1
    if left_out := summary.not_passed - shown:
        cases = count(left_out, "more case")
        yield (
            f"\n**{cases} that did not pass left out**, because GitHub takes no more than 1 MiB; "
            f"see one with {code_span(show_command(run))}\n"
        )


def _fold_evidence(evidence: Evidence) -> str:
    known = ", accepted by the baseline" if evidence.is_known else ""
    reason = f": {html_code(one_line(evidence.reason, 120))}" if evidence.reason else ""
    # Without the blank lines GitHub would read the evidence as HTML.
    return (
        f"\n<details>\n<summary>{_MARKS[evidence.outcome]} {html_code(evidence.id)} "
        f"{evidence.outcome.value}{known}{reason}</summary>\n\n"
        f"{evidence_text(evidence)}\n</details>\n"
    )
