"""The Markdown report and the step summary for GitHub."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from assay.reports import render_report
from assay.runs import Baseline, Run

if TYPE_CHECKING:
    from tests.reports.conftest import Make

FENCED = re.compile(r"^(`{3,})[a-z]*\n.*?^\1$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")


def rendered(run: Run, name: str) -> str:
    return b"".join(render_report(run, name)).decode()


def outside_code(markdown: str) -> str:
    return SPAN.sub("CODE", FENCED.sub("BLOCK", markdown))


def test_the_document_has_totals_a_table_and_evidence(make: Make) -> None:
    run = make.run([make.record("good"), make.record("bad", "failed"), make.record("e", "error")])
    text = rendered(run, "markdown")
    assert text.startswith(
        "# Assay: `run`\n\n**Failed: 1 of 3 cases passed (33.3%), 1 failed, 1 error.**\n\n"
        "| cases | passed | failed | error | unverified | known | pass rate | 95% interval "
        "| mean score | time |\n"
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        "| 3 | 1 | 1 | 1 | 0 | 0 | 33.3% | 6.1% to 79.2% | 0.333 | "
    )
    assert "| `bad` | failed | 0.000 |\n| `e` | error | 0.000 |\n" in text
    assert "### `bad`\n\nFailed, score 0.000\n\n```\nbecause failed\n```\n" in text
    assert '`output` is not as expected\n\nexpected:\n\n```\n"b"\n```\n' in text
    assert "diff:\n\n```diff\n- b\n+ a\n```\n" in text
    assert "good" not in text


def test_a_run_in_which_all_passed_is_short(make: Make) -> None:
    text = rendered(make.run([make.record("good")]), "markdown")
    assert "What did not pass" not in text
    assert "**Passed: 1 of 1 case passed.**" in text


@pytest.mark.parametrize("name", ["markdown", "github"])
def test_known_and_outdated_are_said(make: Make, name: str) -> None:
    known = make.record("known", "failed")
    baseline = Baseline.of(make.run([known, make.record("x", "failed")], name="first").rows())
    text = rendered(make.run([known], baseline=baseline), name)
    assert "No longer needed in the baseline:\n\n- `x` (`failed`)\n" in text
    assert "accepted by the baseline, score 0.000" in text


@pytest.mark.parametrize("name", ["markdown", "github"])
def test_hostile_text_is_only_in_code(make: Make, name: str) -> None:
    rest = outside_code(rendered(make.hostile_run(), name))
    if name == "github":
        rest, summaries = re.subn(
            r"<summary>\S+ <code>[^<>]*</code> [a-z, ]+: <code>[^<>]*</code></summary>", "", rest
        )
        assert summaries == 4
        assert rest.count("<details>") == rest.count("</details>") == 4
        rest = rest.replace("<details>", "").replace("</details>", "")
    assert not set(rest) & set("<>@&`\x1b\u202e\x00")
    assert "octocat" not in rest


def test_each_case_is_folded_for_github(make: Make) -> None:
    text = rendered(make.run([make.record("bad", "failed")]), "github")
    assert text.startswith("## ❌ Assay: `run`\n\n**Failed:")
    assert (
        "\n<details>\n"
        "<summary>❌ <code>bad</code> failed: <code>because failed</code></summary>\n\n"
        "Failed, score 0.000\n" in text
    )
    assert text.endswith("\n</details>\n")


def test_the_summary_for_github_stays_within_its_limit(make: Make) -> None:
    report = make.report(*(make.result(f"é{n}", False, "é" * 9000, "x" * 9000) for n in range(20)))
    run = make.run(make.record(f"case {n}", "failed", reports=[report]) for n in range(20))
    text = rendered(run, "github")
    shown = text.count("<details>")
    assert 900_000 < len(text.encode()) <= 1_048_576
    assert 0 < shown < 20
    assert shown == text.count("</details>")
    assert f"**{20 - shown} more case" in text
    assert f"`assay runs show {run.path} CASE`\n" in text


def test_many_outdated_entries_do_not_fill_the_summary(make: Make) -> None:
    first = make.run((make.record(f"{n}", "failed") for n in range(105)), name="first")
    run = make.run([make.record("x")], baseline=Baseline.of(first.rows()))
    assert rendered(run, "github").endswith("- … 5 more\n")
