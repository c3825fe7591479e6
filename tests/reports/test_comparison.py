"""Reports of comparisons: what they say, that they are bounded, and hostile text in them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from assay.errors import InputError
from assay.reports import (
    ComparisonReport,
    comparison_formats,
    comparison_lines,
    render_comparison,
)
from assay.runs import FailOn, Run, compare_runs
from tests.reports.conftest import HOSTILE
from tests.runs.making import make_record, write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    before = {f"case {number}": "P" for number in range(12)} | {"out": "P", "tests": "P:PPPP"}
    after = before | {f"case {number}": "F" for number in range(6)} | {"out": "E"}
    write_run(tmp_path / "before", before, title="suite.yaml")
    write_run(tmp_path / "after", {**after, "tests": "F:PPPF"}, title="suite.yaml")
    return tmp_path


def make_report(folder: Path, fail_on: FailOn = "regression") -> ComparisonReport:
    before, after = Run(folder / "before"), Run(folder / "after")
    return ComparisonReport(before, after, compare_runs(before, after), fail_on)


def test_the_terminal_says_what_changed_how_much_and_whether_by_chance(folder: Path) -> None:
    text = "\n".join(comparison_lines(make_report(folder).comparison))
    for expected in (
        "before: before (suite.yaml), 14 cases, ",
        "rate before: 100.0%, 13 of 13 cases passed (95% interval 77.2% to 100.0%)",
        "rate after: 46.1%, 6 of 13 cases passed (95% interval 23.2% to 70.9%)",
        "7 lost, 0 gained, p = 0.016 (McNemar's exact test): more than chance explains",
        "newly failing: 7\n  case 0  passed → failed, score 1 → 0.5\n",
        "newly in error: 1\n  out  passed → error",
        "unchanged: 6\n",
        "by finding\n  passed → failed  7\n",
        "tests with samples: 1 compared, 0 with a rate that fell by more than chance explains\n",
        "  tests  100.0%, 4 of 4 samples passed (95% interval 51.0% to 100.0%), 75.0%, 3 of 4 ",
        "not in the rates: 1 case that ended in an error in one of the runs\n",
    ):
        assert expected in text
    assert text.endswith("Regression: 7 cases newly fail.")


@pytest.mark.parametrize(
    ("before", "after", "fail_on", "expected"),
    [
        ({"a": "P"}, {"a": "P"}, "regression", "No regression."),
        ({"a": "P"}, {"a": "F"}, "regression", "Regression: 1 case newly fails."),
        ({"a": "P"}, {"a": "F"}, "none", "Regression: 1 case newly fails."),
        ({"a": "P"}, {"a": "F"}, "significant", "No regression."),
        ({"a": "P"}, {"a": "E"}, "significant",
         "Unclear: 1 case newly ended in an error, which is no failure and no pass."),
        ({"a": "E"}, {"a": "E"}, "regression",
         "Unclear: every case ended in an error in one of the runs."),
        ({str(n): "P" for n in range(9)}, {str(n): "F" for n in range(9)}, "significant",
         "Regression: a rate fell by more than chance explains."),
    ],
)  # fmt: skip
def test_the_last_line_is_the_verdict(
    tmp_path: Path, before: dict[str, str], after: dict[str, str], fail_on: FailOn, expected: str
) -> None:
    write_run(tmp_path / "before", before)
    write_run(tmp_path / "after", after)
    assert list(comparison_lines(make_report(tmp_path).comparison, fail_on))[-1] == expected


def test_json_is_one_object_with_every_case_that_changed(folder: Path) -> None:
    found = json.loads("".join(render_comparison(make_report(folder), "json")))
    assert (found["version"], found["exit_code"], found["is_complete"]) == (1, 1, True)
    assert found["rates"]["before"] == {
        "passed": 13, "of": 13, "rate": 1.0, "low": pytest.approx(0.772, abs=1e-3), "high": 1.0,
    }  # fmt: skip
    assert found["rates"]["left_out"] == {"errors": 1, "undecided": 0}
    assert found["flips"][0] == {"before": "passed", "after": "failed", "cases": 7}
    assert [test["case"] for test in found["tests"]] == ["tests"]
    assert len(found["changes"]) == 8
    by_case = {change["case"]: change for change in found["changes"]}
    assert by_case["out"]["kind"] == "newly_errored"
    assert by_case["tests"]["after"]["samples"] == {
        "passed": 3, "of": 4, "rate": 0.75, "low": pytest.approx(0.301, abs=1e-3),
        "high": pytest.approx(0.954, abs=1e-3), "taken": 4, "is_early": False,
    }  # fmt: skip


def test_reports_for_people_are_bounded_and_json_is_not(tmp_path: Path) -> None:
    names = [f"{number}" for number in range(1_200)]
    write_run(tmp_path / "before", dict.fromkeys(names, "P"))
    write_run(tmp_path / "after", dict.fromkeys(names, "F"))
    report = make_report(tmp_path)
    texts = {name: "".join(render_comparison(report, name)) for name in comparison_formats()}
    assert "### Newly failing: 1,200\n" in texts["github"]
    assert "… 1,140 more" in texts["github"]
    assert "… 1,000 more" in texts["markdown"]
    assert "… 200 more" in texts["html"]
    assert len(json.loads(texts["json"])["changes"]) == 1_200
    assert "… 1,150 more" in "\n".join(comparison_lines(report.comparison))


def test_hostile_text_does_nothing(tmp_path: Path) -> None:
    records = [make_record(f"{place} {HOSTILE}", "P", code=HOSTILE) for place in range(3)]
    write_run(tmp_path / "before", records, title=HOSTILE)
    sampled = [
        make_record(record.id, "F:" + 9 * "F", code=f"other {HOSTILE}", duration=3.0)
        for record in records
    ]
    write_run(tmp_path / "after", sampled, title=HOSTILE)
    report = make_report(tmp_path)
    texts = {name: "".join(render_comparison(report, name)) for name in comparison_formats()}
    texts["terminal"] = "".join(render_comparison(report, "terminal"))
    for text in texts.values():
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\x9b\u202e\u2066\u2028]", text)
    page = texts["html"]
    assert "<script" not in page
    assert "<img" not in page
    assert "{{ 7*7 }}" in page
    assert page.count("</section>") == page.count("<section>")
    for name in ("markdown", "github"):
        for line in texts[name].splitlines():
            if "alert(1)" in line and line.startswith("|"):
                # All of it is code, and no cell ends early.
                outside = re.sub(r"(`+).+?(?<!`)\1(?!`)", "", line)
                assert "alert" not in outside
                assert "@octocat" not in outside


def test_the_page_is_whole_and_asks_for_nothing(folder: Path) -> None:
    page = "".join(render_comparison(make_report(folder), "html"))
    body = page[page.index("<body>") : page.index("</body>") + len("</body>")]
    assert ElementTree.fromstring(body).find("main") is not None
    assert "default-src 'none'" in page
    assert not re.search(r"(?:src|href)=|url\(|@import", page)


def test_a_format_that_is_not_there_is_named(folder: Path) -> None:
    with pytest.raises(InputError, match="a comparison has no report 'htm'"):
        render_comparison(make_report(folder), "htm")
