"""Imports of snippets are looked up in the target of a suite, never in Assay's own environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import questions
from assay.findings import Findings
from assay.sandbox import Target
from tests.questions.suite_support import choice, write, write_suite
from tests.sandbox.support import build

SNIPPET = """
from idna import {name}
# --8<-- [start:part]
print(1)
# --8<-- [end:part]
"""


def lint_import(folder: Path, name: str, target: str | None, given: str = "") -> Findings:
    """Lint a suite whose snippet file imports a name of `idna` and does not use it."""
    write(folder / "code.py", SNIPPET.format(name=name))
    keys = {} if target is None else {"target": target}
    question = choice(code_snippet_ref={"file": "code.py", "section": "part"})
    suite = write_suite(folder / "suite.json", question, **keys)
    return questions.lint(suite, target=given) if given else questions.lint(suite)


def codes(found: Findings) -> list[str]:
    return [one.code for one in found]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A target that has a package of the same name as one that Assay uses, and other names."""
    write(tmp_path / "library" / "idna" / "__init__.py", "class OnlyInTheTarget: ...\n")
    write(tmp_path / "library" / "pyproject.toml", '[project]\nname = "x"\nversion = "1"\n')
    return tmp_path


def test_a_name_that_only_the_target_has_is_no_defect(library: Path) -> None:
    assert codes(lint_import(library, "OnlyInTheTarget", "./library")) == []


def test_a_name_that_the_target_lacks_is_a_defect_though_assay_has_it(library: Path) -> None:
    assert codes(lint_import(library, "encode", "./library")) == ["broken-unused-import"]


def test_the_environment_of_assay_counts_only_as_a_target(tmp_path: Path) -> None:
    question = choice(code_snippet_ref={"file": "code.py", "section": "part"})
    suite = write_suite(tmp_path / "suite.json", question, target="current")
    for name, expected in (("no_such_name", ["broken-unused-import"]), ("encode", [])):
        write(tmp_path / "code.py", SNIPPET.format(name=name))
        assert codes(questions.lint(suite)) == expected


@pytest.mark.parametrize("target", ["idna==0.0.1", None])
def test_without_the_target_nothing_is_guessed_and_that_is_told(
    tmp_path: Path, target: str | None
) -> None:
    found = lint_import(tmp_path, "Absent", target)
    assert codes(found) == []
    (note,) = found.skipped
    assert "imports of its snippets were not checked" in note
    assert f"--target {target or 'TARGET'}" in note


def test_a_target_that_is_given_or_built_is_looked_into(tmp_path: Path) -> None:
    build(Target(requirements=("idna==3.7",)))
    write(tmp_path / "code.py", SNIPPET.format(name="no_such_name"))
    question = choice(code_snippet_ref={"file": "code.py", "section": "part"})
    own = write_suite(tmp_path / "own.json", question, target="idna==3.7")
    none = write_suite(tmp_path / "none.json", question)
    for found in (questions.lint(own), questions.lint(none, target="idna==3.7")):
        assert codes(found) == ["broken-unused-import"]
        assert found.skipped == []


def test_a_suite_without_snippets_has_nothing_to_check(tmp_path: Path) -> None:
    assert questions.lint(write_suite(tmp_path / "suite.json", choice())).skipped == []
