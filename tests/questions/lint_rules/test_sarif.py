"""Findings of lint reach SARIF with their rule, level and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.questions.lint_rules import RULES, lint_suites
from tests.questions.suite_support import choice, suite_of


def test_each_finding_is_on_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = suite_of(tmp_path, choice(correct_answer="E"), choice())
    monkeypatch.chdir(tmp_path)
    run = json.loads(lint_suites([suite]).report("sarif"))["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(RULES)
    shown = [
        (
            result["ruleId"],
            result["level"],
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            result["locations"][0]["physicalLocation"]["region"]["startLine"],
        )
        for result in run["results"]
    ]
    assert shown == [
        ("key-not-an-option", "error", "suite.json", 11),
        ("duplicate-id", "error", "suite.json", 14),
    ]
    assert run["results"][0]["message"]["text"].endswith("name the letter of one of the options")
