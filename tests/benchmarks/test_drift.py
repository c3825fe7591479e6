"""The measurement of drift: every question has a plain test, and what is told is compared."""

from __future__ import annotations

import ast

import pytest
import yaml

from benchmarks.drift.__main__ import HERE, RELEASES, score


@pytest.mark.parametrize("suite", RELEASES)
def test_every_question_has_a_plain_test(suite: str) -> None:
    questions = yaml.safe_load((HERE / f"{suite}.yaml").read_text("utf-8"))["benchmarks"]
    tree = ast.parse((HERE / "facts" / f"test_{suite}.py").read_text("utf-8"))
    tests = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    named = [name for name in tests if name.startswith("test_")]
    assert [f"test_{one['id'].replace('-', '_')}" for one in questions] == named
    assert len(named) >= 10


def test_a_flip_counts_as_confirmed_only_between_the_same_releases() -> None:
    rows = {
        "one": {"1": "Valid", "2": "Incorrect", "3": "Incorrect"},
        "two": {"1": "Valid", "2": "Gone", "3": "Gone"},
        "open": {"1": "Unproven", "2": "Unproven", "3": "Unproven"},
    }
    facts = {
        "1": {"one": True, "two": True, "open": True},
        "2": {"one": False, "two": True, "open": True},
        "3": {"one": False, "two": False, "open": True},
    }
    found = score(rows, facts)
    assert found.confirmed == {("one", "1", "2")}
    assert found.told - found.seen == {("two", "1", "2")}
    assert found.seen - found.told == {("two", "2", "3")}
    assert found.undecided == ("open",)
