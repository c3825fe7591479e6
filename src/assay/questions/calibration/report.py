"""Calibration for people and for programs: recall and precision per kind of defect, and misses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.model import Share
from assay.questions.calibration.calibration import Calibration, CalibrationTrial, Result, Score
from assay.reports import Paint, count, one_line

VERSION = 1
_HEAD = ("defect", "mutants", "found", "wrong", "open", "missed", "recall", "precision")


def calibration_lines(found: Calibration, paint: Paint) -> Iterator[str]:
    """Yield the table, then every mutant that was called Valid and every false accusation."""
    out = f"; {len(found.left_out)} left out, for they are not Valid" if found.left_out else ""
    yield f"calibrated with {count(found.valid, 'Valid question')}{out}"
    yield ""
    yield from _table([_HEAD, *map(_row, (*found.kinds, found.all))])
    yield ""
    yield (
        f"sound questions verified: {found.sound.total()}, of which confirmed "
        f"{found.sound[Result.CONFIRMED]}, open {found.sound[Result.OPEN]}, wrongly accused "
        f"{found.sound[Result.WRONG]}"
    )
    for one in found.misses:
        yield f"{paint('missed', 'failed')} {one_line(one.describe())}"
    for one in found.wrongs:
        yield f"{paint('wrongly accused', 'failed')} {one_line(one.describe())}"
    for line in found.errors:
        yield f"{paint('error', 'error')} {one_line(line)}"


def _row(score: Score) -> tuple[str, ...]:
    numbers = (score.mutants, score.found, score.wrong, score.open, score.missed)
    return (score.name, *map(str, numbers), str(score.recall), str(score.precision))


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.ljust(width) if place in (0, 6, 7) else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def calibration_values(found: Calibration) -> dict[str, Any]:
    """Return the same as JSON."""
    return {
        "version": VERSION,
        "valid": found.valid,
        "left_out": list(found.left_out),
        "defects": [_score_values(one) for one in found.kinds],
        "all": _score_values(found.all),
        "sound": {
            "verified": found.sound.total(),
            **{
                one.value: found.sound[one] for one in (Result.CONFIRMED, Result.OPEN, Result.WRONG)
            },
        },
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
        "falsely_accused_originals": score.false,
        "recall": _share_values(score.recall),
        "precision": _share_values(score.precision),
    }


def _share_values(share: Share) -> dict[str, Any]:
    low, high = share.interval
    return {"value": share.value, "low": low, "high": high, "of": share.trials}


def _trial_values(one: CalibrationTrial) -> dict[str, Any]:
    return {
        "question": one.question,
        "mutant": one.name,
        "defect": one.defect.value if one.defect else None,
        "change": one.change,
        "verdict": one.verdict,
        "reason": one.reason,
    }
