"""The Markdown report: the totals, a table of what did not pass, and the evidence of each."""

from __future__ import annotations

from collections.abc import Iterator

from assay.model import Outcome
from assay.reports.evidence import (
    CLUE,
    RIGHT,
    UNDECIDED,
    WRONG,
    Attribute,
    Evidence,
    Limits,
    Sample,
    gather,
)
from assay.reports.markup import cell, code_block, code_span
from assay.reports.summary import NOT_PASSED, Summary, not_passed_rows, percent, summarize
from assay.reports.text import count, one_line, seconds
from assay.runs import Run

LIMITS = Limits()


def render(run: Run) -> Iterator[str]:
    """The document piece by piece."""
    summary = summarize(run)
    yield f"# Assay: {code_span(one_line(summary.name))}\n\n"
    yield head(summary)
    if not summary.not_passed:
        return
    yield "\n## What did not pass\n\n| case | outcome | score |\n|---|---|---:|\n"
    for row in not_passed_rows(run):
        known = " (known)" if run.is_known(row) else ""
        yield f"| {cell(one_line(row.id))} | {row.outcome.value}{known} | {row.score:.3f} |\n"
    yield "\n## Evidence\n"
    for row in not_passed_rows(run):
        evidence = gather(run.read(row), is_known=run.is_known(row), limits=LIMITS)
        yield f"\n### {code_span(evidence.id)}\n\n{evidence_text(evidence)}"


def head(summary: Summary) -> str:
    """The verdict, the totals, and what of the baseline is no longer needed."""
    lines = [f"**{summary.verdict_line()}**", "", *_totals_table(summary)]
    if summary.outdated:
        lines += ["", "No longer needed in the baseline:", ""]
        lines += [
            f"- {code_span(one_line(entry.case))} ({code_span(one_line(entry.code))})"
            for entry in summary.outdated
        ]
    return "\n".join(lines) + "\n"


def _totals_table(summary: Summary) -> list[str]:
    columns = {"cases": f"{summary.total:,}"}
    for outcome in (Outcome.PASSED, *NOT_PASSED):
        columns[outcome.value] = f"{summary.counts[outcome]:,}"
    columns["known"] = f"{summary.known:,}"
    columns["pass rate"] = percent(summary.pass_rate)
    columns["mean score"] = f"{summary.mean_score:.3f}"
    columns["time"] = "not finished" if summary.duration is None else seconds(summary.duration)
    return [
        f"| {' | '.join(columns)} |",
        "|" + "---:|" * len(columns),
        f"| {' | '.join(columns.values())} |",
    ]


def evidence_text(evidence: Evidence) -> str:
    """Why the case ended as it did."""
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
    for attribute in sample.marked(WRONG, UNDECIDED, CLUE):
        yield from _attribute_parts(attribute)
    if right := sample.marked(RIGHT):
        yield f"Right: {', '.join(code_span(attribute.name) for attribute in right)}\n"
    if sample.attributes_left_out:
        yield f"… {count(sample.attributes_left_out, 'more attribute')}\n"


def _attribute_parts(attribute: Attribute) -> Iterator[str]:
    yield f"{code_span(attribute.name)} is {attribute.told}\n"
    for label, text in attribute.values:
        language = "diff" if label == "diff" else ""
        yield f"{label}:\n"
        yield code_block(text, language)
