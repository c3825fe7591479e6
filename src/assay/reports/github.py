"""The step summary for GitHub Actions: Markdown with the evidence folded, within GitHub's limit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.model import Outcome
from assay.reports.evidence import Evidence, Limits, gather
from assay.reports.markdown import evidence_text, head
from assay.reports.markup import code_span, html_code
from assay.reports.summary import not_passed_rows, summarize
from assay.reports.text import count, one_line, show_command
from assay.runs import Run

# GitHub takes no summary above 1 MiB at all; the room left is for the note of what is missing.
MAX_BYTES = 1024 * 1024
_NOTE_BYTES = 4096

_MARKS = {
    Outcome.PASSED: "✅",
    Outcome.FAILED: "❌",
    Outcome.ERROR: "💥",
    Outcome.UNVERIFIED: "❔",
}
_VERDICT_MARKS = {0: "✅", 1: "❌", 2: "⚠️", 3: "💥"}
_OUTDATED_SHOWN = 100
_LIMITS = Limits(samples=3)


def render(run: Run) -> Iterator[str]:
    """The summary piece by piece, as far as there is room."""
    summary = summarize(run)
    title = f"## {_VERDICT_MARKS[summary.exit_code]} Assay: {code_span(one_line(summary.name))}\n\n"
    outdated = summary.outdated[:_OUTDATED_SHOWN]
    text = title + head(replace(summary, outdated=outdated))
    if left_out := len(summary.outdated) - len(outdated):
        text += f"- … {left_out:,} more\n"
    yield text
    room = MAX_BYTES - _NOTE_BYTES - len(text.encode())
    shown = 0
    for row in not_passed_rows(run):
        evidence = gather(run.read(row), is_known=run.is_known(row), limits=_LIMITS)
        text = _folded(evidence)
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


def _folded(evidence: Evidence) -> str:
    known = ", accepted by the baseline" if evidence.is_known else ""
    reason = f": {html_code(one_line(evidence.reason, 120))}" if evidence.reason else ""
    # Without the blank lines GitHub would read the evidence as HTML.
    return (
        f"\n<details>\n<summary>{_MARKS[evidence.outcome]} {html_code(evidence.id)} "
        f"{evidence.outcome.value}{known}{reason}</summary>\n\n"
        f"{evidence_text(evidence)}\n</details>\n"
    )
