"""What subjects add to reports: it is there, and it understands what earlier versions kept."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from assay.reports import BlockLimits, Paint, render_blocks
from assay.reports.subjects import Part, find_function
from assay.runs import Manifest, Run, create_folder

OLD = Path(__file__).parent.parent / "runs" / "old_runs"
SUBJECTS = ("agents", "calibration", "drift", "evaluation", "questions", "submissions")


@pytest.mark.parametrize("part", get_args(Part))
def test_every_function_that_is_named_is_there(part: Part, tmp_path: Path) -> None:
    found = []
    for subject in SUBJECTS:
        path = create_folder(tmp_path / subject, Manifest(subject=subject))
        with Run(path) as run:
            found.append(find_function(part, run))
    assert any(found)
    assert all(one is None or callable(one) for one in found)


@pytest.mark.parametrize(
    "path", sorted(OLD.glob("*/*")), ids=lambda path: "-".join(path.parts[-2:])
)
def test_runs_of_earlier_versions_are_described_by_their_subject(path: Path) -> None:
    # Without the fallback that a report has for records of any other shape.
    with Run(path) as run:
        describe, show = find_function("blocks", run), find_function("lines", run)
        overview = find_function("overview", run)
        for row in run.rows():
            record = run.read(row)
            if describe is not None:
                assert render_blocks(describe(run, record), BlockLimits())
            if show is not None:
                assert list(show(run, record, Paint(False)))
        if overview is not None:
            render_blocks(overview(run), BlockLimits())
