"""A package from outside adds one of each kind of plugin, and the real command uses them."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from assay import plugins
from assay.errors import InputError
from tests.conftest import Command

EXAMPLE = Path(__file__).parent / "example"


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the example package where Python finds it, here and in the command."""
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLE))


def test_the_command_lists_what_is_installed_and_names_what_is_broken(assay: Command) -> None:
    listed = assay("plugins")
    assert listed.returncode == 1
    assert "assay-example 1.0" in listed.stdout
    assert "the check 'broken' cannot be imported: ModuleNotFoundError" in listed.stdout
    found = json.loads(assay("plugins", "--json").stdout)["plugins"]
    assert {one["kind"] for one in found} == set(plugins.KINDS)
    assert [one["name"] for one in found if one["problem"]] == ["broken"]


def test_a_check_and_a_report_and_an_engine(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(
        "import assay\n"
        "cases = [('Anna', False), ('otto', True)]\n"
        "evaluation = assay.Evaluation(cases, str, check='palindrome')\n"
    )
    result = assay("run", "words.py", "--engine", "counting", "--report", "names=names.txt")
    assert result.returncode == 0, result.stderr
    assert "counting engine: evaluation" in result.stderr
    assert (tmp_path / "names.txt").read_text() == "Anna\notto\n"
    assert assay("report", "latest", "--format", "names").stdout == "Anna\notto\n"
    assert "palindrome" in assay("checks").stdout


def test_lint_rules_of_every_subject(assay: Command, tmp_path: Path) -> None:
    question = {"id": "a", "question": "Why?", "options": {"A": "x", "B": "y"}}
    suite = {"benchmarks": [{**question, "correct_answer": "A"}]}
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    (tmp_path / "test.hocon").write_text(
        "agent: a, interactions: [{text: hi, response.text.keywords: b}]"
    )
    assert assay("submissions", "new", "problem").returncode == 0
    linted = assay("questions", "lint", "suite.json")
    assert (linted.returncode, "warning: short-question" in linted.stdout) == (1, True)
    assert assay("questions", "lint", "suite.json", "--ignore", "short-question").returncode == 0
    assert "note: no-greeting" in assay("agents", "lint", "test.hocon").stdout
    assert "note: no-readme" in assay("submissions", "lint", "problem").stdout


def test_a_connection(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "test.hocon").write_text(
        "agent: bird, connections: parrot\n"
        'interactions: [{text: hello, response.text.value: "hello! hello!"}]'
    )
    result = assay("agents", "verify", "test.hocon")
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_prover_is_asked_after_our_own() -> None:
    from assay.questions.provers import load_provers

    assert [one.name for one in load_provers()][-1] == "nobody"


def test_what_cannot_be_imported_costs_only_what_asks_for_it(
    assay: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(InputError, match=r"assay-example 1\.0"):
        plugins.find("checks", "broken")
    with caplog.at_level(logging.WARNING, "assay"):
        assert list(plugins.load_all("checks")) == ["palindrome"]
        assert list(plugins.load_all("checks")) == ["palindrome"]
    assert len(caplog.records) <= 1
    (tmp_path / "words.py").write_text(
        "import assay\nevaluation = assay.Evaluation([('a', 'a')], str, check='exact')\n"
    )
    assert assay("run", "words.py", "--quiet").returncode == 0


def test_an_unknown_engine_is_named_with_the_nearest(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(
        "import assay\nevaluation = assay.Evaluation([('a', 'a')], str, check='exact')\n"
    )
    result = assay("run", "words.py", "--engine", "countin")
    assert (result.returncode, "did you mean 'counting'?" in result.stderr) == (2, True)
    assert not (tmp_path / ".assay").exists()
