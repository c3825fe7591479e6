"""Terminal output for runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from assay.model import Outcome
from assay.reports.evidence import EvidenceLimits, Paint, case_lines, gather
from assay.reports.matrix import Matrix, MatrixCell, find_matrix
from assay.reports.subjects import MISSHAPEN, find_function
from assay.reports.summary import (
    NOT_PASSED,
    Summary,
    describe_interval,
    describe_retries,
    not_passed_rows,
    outcome_word,
    percent,
    summarize,
)
from assay.reports.text import count, name_of, one_line, seconds, show_command
from assay.runs import Row, Run

SHOWN_AT_MOST = 50


_RETRIES_SHOWN = 5


_LIMITS = EvidenceLimits(characters=1_600, lines=30, attributes=8, samples=3)


_FULL = EvidenceLimits(characters=20_000, lines=400, attributes=1_000, samples=1_000)


_VERDICT_STYLES = {0: "passed", 1: "failed", 2: "unverified", 3: "error"}


def render(run: Run, *, colour: bool = False) -> Iterator[str]:
    """Yield the lines of the report."""
    paint = Paint(colour)
    summary = summarize(run)
    if (matrix := find_matrix(run)) is not None:
        yield "\n".join(_matrix_lines(matrix, paint)) + "\n\n"
    shown = 0
    for row in not_passed_rows(run):
        if shown == SHOWN_AT_MOST:
            break
        yield _case_text(run, row, paint)
        shown += 1
    if left_out := summary.not_passed - shown:
        more = f"… {left_out:,} more did not pass; see one with: {show_command(run)}"
        yield f"{paint(more, 'dim')}\n\n"
    yield from (f"{line}\n" for line in _total_lines(run, summary, paint))


def _matrix_lines(matrix: Matrix, paint: Paint) -> Iterator[str]:
    """Yield all rows if they are few, else those that changed."""
    rows = list(islice(matrix.rows(), SHOWN_AT_MOST + 1))
    if len(rows) > SHOWN_AT_MOST:
        rows = list(islice((row for row in matrix.rows() if row.is_changed), SHOWN_AT_MOST))
    labels = [one_line(matrix.corner), *(one_line(row.label) for row in rows)]
    columns = [one_line(name) for name in matrix.columns]
    width = max(map(len, labels))
    sizes = [
        max([len(name), *(len(_mark(row.cells[place])) for row in rows)])
        for place, name in enumerate(columns)
    ]
    head = "  ".join(name.ljust(size) for name, size in zip(columns, sizes, strict=True))
    yield f"{labels[0].ljust(width)}  {head}".rstrip()
    for label, row in zip(labels[1:], rows, strict=True):
        cells = [
            paint(_mark(one).ljust(size), one.style)
            for one, size in zip(row.cells, sizes, strict=True)
        ]
        yield f"{label.ljust(width)}  {'  '.join(cells)}".rstrip()
    yield f"{matrix.summary}{' (*)' if any(row.is_changed for row in rows) else ''}"
    yield from (one_line(note) for note in matrix.notes)


def _mark(cell: MatrixCell) -> str:
    return f"{one_line(cell.text)}{' *' if cell.is_changed else ''}"


def render_case(run: Run, row: Row, *, colour: bool = False) -> str:
    """Return one case with nearly all of its evidence, for `assay runs show RUN CASE`."""
    record = run.read(row)
    evidence = gather(record, is_known=run.is_known(row), limits=_FULL)
    show = find_function("lines", run)
    if show is not None and record.detail is not None:
        # With a record of another shape the evidence is shown as for any subject.
        with suppress(*MISSHAPEN):
            told = list(show(run, record, Paint(colour)))
            known = ["accepted by the baseline"] if evidence.is_known else []
            used = [f"used: {evidence.usage}"] if evidence.usage else []
            return "\n".join([*told, *known, *used, f"took {evidence.duration}"]) + "\n"
    lines = [*case_lines(evidence, Paint(colour), in_full=True), f"    took {evidence.duration}"]
    for label, text in (
        ("used", evidence.usage),
        ("the case", evidence.case),
        ("detail", evidence.detail),
    ):
        if text:
            lines += [f"    {label}:", *(f"      {line}" for line in text.split("\n"))]
    return "\n".join(lines) + "\n"


def _case_text(run: Run, row: Row, paint: Paint) -> str:
    evidence = gather(run.read(row), is_known=run.is_known(row), limits=_LIMITS)
    return "\n".join(case_lines(evidence, paint)) + "\n\n"


def _total_lines(run: Run, summary: Summary, paint: Paint) -> Iterator[str]:
    yield paint(
        f"{one_line(summary.title or summary.subject)}, run {one_line(summary.name)}", "dim"
    )
    if summary.total:
        yield _counts_line(summary, paint)
        rate = f"{percent(summary.pass_rate)} (95% interval {describe_interval(summary.share)})"
        # A share of one case would look as if it counted something else, such as its samples.
        parts = [f"pass rate {rate}"] if summary.total > 1 else []
        parts.append(f"mean score {summary.mean_score:.3f}")
        if summary.duration is not None:
            parts.append(seconds(summary.duration))
        yield "   ".join(parts)
    if summary.has_samples:
        taken = count(summary.samples.taken, "sample")
        yield f"{summary.samples.passed:,} of {taken} passed"
    yield from _retry_lines(run, summary)
    for entry in summary.outdated:
        yield f"no longer needed in the baseline: {one_line(entry.case)} ({one_line(entry.code)})"
    if run.is_being_written():
        yield "it is still running"
    elif not summary.is_finished:
        yield f"continue it with: assay runs resume {one_line(shlex.quote(name_of(run)))}"
    yield paint(summary.verdict_line(), _style(summary))


def _retry_lines(run: Run, summary: Summary) -> Iterator[str]:
    """Yield which cases needed more than one try; they are named up to a limit."""
    if not (summary.tried_again or summary.samples.repeated):
        return
    rows = run.repeated_rows()
    for row in islice(rows, _RETRIES_SHOWN):
        yield f"{one_line(row.id)}: {describe_retries(row)}"
    if more := sum(1 for _ in rows):
        yield f"… {count(more, 'more case')} with repetitions"


def _style(summary: Summary) -> str:
    if summary.exit_code == 0 and summary.counts[Outcome.UNVERIFIED]:
        return Outcome.UNVERIFIED.value
    return _VERDICT_STYLES[summary.exit_code]


def _counts_line(summary: Summary, paint: Paint) -> str:
    parts = [count(summary.total, "case")]
    for outcome in (Outcome.PASSED, *NOT_PASSED):
        number = summary.counts[outcome]
        text = f"{number:,} {outcome_word(outcome, number)}"
        parts.append(paint(text, outcome.value if number else "dim"))
    if summary.known:
        parts.append(f"{summary.known:,} accepted by the baseline")
    return "   ".join(parts)
