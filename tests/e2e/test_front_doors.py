"""The smallest program of every subject: what the README shows, from Python alone."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import assay
from assay.findings import Baseline
from tests.conftest import Command

ROOT = Path(__file__).parents[2]
SUITE = "examples/questions/pydantic.yaml"
LEDGER = "examples/submissions/ledger"


@pytest.fixture(autouse=True)
def _in_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder that has the examples, as somebody who reads the README."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "assay.toml").touch()  # the root of a project, where its agents come from
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] == "examples"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture(name="command")
def _command(assay: Command) -> Command:
    return assay


def test_a_question_suite(command: Command) -> None:
    run = assay.questions.verify(SUITE, case="adapter-*")
    assert (run.passed, run.exit_code) == (False, 1)
    assert "adapter-refusal" in run._repr_html_()
    same = command("questions", "verify", SUITE, "--case", "adapter-*", "--out", "by-command")
    assert same.returncode == run.exit_code
    assert not run.compare("by-command").exit_code()


def test_a_submission() -> None:
    run = assay.submissions.verify(LEDGER, LEDGER)
    assert run.passed, run.report()
    assert (run.path / "evaluation.json").is_file()


def test_an_agent() -> None:
    run = assay.agents.verify("examples/agents/tired_kiosk.hocon", all_samples=True)
    (record,) = run.records()
    assert len(record.reports) == 20


def test_the_modes_in_which_an_agent_fails() -> None:
    found = assay.agents.assess("examples/agents/tired_kiosk.hocon")
    assert found.exit_code == 1
    assert found.tests[0].modes
    assert found.report().startswith("## ")
    with pytest.raises(TypeError, match="conections"):
        assay.agents.verify("examples/agents/tired_kiosk.hocon", conections="http")  # type: ignore[call-arg]


def test_the_grader_of_a_problem() -> None:
    found = assay.submissions.audit("examples/submissions/weak")
    assert (found.passed, found.exit_code) == (False, 1)
    assert "score" in found.report()


def test_a_function() -> None:
    run = assay.evaluate([("hey", "HEY"), ("you", "YOU")], str.upper, check="exact")
    assert run.passed


def test_a_run_is_kept_where_it_is_asked_for_and_a_baseline_is_used(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "ledger.py").write_text("print('nothing')\n")
    first = assay.submissions.verify(broken, LEDGER, checkpoint=1, out=tmp_path / "first")
    assert first.exit_code == 1
    Baseline.of(first.rows()).write(tmp_path / "known.json")
    again = assay.submissions.verify(
        broken, LEDGER, checkpoint=1, out="second", baseline="known.json"
    )
    assert (again.path, again.exit_code) == (Path("second"), 0)


def test_mistakes_are_errors_of_the_input_as_on_the_command_line() -> None:
    with pytest.raises(assay.InputError, match="unknown policy"):
        assay.submissions.verify(LEDGER, LEDGER, policy="most-cases")
    with pytest.raises(assay.InputError):
        assay.questions.verify("no-such-suite.yaml")
    with pytest.raises(assay.InputError):
        assay.agents.verify("no-such-file.hocon")
