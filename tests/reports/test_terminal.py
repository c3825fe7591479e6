"""The report for people in a terminal."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from assay.model import Case, CaseRecord, Outcome, VerificationResult, VerifierReport
from assay.reports import render_case, render_report
from assay.reports.terminal import SHOWN_AT_MOST
from assay.runs import Baseline, Run

if TYPE_CHECKING:
    from tests.reports.conftest import Make

COLOUR = re.compile(r"\x1b\[[0-9;]+m")


def rendered(run: Run, *, colour: bool = False) -> str:
    return b"".join(render_report(run, "terminal", colour=colour)).decode()


def test_what_did_not_pass_comes_first_with_its_evidence(make: Make) -> None:
    run = make.run([make.record("good"), make.record("bad", "failed")])
    text = rendered(run)
    assert text.startswith(
        "FAILED     bad\n"
        "    because failed\n"
        "    output is not as expected\n"
        '      expected: "b"\n'
        '      actual:   "a"\n'
        "      diff:\n"
        "        - b\n"
        "        + a\n"
    )
    assert "good" not in text
    assert text.endswith("\nFailed: 1 of 2 cases passed (50.0%), 1 failed.\n")
    assert "2 cases   1 passed   1 failed   0 errors   0 unverified\n" in text


def test_an_error_shows_what_happened(make: Make) -> None:
    text = rendered(make.run([make.record("e", "error", reason="the task raised ValueError: no")]))
    assert text.startswith("ERROR      e\n    the task raised ValueError: no\n      file.py:3\n\n")


def test_only_the_first_are_shown_and_how_to_see_the_others(make: Make) -> None:
    number = SHOWN_AT_MOST + 7
    run = make.run(make.record(f"{place:03}", "failed") for place in range(number))
    text = rendered(run)
    assert text.count("FAILED") == SHOWN_AT_MOST
    assert f"… 7 more did not pass; see one with: assay runs show {run.path} CASE\n" in text


def test_known_findings_and_outdated_entries_are_named(make: Make) -> None:
    known = make.record("known", "failed")
    baseline = Baseline.of(make.run([known, make.record("x", "failed")], name="first").rows())
    text = rendered(make.run([known, make.record("x")], baseline=baseline))
    assert "FAILED     known (accepted by the baseline)\n" in text
    assert "no longer needed in the baseline: x (failed)\n" in text
    assert "Passed: 1 of 2 cases passed (50.0%), 1 failed, 1 of them accepted" in text


def test_an_unfinished_run_says_how_to_go_on(make: Make) -> None:
    run = make.run([make.record("a")], finished=False)
    assert f"continue it with: assay runs resume {run.path}\n" in rendered(run)


def test_samples_that_passed_are_not_shown(make: Make) -> None:
    good, bad = make.record("x").reports[0], make.record("x", "failed").reports[0]
    record = make.record("x", "failed", reports=[good, bad, bad, bad, bad])
    text = rendered(make.run([record]))
    assert "sample 1 of 5" not in text
    assert "    sample 2 of 5: failed\n      output is not as expected\n" in text
    assert "    … 2 more samples\n" in text


def test_many_wrong_attributes_are_counted(make: Make) -> None:
    report = make.report(*(make.result(f"name {n}", False) for n in range(11)))
    text = rendered(make.run([make.record("x", "failed", reports=[report])]))
    assert text.count("is not as expected") == 8
    assert "    … 3 more attributes\n" in text


def test_colour_only_when_it_is_asked_for(make: Make) -> None:
    run = make.run([make.record("bad", "failed"), make.record("good")])
    plain, coloured = rendered(run), rendered(run, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31mFAILED" in coloured
    assert COLOUR.sub("", coloured) == plain


def test_no_text_of_a_case_acts_on_the_terminal(make: Make) -> None:
    run = make.hostile_run()
    texts = [rendered(run), COLOUR.sub("", rendered(run, colour=True))]
    texts += [render_case(run, row) for row in run.rows()]
    for text in texts:
        assert "\\u001b[31mred\\u001b]0;title\\u0007" in text
        unsafe = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
        assert unsafe == {"\n"}


def test_one_case_is_shown_with_its_case_and_detail(make: Make) -> None:
    report = make.report(make.result("output", False), case={"prompt": "why"})
    record = make.record("x", "failed", reports=[report], detail=["d"], usage={"tokens": 3})
    run = make.run([record])
    text = render_case(run, next(run.rows()))
    assert '    the case:\n      {"prompt": "why"}\n    detail:\n      ["d"]\n' in text
    assert "    used:\n      tokens 3\n" in text


def test_what_a_program_wrote_before_it_failed_is_shown_though_nobody_verified_it(
    make: Make,
) -> None:
    case = Case(id="a")
    actual = case.result(output="", stderr="".join(f"line {n}\n" for n in range(30)) + "boom\n")
    found = {"output": VerificationResult.create("differs", False)}
    report = VerifierReport.from_verifier_result(case, 0.0, actual, case.result(output="x"), found)
    record = CaseRecord(id="a", subject="s", outcome=Outcome.FAILED, reports=[report])
    told = rendered(make.run([record]))
    assert "stderr is not verified" in told
    assert "boom" in told
    assert "line 29" in told
    assert "line 3\n" not in told
