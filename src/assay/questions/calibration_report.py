"""The numbers of a calibration as a table for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from assay.model import Share
from assay.questions.calibration import (
    Calibration,
    CalibrationTrial,
    LabelledScore,
    Result,
    Score,
)
from assay.reports import Paint, count, one_line

VERSION = 1
_HEAD = (
    "defect", "mutants", "found", "wrong", "open", "missed", "recall", "precision", "suite recall",
)  # fmt: skip


def calibration_lines(found: Calibration, paint: Paint) -> Iterator[str]:
    """Yield the table, then every mutant that was called Valid and every false accusation."""
    total = found.valid + len(found.left_out) + len(found.errors)
    yield f"calibrated with {found.valid} of {count(total, 'question')}{_describe_rest(found)}"
    yield ""
    yield from _table([_HEAD, *map(_row, (*found.kinds, found.all))])
    yield ""
    if found.all.untried:
        yield (
            f"suite recall counts {count(found.all.untried, 'defect')} of the open questions as "
            "not found"
        )
    if found.all.answerable:
        yield (
            f"dropped: {count(found.all.answerable, 'blurred question')} whose options alone still "
            "say what is asked"
        )
    yield (
        f"sound questions verified: {found.sound.total()}, of which confirmed "
        f"{found.sound[Result.CONFIRMED]}, open {found.sound[Result.OPEN]}, wrongly accused "
        f"{found.sound[Result.WRONG]}"
    )
    yield from _describe_labelled(found.labelled)
    for one in found.misses:
        yield f"{paint('missed', 'failed')} {one_line(one.describe())}"
    for one in found.wrongs:
        yield f"{paint('wrongly accused', 'failed')} {one_line(one.describe())}"
    for line in found.errors:
        yield f"{paint('error', 'error')} {one_line(line)}"


def _describe_rest(found: Calibration) -> str:
    verdicts = Counter(found.left_out.values())
    verdicts.update({"with an error": len(found.errors)} if found.errors else {})
    listed = ", ".join(f"{number} {name}" for name, number in sorted(verdicts.items()))
    return f"; the others are not Valid: {listed}" if listed else ""


def _describe_labelled(found: LabelledScore | None) -> Iterator[str]:
    if found is None:
        return
    open_ = found.defects - found.found - found.wrong - found.missed
    yield (
        f"labelled defects: {found.defects}, of which found {found.found}, open {open_}, accused "
        f"of something else {found.wrong}, called Valid {found.missed}; recall {found.recall}"
    )
    yield (
        f"labelled sound questions: {found.sound}, of which confirmed {found.confirmed}, wrongly "
        f"accused {found.accused}"
    )


def _row(score: Score) -> tuple[str, ...]:
    numbers = (score.mutants, score.found, score.wrong, score.open, score.missed)
    shares = (score.recall, score.precision, score.suite_recall)
    return (score.name, *map(str, numbers), *map(str, shares))


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if place in (0, 6, 7, 8) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def calibration_values(found: Calibration) -> dict[str, Any]:
    """Return the same as JSON."""
    return {
        "version": VERSION,
        "valid": found.valid,
        "of": found.valid + len(found.left_out) + len(found.errors),
        "left_out": list(found.left_out),
        "defects": [_score_values(one) for one in found.kinds],
        "all": _score_values(found.all),
        "sound": {
            "verified": found.sound.total(),
            **{
                one.value: found.sound[one] for one in (Result.CONFIRMED, Result.OPEN, Result.WRONG)
            },
        },
        "labelled": None if found.labelled is None else _labelled_values(found.labelled),
        "usage": dict(found.used),
        "misses": [_trial_values(one) for one in found.misses],
        "wrongly_accused": [_trial_values(one) for one in found.wrongs],
        "errors": list(found.errors),
    }


def _score_values(score: Score) -> dict[str, Any]:
    return {
        "defect": score.name,
        "mutants": score.mutants,
        "found": score.found,
        "wrong": score.wrong,
        "open": score.open,
        "missed": score.missed,
        "may_still_be_answerable": score.answerable,
        "of_open_questions": score.untried,
        "falsely_accused_originals": score.false,
        "recall": _share_values(score.recall),
        "suite_recall": _share_values(score.suite_recall),
        "precision": _share_values(score.precision),
    }


def _labelled_values(found: LabelledScore) -> dict[str, Any]:
    return {**asdict(found), "recall": _share_values(found.recall)}


def _share_values(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"value": share.value, "low": low, "high": high, "of": share.trials}


def _trial_values(one: CalibrationTrial) -> dict[str, Any]:
    return {
        "question": one.question,
        "mutant": one.name,
        "defect": one.defect.value if one.defect else None,
        "label": one.label or None,
        "change": one.change,
        "verdict": one.verdict,
        "reason": one.reason,
    }
