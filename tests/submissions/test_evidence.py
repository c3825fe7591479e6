"""The evidence of submissions: what was run, on what, and how its result differs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay import submissions
from assay.reports import render_evidence, render_overview
from assay.runs import Run
from tests.reports.pages import Page

ROOT = Path(__file__).parent.parent.parent
LEDGER = ROOT / "examples" / "submissions" / "ledger"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """The broken ledger of the examples, which fails three cases."""
    folder = tmp_path_factory.mktemp("evidence")
    run = submissions.verify(
        LEDGER / "checkpoint_1" / "broken", LEDGER, checkpoint=1, out=folder / "run"
    )
    with run:
        yield run


def evidence_of(run: Run, identifier: str) -> tuple[str, Page]:
    html = render_evidence(run, run.row(identifier))
    page = Page(html)
    assert (page.open, page.unbalanced) == ([], [])
    return html, page


def test_the_command_its_files_and_the_difference_are_there(broken: Run) -> None:
    html, page = evidence_of(broken, "checkpoint_1/core/two-categories")
    assert any("python ledger.py spending.csv" in part for part in page.texts["pre"])
    assert "spending.csv" in page.texts["span"]
    # The input file is a table, the output a comparison of JSON.
    assert {"item", "amount", "category"} <= set(page.texts["th"])
    assert ">3</del>" in html
    assert ">2</ins>" in html
    assert "by_category.food" in page.texts["td"]


def test_standard_error_is_open_after_a_failure(broken: Run) -> None:
    _, page = evidence_of(broken, "checkpoint_1/errors/no-such-file")
    folds = [one for one in page.all("details") if "fold" in (one["class"] or "")]
    assert "standard error" in page.texts["span"]
    assert "open" in folds[0]
    assert any("FileNotFoundError" in part for part in page.texts["pre"])


def test_the_overview_counts_by_group(broken: Run) -> None:
    page = Page(render_overview(broken))
    assert page.texts["th"][-2:] == ["checkpoint_1/core", "checkpoint_1/errors"]
    assert "4 of 5 cases" in page.texts["span"]
    assert "0 of 2 cases" in page.texts["span"]


@pytest.mark.parametrize("version", ["first", "linked"])
def test_runs_of_earlier_versions_have_evidence(version: str) -> None:
    with Run(ROOT / "tests" / "runs" / "old_runs" / version / "submissions") as run:
        for row in run.rows():
            html, _ = evidence_of(run, row.id)
            assert "right: " in html
