"""The history of a title: the rate of every run of it, in order of time."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from assay.errors import AssayError, InputError, nearest
from assay.model import Outcome, SampleCounts, Share
from assay.runs.folder import RUNS_FOLDER, Manifest, Run, read_manifest
from assay.runs.registry import run_folders

logger = logging.getLogger("assay")

LAST = 50
"""How many runs of a title a trend has, unless more are asked for."""


class TrendPoint(NamedTuple):
    """One run of a title."""

    name: str
    path: str
    started: str
    share: Share
    """The passed among the judged cases; errors say nothing of the subject."""
    errors: int
    undecided: int
    samples: SampleCounts
    is_finished: bool
    is_partial: bool
    """Whether only some of the cases were selected."""

    @property
    def is_whole(self) -> bool:
        """Return whether its rate is about all cases."""
        return self.is_finished and not self.is_partial

    def to_values(self) -> dict[str, Any]:
        """Return the point as JSON has it."""
        return {
            **self._asdict(),
            "share": self.share.to_values(),
            "samples": self.samples._asdict(),
        }


@dataclass(frozen=True)
class Trend:
    """The runs of a title by one subject, oldest first."""

    title: str
    subject: str
    points: tuple[TrendPoint, ...]
    left_out: int = 0
    """How many older runs there are."""

    def to_values(self) -> dict[str, Any]:
        """Return the trend as JSON has it."""
        return {
            "title": self.title,
            "subject": self.subject,
            "left_out": self.left_out,
            "points": [point.to_values() for point in self.points],
        }


def read_trends(
    title: str, runs: str | os.PathLike[str] = RUNS_FOLDER, *, last: int = LAST
) -> list[Trend]:
    """Return the history of a title, one for each subject that has it, the newest run last.

    A run that cannot be read is named in the log and left out.
    """
    found = _read_manifests(Path(runs))
    matching = [(path, manifest) for path, manifest in found if manifest.title == title]
    if not matching:
        titles = {manifest.title for _, manifest in found if manifest.title}
        raise InputError(
            f"no run of {title!r} in {runs}",
            advice=nearest(title, titles) if titles else "there are no runs yet",
        )
    subjects = dict.fromkeys(manifest.subject for _, manifest in matching)
    return [
        _read_trend(title, subject, [p for p, m in matching if m.subject == subject], last)
        for subject in subjects
    ]


def _read_manifests(runs: Path) -> list[tuple[Path, Manifest]]:
    found = []
    for path in run_folders(runs):
        try:
            found.append((path, read_manifest(path)))
        except AssayError as error:
            logger.warning("%s", error)
    return found


def _read_trend(title: str, subject: str, paths: list[Path], last: int) -> Trend:
    points = []
    for path in paths[-last:]:
        try:
            with Run(path) as run:
                points.append(_measure(run))
        except AssayError as error:
            logger.warning("%s", error)
    return Trend(title, subject, tuple(points), max(0, len(paths) - last))


def _measure(run: Run) -> TrendPoint:
    counts, manifest = run.counts(), run.manifest
    passed, failed = counts[Outcome.PASSED], counts[Outcome.FAILED]
    unverified = counts[Outcome.UNVERIFIED]
    if run.fails(Outcome.UNVERIFIED):
        failed, unverified = failed + unverified, 0
    return TrendPoint(
        name=run.name,
        path=str(run.path),
        started=manifest.started.isoformat(),
        share=Share(passed, passed + failed),
        errors=counts[Outcome.ERROR],
        undecided=unverified,
        samples=run.count_samples()[0],
        is_finished=manifest.finished is not None,
        is_partial=manifest.is_partial,
    )


BLOCKS = "▁▂▃▄▅▆▇█"


def draw_sparkline(values: list[float]) -> str:
    """Return a character per value, from the lowest to the highest of them."""
    if not values:
        return ""
    low, high = min(values), max(values)
    if high - low < 1e-9:
        return BLOCKS[len(BLOCKS) // 2] * len(values)
    steps = len(BLOCKS) - 1
    return "".join(BLOCKS[round((value - low) / (high - low) * steps)] for value in values)
