"""Drift for people and for programs: the matrix, and the release of every change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.questions.target_drift import Drift
from assay.reports.plain import Paint
from assay.reports.text import count, one_line

VERSION = 1
_STYLES = {"Valid": "passed", "Unproven": "unverified"}


def drift_lines(drift: Drift, package: str, paint: Paint) -> Iterator[str]:
    """The matrix with a column per version, then what changed and when."""
    names = {question: one_line(question) for question in drift.standings}
    width = max([len(name) for name in names.values()], default=0)
    columns = [max(len(version), len("Incorrect")) for version in drift.versions]
    head = "  ".join(
        version.ljust(size) for version, size in zip(drift.versions, columns, strict=True)
    )
    yield f"{package.ljust(width)}  {head}".rstrip()
    for question, row in drift.standings.items():
        cells = [
            paint(row[version].verdict.ljust(size), _STYLES.get(row[version].verdict, "failed"))
            for version, size in zip(drift.versions, columns, strict=True)
        ]
        yield f"{names[question].ljust(width)}  {'  '.join(cells)}"
    for flip in drift.flips:
        yield ""
        yield f"{paint(names[flip.question], 'bold')} changed in {package} {flip.after}"
        yield paint(f"  (the last release before: {flip.before})", "dim")
        yield from (f"  {one_line(line)}" for line in flip.changed())
    for version, why in drift.unbuildable.items():
        yield paint(f"{package} {version} could not be installed: {one_line(why)}", "dim")
    yield ""
    yield _verdict(drift)


def _verdict(drift: Drift) -> str:
    if not drift.flips:
        return "Nothing changed."
    what = count(len(drift.flips), "change")
    told = "verdicts differ" if drift.verdict_changed else "no verdict differs"
    return f"{what}; {told} between the versions."


def drift_values(drift: Drift, package: str) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "version": VERSION,
        "package": package,
        "versions": list(drift.versions),
        "verdict_changed": drift.verdict_changed,
        "questions": {
            question: {
                version: {"verdict": standing.verdict, "options": dict(standing.states)}
                for version, standing in row.items()
            }
            for question, row in drift.standings.items()
        },
        "changes": [
            {
                "question": flip.question,
                "before": flip.before,
                "after": flip.after,
                "changed": flip.changed(),
            }
            for flip in drift.flips
        ],
        "could_not_be_installed": drift.unbuildable,
    }
