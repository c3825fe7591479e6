"""The evidence of a calibration as blocks: which planted defects were found, by kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.model import CaseRecord, Share
from assay.questions.calibration import Calibration, Result, Score, calibration_of
from assay.reports import (
    Badge,
    Block,
    Cell,
    Facts,
    Fold,
    Paragraph,
    Table,
    Tone,
    count,
    draw_interval,
)
from assay.runs import Run

_TONES: Mapping[str, Tone] = {
    Result.FOUND.value: "passed",
    Result.CONFIRMED.value: "passed",
    Result.MISSED.value: "failed",
    Result.WRONG.value: "failed",
    Result.OPEN.value: "unverified",
}


def describe_run(run: Run) -> Iterator[Block]:
    """Yield recall and precision by kind of defect, and what became of sound questions."""
    found = calibration_of(run)
    yield Paragraph(_describe_counts(found))
    yield Table(
        ("defect", "planted", "found", "accused wrongly", "open", "missed", "recall", "precision"),
        [_score_row(one) for one in (*found.kinds, found.all)],
        has_labels=True,
    )
    if (known := found.labelled) is not None:
        yield Paragraph(
            f"Of {count(known.defects, 'labelled defect')} {known.found} were found and "
            f"{known.missed} called Valid; of {count(known.sound, 'labelled sound question')} "
            f"{known.confirmed} were confirmed and {known.accused} wrongly accused."
        )


def _describe_counts(found: Calibration) -> str:
    sound = found.sound
    out = f"; {count(len(found.left_out), 'question')} left out" if found.left_out else ""
    return (
        f"Calibrated with {count(found.valid, 'Valid question')}{out}. Of "
        f"{count(sound.total(), 'sound variant')} {sound[Result.CONFIRMED]} were confirmed, "
        f"{sound[Result.OPEN]} left open and {sound[Result.WRONG]} wrongly accused."
    )


def _score_row(score: Score) -> list[Cell | str]:
    numbers = (score.mutants, score.found, score.wrong, score.open, score.missed)
    counts = [Cell(f"{one:,}", is_number=True) for one in numbers]
    return [score.name, *counts, _share_cell(score.recall), _share_cell(score.precision)]


def _share_cell(share: Share) -> Cell:
    if share.value is None:
        return Cell("–", "quiet")
    chart = draw_interval(
        share.value,
        *share.interval,
        title=f"{share.hits} of {share.trials}: {share}",
        labels=None,
    )
    return Cell(str(share), chart=chart)


def describe_case(run: Run, record: CaseRecord) -> Iterator[Block]:
    """Yield the mutants of a question, each with the verdict on it."""
    detail: Any = record.detail
    yield Facts([("verdict on the question itself", str(detail["verdict"]))])
    for mutant in detail["mutants"]:
        result = str(mutant["result"])
        tone = _TONES.get(result, "quiet")
        yield Fold(
            str(mutant["change"] or mutant["name"]),
            list(_describe_mutant(mutant)),
            tone,
            [Badge(result, tone)],
            note=f"{_name_defect(mutant)}, called {mutant['verdict']}",
            is_open=tone == "failed",
        )


def _name_defect(mutant: Mapping[str, Any]) -> str:
    label = mutant.get("label")
    return f"by its label {label}" if label else str(mutant["defect"] or "no defect")


def _describe_mutant(mutant: Mapping[str, Any]) -> Iterator[Block]:
    yield Paragraph(str(mutant["reason"]))
    if "question" not in mutant:
        # It was counted, not tried.
        return
    yield Paragraph(str(mutant["question"]))
    answers = mutant["answers"]
    rows = [
        [letter, str(text), "key" if letter == mutant["key"] else "",
         "" if answers is None else "right" if letter in answers else ""]
        for letter, text in mutant["options"].items()
    ]  # fmt: skip
    yield Table(("option", "text", "key", "right"), rows, has_labels=True)
