"""Names that are almost those of a field are refused, wherever an author can write one.

The class of mistakes: a name that nobody reads, beside a default that is read in its place.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from assay.errors import InputError
from assay.submissions.cases import APIResult
from assay.submissions.config import ApiAdapter
from assay.submissions.environments import EnvironmentFile, load_environment
from assay.submissions.lint_rules import lint_problems
from assay.submissions.misspelling import names_read, near_miss
from assay.submissions.problems import read_problem
from assay.submissions.problems.written import (
    RegressionRule,
    WrittenCheckpoint,
    WrittenGroup,
    WrittenProblem,
)
from tests.conftest import Command
from tests.submissions.python_problems.support import LOADER, VERIFIER
from tests.submissions.support import write_files

CONFIG = """
name: small
entry_file: main.py
adapter:
  type: api
  health_path: /
checkpoints:
  one:
    timeout: 5
    groups:
      core: {type: Core}
  two:
    groups:
      more: {type: Core}
    regressions:
    - checkpoints: [one]
"""
CLI = CONFIG.replace("  type: api\n  health_path: /\n", "  type: cli\n")


def programmed(folder: Path, **changed: str) -> Path:
    files = {"config.yaml": CONFIG, "loader.py": LOADER, "verifier.py": VERIFIER}
    return write_files(folder, {**files, "one/spec.md": "", "two/spec.md": "", **changed})


@pytest.mark.parametrize(
    ("line", "changed", "near", "number"),
    [
        ("core: {type: Core}", "core: {type: Core, isolatd: false}", "isolated", 10),
        ("core: {type: Core}", "core: {type: Core, case_ordr: []}", "case_order", 10),
        ("timeout: 5", "timout: 5", "timeout", 8),
        ("timeout: 5", "constant_file: [a]", "constant_files", 8),
        ("health_path: /", "healthpath: /", "health_path", 5),
        ("health_path: /", "tracked_file: [a]", "tracked_files", 5),
        ("health_path: /", "healthPath: /", "health_path", 5),
        ("entry_file: main.py", "entry_file: main.py\nstatic_asset: {a: b}", "static_assets", 3),
        ("name: small", "name: small\nloader-entrypoint: L", "loader_entrypoint", 2),
        ("- checkpoints: [one]", "- checkpoints: [one]\n      group: [core]", "groups", 16),
    ],
)
def test_keys_of_problems_with_a_loader_that_are_almost_real_are_refused(
    tmp_path: Path, line: str, changed: str, near: str, number: int
) -> None:
    assert line in CONFIG
    folder = programmed(tmp_path, **{"config.yaml": CONFIG.replace(line, changed)})
    with pytest.raises(InputError, match=f"did you mean '{near}'") as caught:
        read_problem(folder)
    assert caught.value.where == f"{folder / 'config.yaml'}:{number}"


def test_every_key_with_a_slip_is_refused_and_none_is_a_slip_of_another() -> None:
    models: list[type[Any]] = [
        RegressionRule, WrittenGroup, WrittenCheckpoint, WrittenProblem, ApiAdapter, APIResult,
    ]  # fmt: skip
    for model in models:
        for name in model.model_fields:
            others = set(model.model_fields) - {name}
            # Two keys so near to each other that one might be taken for the other's misspelling
            # are no mistake as long as both are known.
            if len(name) < 4 or near_miss(name, others):
                continue
            slips = {name[:-1], f"{name}{name[-1]}", name.upper(), name[0] + name[2:]}
            swapped = f"{name[0]}{name[2]}{name[1]}{name[3:]}"
            for slip in (slips | {swapped, name.replace("_", "-")}) - set(model.model_fields):
                assert near_miss(slip, model.model_fields), (model, slip)


@pytest.mark.parametrize(
    "words", ["fields numbers tolerance max_execution_time weird", "loader inspiration design_doc"]
)
def test_words_of_authors_and_of_the_reference_are_no_slips(words: str) -> None:
    for model in (APIResult, WrittenGroup, WrittenCheckpoint, WrittenProblem):
        for word in words.split():
            assert near_miss(word, model.model_fields) is None


def test_keys_that_are_near_to_none_load_and_lint_says_that_nobody_reads_them(
    tmp_path: Path,
) -> None:
    text = CLI.replace("timeout: 5", "tolerance: 0.5\n    colour: red").replace(
        "name: small", "name: small\nauthors: [Ada]\nloader: {type: script}"
    )
    verifier = VERIFIER.replace("diff =", "self.config.get('tolerance', 1); diff =")
    folder = programmed(tmp_path, **{"config.yaml": text, "verifier.py": verifier})
    assert read_problem(folder).checkpoints["one"].get("colour") == "red"
    found = [(one.code, one.severity, one.place.line) for one in lint_problems([folder])]
    # `tolerance` is read, `loader` is one of the reference's; `authors` changes nothing.
    assert found == [("unknown-key", "warning", 2), ("unknown-key", "warning", 10)]


def test_a_near_key_that_the_problems_code_reads_is_meant(tmp_path: Path) -> None:
    verifier = VERIFIER.replace("diff =", "limit = self.config.timeouts; diff =")
    text = CLI.replace("timeout: 5", "timeouts: [5, 6]")
    folder = programmed(tmp_path, **{"config.yaml": text, "verifier.py": verifier})
    assert read_problem(folder).checkpoints["one"].get("timeouts") == [5, 6]


def test_only_what_is_read_counts_as_read(tmp_path: Path) -> None:
    text = "CLIResult(given=data['key'])\nx.written = 1\nx.read.deep\nhasattr(x, 'asked')\n"
    write_files(tmp_path, {"a.py": text + "m.get('k')\n", "broken.py": "x = ("})
    assert names_read(tmp_path) == {"read", "deep", "get", "asked"}
    assert names_read(tmp_path, in_mappings=True) == {"read", "deep", "get", "asked", "k", "key"}


SUBMISSION = "import sys\nprint(sys.argv[1], end='')\n"
STATUS = VERIFIER.replace(
    "return {",
    "is_same = actual.status_code == expected.status_code\n"
    "            return {'status_code': VerificationResult.create('', is_same), ",
)


def run_cases(assay: Command, folder: Path, **changed: str) -> Any:
    programmed(folder / "small", **{"config.yaml": CLI, "verifier.py": STATUS, **changed})
    write_files(folder / "made", {"main.py": SUBMISSION})
    return assay(
        "submissions", "run-case", "-s", folder / "made", "-p", folder / "small", "-c", "1"
    )


def told(done: subprocess.CompletedProcess[str]) -> str:
    """Return the reason of the record: a mistake of the loader costs its group, not the run."""
    (record,) = json.loads(done.stdout)
    assert record["outcome"] == "error"
    return str(record["error"])


@pytest.mark.parametrize(
    ("field", "near"),
    [
        ("statuscode=3", "status_code"),
        ("status_cod=3", "status_code"),
        ("exit_code=3", "status_code"),
        ("outputs='x'", "output"),
        ("std_err='x'", "stderr"),
        ("file={'a': 'x'}", "files"),
    ],
)
def test_a_misspelt_field_of_what_is_expected_is_refused_with_its_line(
    tmp_path: Path, assay: Command, field: str, near: str
) -> None:
    loader = LOADER.replace("output=str(number))", f"output=str(number), {field})")
    done = run_cases(assay, tmp_path, **{"loader.py": loader})
    assert done.returncode == 2, done.stdout + done.stderr
    name = field.partition("=")[0]
    assert (
        f"loader.py:10: what the loader expects of the case 'case_0' has a field `{name}`"
        in told(done)
    )
    assert f"did you mean '{near}'?" in told(done)


def test_lint_finds_misspelt_fields_of_results_and_runs_nothing(tmp_path: Path) -> None:
    field = "execution_time=1, statuscode=3, numbers=[1],\n outputs=[])"
    loader = "raise RuntimeError\n" + dedent(LOADER).replace("output=str(number))", field)
    verifier = VERIFIER.replace("diff =", "expected.outputs; diff =")
    folder = programmed(tmp_path, **{"config.yaml": CLI, "loader.py": loader})
    found = [
        f"{one.place.file.name}:{one.place.line} {one.advice}" for one in lint_problems([folder])
    ]
    assert [one.partition("?")[0] for one in found] == [
        "loader.py:12 did you mean 'status_code'",
        "loader.py:13 did you mean 'output'",
    ]
    (folder / "verifier.py").write_text(dedent(verifier))
    assert [one.place.line for one in lint_problems([folder])] == [12]


def test_a_misspelt_field_that_is_assigned_or_comes_from_data_is_refused(
    tmp_path: Path, assay: Command
) -> None:
    loader = LOADER.replace(
        "yield (",
        "result = CLIResult(id=name, group=group.name, output=str(number))\n"
        "                result.statuscode = 3\n                yield (",
    ).replace("CLIResult(id=name, group=group.name, output=str(number)),", "result,")
    done = run_cases(assay, tmp_path / "assigned", **{"loader.py": loader})
    assert (done.returncode, "did you mean 'status_code'?" in told(done)) == (2, True), told(done)
    loader = LOADER.replace("output=str(number))", "**__import__('json').loads(DATA))") + (
        '\n    DATA = \'{"output": "0", "status\\u0063ode": 3}\'\n'
    )
    done = run_cases(assay, tmp_path / "data", **{"loader.py": loader})
    assert (done.returncode, "`statuscode`" in told(done)) == (2, True), told(done)
    assert "loader.py" in told(done)


def test_fields_of_an_authors_own_stay_possible(tmp_path: Path, assay: Command) -> None:
    loader = LOADER.replace(
        "output=str(number))", "output=str(number), numbers=[1], outputs=['a'])"
    )
    verifier = VERIFIER.replace(
        "diff =", "assert expected.numbers == [1] and expected.outputs; diff ="
    )
    done = run_cases(assay, tmp_path, **{"loader.py": loader, "verifier.py": verifier})
    assert done.returncode == 0, done.stderr
    assert [each["passed"] for each in json.loads(done.stdout)] == [True] * 3


def test_a_misspelt_field_of_a_case_is_a_warning_because_the_reference_runs_it(
    tmp_path: Path, assay: Command
) -> None:
    loader = LOADER.replace("arguments=[str(number)]", "arguments=[str(number)], timeout=3")
    done = run_cases(assay, tmp_path, **{"loader.py": loader})
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning: ") == 1
    assert "loader.py:9: the case 'case_0' has a field `timeout`" in done.stderr
    assert "did you mean 'timeout_s'?" in done.stderr


@pytest.mark.parametrize(
    ("text", "near", "line"),
    [
        ("name: x\ncomands: {command: python}\n", "commands", 2),
        ("environment:\n  include_os_envs: true\n", "include_os_env", 2),
        ("setup:\n  command: [make]\n", "commands", 2),
        ("snapshot:\n  keep_glob: [a]\n", "keep_globs", 2),
    ],
)
def test_keys_of_an_environment_that_are_almost_real_are_refused(
    tmp_path: Path, text: str, near: str, line: int
) -> None:
    file = tmp_path / "environment.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=f"did you mean '{near}'") as caught:
        load_environment(file)
    assert caught.value.where == f"{file}:{line}"
    file.write_text("type: local\ndocker: {image: x}\nsetup: {resume_commands: [a]}\n")
    assert load_environment(file) == EnvironmentFile()


def test_a_key_that_stands_twice_in_an_environment_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "environment.yaml"
    file.write_text("name: a\nname: b\n")
    warned: list[str] = []
    found = load_environment(file, lambda one: warned.append(f"{one.place}: {one.advice}"))
    assert (found.name, warned) == ("b", [f"{file}:2: the last one is used"])
