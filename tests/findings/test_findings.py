"""Findings are one thing for all subjects: severities, exit codes, formats and baselines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import agents, questions, submissions
from assay.cli.lint import FORMATS as OFFERED
from assay.documents import Place
from assay.errors import InputError
from assay.findings import FORMATS, UNREADABLE, Baseline, Finding, Findings, Rule, Rules
from tests.conftest import Command

_QUESTION = {"id": "a", "question": "?", "options": {"A": "x", "B": "y"}, "correct_answer": "C"}
WRONG_SUITE = json.dumps({"benchmarks": [_QUESTION]})
WRONG_TEST = "agent: a, interactions: [{text: hi, response.text {keyword: b}}]"
WRONG_PROBLEM = "entry_file: main\ntypo: 1\ncheckpoints: {one: {groups: [a]}}\n"


def finding(code: str = "bad-thing", line: int = 3, **more: Any) -> Finding:
    return Finding(code, "bad", Place(Path("a.yaml"), line), **more)


@pytest.fixture
def wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[Any, str]]:
    """Return the lint function of every subject with something that it finds fault with."""
    monkeypatch.chdir(tmp_path)
    Path("suite.json").write_text(WRONG_SUITE)
    Path("test.hocon").write_text(WRONG_TEST)
    Path("problem/one").mkdir(parents=True)
    Path("problem/config.yaml").write_text(WRONG_PROBLEM)
    Path("problem/one/a.yaml").write_text("cases: {c: {arguments: x, expected: {output: y}}}\n")
    return {
        "questions": (questions.lint, "suite.json"),
        "submissions": (submissions.lint, "problem"),
        "agents": (agents.lint, "test.hocon"),
    }


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ([], 0),
        ([finding(severity="note")], 0),
        ([finding(severity="warning")], 1),
        ([finding()], 1),
        ([finding(), finding(UNREADABLE)], 2),
        # The last of two keys is used: the file was read.
        ([finding(UNREADABLE, severity="warning")], 1),
    ],
)
def test_what_cannot_be_read_is_2_and_other_findings_but_notes_are_1(
    found: list[Finding], code: int
) -> None:
    assert Findings.of(found, {}).exit_code == code


def test_every_subject_gives_findings_with_rules_in_every_format(
    wrong: dict[str, tuple[Any, str]],
) -> None:
    for name, (lint, path) in wrong.items():
        findings = lint(path)
        assert findings.exit_code == 1, name
        assert all(one.code in findings.rules for one in findings), name
        assert json.loads(findings.report("json"))["findings"][0]["severity"] == "error"
        assert json.loads(findings.report("sarif"))["runs"][0]["results"]
        assert findings.report("github").startswith("::error file=")
        assert findings[0].code in findings._repr_html_()
        codes = {one.code for one in findings}
        assert not lint(path, ignore=codes)
        with pytest.raises(InputError, match="unknown lint code"):
            lint(path, ignore=["no-such-code"])


def test_the_command_offers_every_format_and_its_exit_code_is_that_of_the_findings(
    assay: Command, wrong: dict[str, tuple[Any, str]]
) -> None:
    assert OFFERED == FORMATS
    for name, (lint, path) in wrong.items():
        result = assay(name, "lint", path, "--format", "github")
        assert (result.returncode, result.stdout) == (1, lint(path).report("github"))


def test_annotations_reach_the_log_of_github_and_text_of_files_makes_none(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    suite = json.loads(WRONG_SUITE)
    suite["benchmarks"][0]["correct_answer"] = "\n::set-output name=x::y"
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    result = assay("questions", "lint", "suite.json", "--format", "github")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("::error file=suite.json,line=1,title=key-not-an-option::")
    assert not any(line.startswith("::set-output") for line in lines)


def test_a_baseline_accepts_what_is_known_also_when_its_line_moves(
    assay: Command, wrong: dict[str, tuple[Any, str]]
) -> None:
    for name, (_, path) in wrong.items():
        written = assay(name, "lint", path, "--write-baseline", "known.json")
        assert written.returncode == 0, written.stdout
        assert written.stdout.endswith("accepted by the baseline)\n")
        file = Path("problem/config.yaml") if name == "submissions" else Path(path)
        file.write_text("\n" + file.read_text())
        again = assay(name, "lint", path, "--baseline", "known.json")
        assert again.returncode == 0, again.stdout


def test_a_baseline_never_accepts_what_cannot_be_read() -> None:
    findings = Findings.of([finding(), finding(UNREADABLE)], {})
    assert [one.code for one in findings.accept(Baseline.of(findings))] == [UNREADABLE]


def test_a_rule_gives_its_severity_to_what_its_check_finds() -> None:
    rules: Rules[str] = Rules(Rule("read", "error", "Read", "Read."))
    rules.rule("word", "warning", "A word", "Remove it.")(lambda text: [finding("word")] * 2)
    assert [(one.code, one.severity) for one in rules.apply("text")] == [("word", "warning")] * 2
    assert len(Findings.of(rules.apply("text"), rules)) == 1
    with pytest.raises(ValueError, match="registered already"):
        rules.add(Rule("word", "note", "", ""))


@given(st.text(), st.text(), st.text(min_size=1))
def test_an_annotation_is_one_line_whatever_it_says(message: str, advice: str, name: str) -> None:
    one = Finding("bad-thing", message, Place(Path(name), 1), advice)
    text = Findings.of([one], {}).report("github")
    assert len(text.splitlines()) == 2
    properties = text[len("::error ") :].partition("::")[0]
    assert properties.count(",") == 2
