"""A run from Python: its verdict, its reports and its table, from a path as text or Path."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.errors import InputError
from assay.runs import ChangeKind


@pytest.fixture
def run(tmp_path: Path) -> assay.Run:
    cases = [("<b>ok</b>", "<b>ok</b>"), ("bad\x1b[1m", "good")]
    return assay.evaluate(cases, str, check="exact", out=tmp_path / "after")


def test_a_path_is_text_or_a_path_and_the_verdict_is_that_of_the_command(run: assay.Run) -> None:
    for path in (run.path, str(run.path)):
        again = assay.Run(path)
        assert (again.passed, again.exit_code) == (False, 1)
        assert again.summary.verdict_line() == "Failed: 1 of 2 cases passed (50.0%), 1 failed."


def test_runs_are_compared_with_earlier_ones(run: assay.Run, tmp_path: Path) -> None:
    before = assay.evaluate(
        [("<b>ok</b>", "<b>ok</b>"), ("bad\x1b[1m", "bad\x1b[1m")],
        str,
        check="exact",
        out=tmp_path / "before",
    )
    for earlier in (before, str(before.path)):
        comparison = run.compare(earlier)
        failing = comparison.changes[ChangeKind.NEWLY_FAILING]
        assert [change.id for change in failing] == ["bad\x1b[1m"]
        assert comparison.exit_code() == 1


def test_reports_are_text_or_bytes_as_the_format_is(run: assay.Run) -> None:
    assert run.report().startswith("# Assay")
    assert run.report("junit").startswith("<?xml")
    assert run.report("parquet").startswith(b"PAR1")
    with pytest.raises(InputError, match="unknown report format"):
        run.report("junt")


def test_tables_have_a_row_for_every_sample(run: assay.Run) -> None:
    table = run.to_arrow()
    assert table.column("record_id").to_pylist() == ["<b>ok</b>", "bad\x1b[1m"]
    assert table.column("record_outcome").to_pylist() == ["passed", "failed"]
    pytest.importorskip("pandas")
    assert list(run.to_pandas()["outcome"]) == ["passed", "failed"]


def test_a_notebook_shows_a_table_with_everything_escaped(run: assay.Run) -> None:
    shown = run._repr_html_()
    assert "Failed: 1 of 2 cases passed" in shown
    assert "<td>&lt;b&gt;ok&lt;/b&gt;</td><td>passed</td>" in shown
    assert "<b>" not in shown
    assert "\x1b" not in shown
    assert shown.index("failed</td>") < shown.index("passed</td>")


def test_a_long_run_is_cut_with_the_number_that_is_left_out(tmp_path: Path) -> None:
    cases = [(number, number) for number in range(60)]
    run = assay.evaluate(cases, int, check="json", out=tmp_path / "run")
    assert run._repr_html_().count("<tr>") == 51
    assert "… and 10 more" in run._repr_html_()
