"""Every command that prints a result prints it as one JSON object with --json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from assay.cli import cli
from tests.conftest import Command
from tests.runs.making import write_run

ROOT = Path(__file__).parents[2]
# Those without the option, and why.
WITHOUT = {
    "questions schema": "it is a JSON object already",
    "submissions schema": "it is a JSON object already",
    "agents schema": "it is a JSON object already",
    "submissions run-case": "it is JSON already, the array of the reference program",
    "submissions test": "its output is that of pytest",
    "completion": "it is a script",
}
SUITE = """\
target: current
benchmarks:
  - id: one
    question: Which parameter of `Field` names an alias that is used for validation only?
    options: {A: validation_alias, B: input_alias}
    correct_answer: A
"""
EVALUATION = (
    "import assay\nfirst = assay.Evaluation([('a', 'a'), ('b', 'c')], str, check='exact')\n"
)
BOT = {
    "agent": "bot:answer",
    "connections": "python",
    "interactions": [{"text": "where?", "response": {"text": {"keywords": "Lyon"}}}],
}
PROOF = '''\
"""Option A: `Field` takes `validation_alias`."""

import inspect

import pydantic

DISPUTED = "validation_alias"


def test_option_A_holds():
    assert DISPUTED in inspect.signature(pydantic.Field).parameters


def test_option_A_fails():
    assert DISPUTED not in inspect.signature(pydantic.Field).parameters
'''


def commands(command: click.Command = cli, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path.strip(), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from commands(below, f"{path} {name}")


ALL = dict(commands())


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_the_option_or_a_reason(name: str) -> None:
    options = [option for one in ALL[name].params for option in one.opts]
    assert ("--json" in options) != (name in WITHOUT)


# What is run of each command, with the keys its object must have; in this order.
RUN: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "init": (("init", "project"), {"wrote", "left"}),
    "run": (("run", "first.py", "--out", "first"), {"version", "totals", "cases"}),
    "runs list": (("runs", "list"), {"runs"}),
    "runs show": (("runs", "show", "first"), {"totals", "cases"}),
    "report": (("report", "first"), {"totals", "cases"}),
    "runs resume": (("runs", "resume", "first"), {"totals", "cases"}),
    "runs compare": (("runs", "compare", "first", "first"), {"counts", "rates", "changes"}),
    "runs trend": (("runs", "trend", "first.py"), {"title", "trends"}),
    "runs merge": (("runs", "merge", "other", "another"), {"totals", "cases"}),
    "runs export": (("runs", "export", "first", "first.zip"), {"file", "files", "left_out"}),
    "runs import": (("runs", "import", "first.zip", "--out", "copy"), {"run", "path"}),
    "runs prune": (("runs", "prune", "--keep", "9"), {"deleted", "left", "kept", "dry_run"}),
    "checks": (("checks",), {"checks"}),
    "plugins": (("plugins",), {"plugins"}),
    "targets list": (("targets", "list"), {"targets"}),
    "targets verify": (("targets", "verify"), {"targets"}),
    "doctor": (("doctor",), {"healthy", "level", "layers", "self_checks"}),
    "submissions new": (("submissions", "new", "demo"), {"wrote", "next"}),
    "agents new": (("agents", "new", "bot"), {"wrote", "next"}),
    "questions new": (("questions", "new", "quiz"), {"wrote", "next"}),
    "submissions alias": (("submissions", "alias", "--to", "here"), {"wrote"}),
    "submissions lint": (("submissions", "lint", "demo"), {"findings"}),
    "submissions verify": (
        ("submissions", "verify", "-p", "demo", "-s", "demo/checkpoint_1/solution"),
        {"totals", "cases"},
    ),
    "submissions audit": (("submissions", "audit", "-p", "demo", "-g", "core"), {"findings"}),
    "agents lint": (("agents", "lint", "bot.json"), {"findings"}),
    "agents verify": (("agents", "verify", "bot.json"), {"totals", "cases"}),
    "agents assess": (("agents", "assess", "bot.json"), {"tests"}),
    "questions lint": (("questions", "lint", "suite.yaml"), {"findings"}),
    "questions claim": (
        ("questions", "claim", "suite.yaml::one"), {"case", "claims"}
    ),
    "questions explain": (
        ("questions", "explain", "suite.yaml::one"),
        {"case", "explanation"},
    ),
    "questions show": (
        ("questions", "show", "suite.yaml::one"), {"id", "outcome"}
    ),
    "questions prove": (
        ("questions", "prove", "suite.yaml::one", "--option", "A",
         "--file", "test_proof.py"),
        {"option", "truth", "folder"},
    ),
    "questions verify": (
        ("questions", "verify", "suite.yaml"), {"totals", "cases"}
    ),
}  # fmt: skip
# These are run by other tests: they need a model, releases, a Valid question or an own cache.
ELSEWHERE = {
    "environments list": "tests/containers/test_commands.py",
    "environments pull": "tests/containers/test_commands.py",
    "environments remove": "tests/containers/test_commands.py",
    "models check": "tests/cli/test_models.py",
    "questions calibrate": "tests/e2e/test_calibrate.py",
    "questions drift": "tests/questions/test_drift_run.py",
    "targets build": "tests/cli/test_targets.py",
    "targets remove": "tests/cli/test_targets.py",
    "view": "tests/view/test_bundle.py",
}


def test_every_command_with_the_option_is_run() -> None:
    assert set(RUN) | set(ELSEWHERE) | set(WITHOUT) == set(ALL)
    for name, file in ELSEWHERE.items():
        assert "--json" in (ROOT / file).read_text(), name


def test_each_prints_one_object_and_nothing_else(
    assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "first.py").write_text(EVALUATION)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "test_proof.py").write_text(PROOF)
    (tmp_path / "bot.py").write_text("def answer(text):\n    return 'Lyon'\n")
    (tmp_path / "bot.json").write_text(json.dumps(BOT))
    write_run(tmp_path / "other", {"z": "P"})
    write_run(tmp_path / "another", {"y": "P"})
    for name, (words, keys) in RUN.items():
        with monkeypatch.context() as patch:
            if name.startswith("targets"):
                # What this machine's own cache holds is not the matter here.
                patch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
            found = assay(*words, "--json")
        assert found.returncode in (0, 1), (name, found)
        values: Any = json.loads(found.stdout)
        assert isinstance(values, dict), name
        assert keys <= set(values), (name, list(values))


def test_one_case_and_one_check_are_objects_too(assay: Command, tmp_path: Path) -> None:
    write_run(tmp_path / "run", {"a": "F"})
    case = json.loads(assay("runs", "show", "run", "a", "--json", check=True).stdout)
    assert (case["id"], case["outcome"], case["known"]) == ("a", "failed", False)
    found = json.loads(assay("checks", "number", "--json", check=True).stdout)
    assert [one["name"] for one in found["checks"]] == ["number"]
    assert "options" in found["checks"][0]
