"""`assay runs trend`: the history of a title."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.runs import draw_sparkline, read_trends
from tests.conftest import Command
from tests.runs.making import make_record, write_run

START = datetime(2026, 1, 1, 9, 30, tzinfo=UTC)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for day, cases in enumerate(["PPPP", "PPFF", "PFFE", "PPPF"]):
        name = f".assay/runs/day-{9 - day}"
        endings = {f"{place}": ending for place, ending in enumerate(cases)}
        write_run(Path(name), endings, title="suite.yaml", started=START + timedelta(days=day))
    part = START + timedelta(days=5)
    some = {"0": "F"}
    write_run(Path(".assay/runs/part"), some, title="suite.yaml", started=part, is_partial=True)
    sampled = [make_record("a", "P:PPPF"), make_record("b", "U:UU")]
    write_run(None, sampled, title="suite.yaml", subject="agents", unverified_fails=False)
    write_run(None, {"a": "P"}, title="other.yaml")
    return tmp_path


def test_the_history_of_a_title_has_a_line_per_run(assay: Command, runs: Path) -> None:
    shown = assay("runs", "trend", "suite.yaml", check=True).stdout
    first, second = shown.split("\n\n")
    assert first.splitlines() == [
        "suite.yaml, test",
        "  2026-01-01 09:30  100.0%, 4 of 4 cases passed (95% interval 51.0% to 100.0%)  day-9",
        "  2026-01-02 09:30  50.0%, 2 of 4 cases passed (95% interval 15.0% to 85.0%)  day-8",
        "  2026-01-03 09:30  33.3%, 1 of 3 cases passed (95% interval 6.1% to 79.2%), 1 error  "
        "day-7",
        "  2026-01-04 09:30  75.0%, 3 of 4 cases passed (95% interval 30.1% to 95.4%)  day-6",
        "  2026-01-06 09:30  0.0%, 0 of 1 case passed (95% interval 0.0% to 79.3%), "
        "only some cases  part",
        # Without the run of some cases.
        "█▃▁▅  33.3% to 100.0%",
    ]
    assert second.startswith("suite.yaml, agents\n")
    assert "1 of 1 case passed (95% interval 20.7% to 100.0%), 3 of 6 samples, 1 unv" in second


def test_the_default_is_the_title_of_the_latest_run(assay: Command, runs: Path) -> None:
    assert assay("runs", "trend", check=True).stdout.startswith("other.yaml, test\n")


def test_json_is_one_object(assay: Command, runs: Path) -> None:
    found = json.loads(assay("runs", "trend", "suite.yaml", "--json", "--last", "2").stdout)
    assert found["title"] == "suite.yaml"
    test, agents = found["trends"]
    assert (test["subject"], test["left_out"]) == ("test", 3)
    assert [point["name"] for point in test["points"]] == ["day-6", "part"]
    assert test["points"][0]["share"] == {
        "passed": 3, "of": 4, "rate": 0.75,
        "low": pytest.approx(0.3006, abs=1e-4), "high": pytest.approx(0.9544, abs=1e-4),
    }  # fmt: skip
    assert agents["points"][0]["samples"]["passed"] == 3


def test_a_run_that_cannot_be_read_does_not_hide_the_others(assay: Command, runs: Path) -> None:
    (runs / ".assay/runs/day-8/journal.jsonl").write_text("{}\n")
    (runs / ".assay/runs/day-7/run.json").write_text("{}\n")
    found = assay("runs", "trend", "suite.yaml", "--json")
    assert found.returncode == 0
    names = [point["name"] for point in json.loads(found.stdout)["trends"][0]["points"]]
    assert names == ["day-9", "day-6", "part"]
    assert "day-8" in found.stderr
    assert "day-7" in found.stderr


def test_a_title_that_is_not_there_names_the_nearest(assay: Command, runs: Path) -> None:
    refused = assay("runs", "trend", "suite.yml")
    assert refused.returncode == 2
    assert "did you mean 'suite.yaml'?" in refused.stderr


def test_the_same_from_python(runs: Path) -> None:
    trend = read_trends("suite.yaml")[0]
    assert [point.share.hits for point in trend.points] == [4, 2, 1, 3, 0]
    assert [point.is_whole for point in trend.points] == [True, True, True, True, False]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([], ""), ([0.5], "▅"), ([1, 1], "▅▅"), ([0, 1], "▁█"), ([0.0, 0.4, 1.0], "▁▄█")],
)
def test_a_sparkline_goes_from_the_lowest_to_the_highest(
    values: list[float], expected: str
) -> None:
    assert draw_sparkline(values) == expected
