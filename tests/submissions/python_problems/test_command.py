"""What the real command makes of verifiers that break."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.submissions.python_problems.support import VERIFIER, problem

CONFIG = """
name: small_problem
entry_file: main.py
adapter: cli
checkpoints:
  checkpoint_1:
    groups: {core: {type: Core}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = problem(tmp_path).path
    (folder / "config.yaml").write_text(CONFIG)
    (tmp_path / "main.py").write_text("import sys\nprint(sys.argv[1], end='')\n")
    return folder


def break_verifier(folder: Path, action: str) -> None:
    text = (folder / "verifier.py").read_text()
    changed = text.replace("diff =", f"if case_name == 'case_1': {action}\n        diff =")
    (folder / "verifier.py").write_text(changed)


@pytest.mark.parametrize(
    "action",
    [
        "raise KeyError('gone')",
        "import os; os._exit(1)",
        "import not_there_at_all",
        "return None",
        "expected.no_such_field",
    ],
)
def test_a_mistake_in_a_verifier_spoils_its_case_only_and_is_its_authors(
    folder: Path, assay: Command, action: str
) -> None:
    assert "diff =" in VERIFIER
    break_verifier(folder, action)
    done = assay("submissions", "run-case", "-s", folder.parent, "-p", folder, "-c", "1")
    reports = json.loads(done.stdout)
    assert [(each["id"], each["passed"]) for each in reports] == [
        ("case_0", True),
        ("case_1", False),
        ("case_2", True),
    ]
    assert done.returncode == 2
    assert reports[1]["outcome"] == "error"
    assert reports[1]["results"] == {}
    assert "it gives no judgement of a right result either" in reports[1]["error"]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("import not_there_at_all", "it imports 'not_there_at_all'"),
        ("return None", "verifier.py:9: the verifier returned NoneType, not a mapping"),
        ("raise KeyError('gone')", "verifier.py:9 in __call__"),
    ],
)
def test_a_mistake_in_a_verifier_is_told_with_its_file_and_line(
    folder: Path, assay: Command, action: str, said: str
) -> None:
    break_verifier(folder, action)
    done = assay("submissions", "verify", "-s", folder.parent, "-p", folder, "--out", "run")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "ERROR      checkpoint_1/core/case_1" in done.stdout
    assert said in done.stdout
    assert "verifier.py" in done.stdout
    assert "Mistake: 2 of 3 cases passed" in done.stdout


READING = """
import json, os, time
from slop_code.evaluation.verifiers import VerificationResult

class Verifier:
    def __init__(self, checkpoint_config):
        pass

    def __call__(self, group_name, case_name, actual, expected):
        said = actual.output.strip() if isinstance(actual.output, str) else actual.output
        if said == "leave": os._exit(3)
        if said == "nothing": return None
        if said == "key": return {1: VerificationResult.create("", True)}
        found = json.loads(actual.output)
        return {"output": VerificationResult.create({"found": found}, found == expected.output)}
"""
PRINTED = ["", "<<garbage>>", "[" * 100_000, "leave", "nothing", "key"]


@pytest.fixture
def reading(folder: Path) -> Path:
    """A problem that expects JSON, and a submission that prints whatever its case is called."""
    (folder / "verifier.py").write_text(READING)
    loader = (folder / "loader.py").read_text()
    loader = loader.replace("output=str(number)", "output={'number': number}")
    (folder / "loader.py").write_text(loader.replace("range(3)", f"range({len(PRINTED)})"))
    (folder.parent / "main.py").write_text(f"import sys\nprint({PRINTED!r}[int(sys.argv[1])])\n")
    return folder


def test_nothing_that_a_submission_prints_turns_a_failure_into_an_error(
    reading: Path, assay: Command
) -> None:
    done = assay("submissions", "run-case", "-s", reading.parent, "-p", reading, "-c", "1")
    reports = json.loads(done.stdout)
    assert [each["outcome"] for each in reports] == ["failed"] * len(PRINTED)
    assert done.returncode == 1
    for report in reports:
        (found,) = report["results"].values()
        assert found["diff"].startswith("the verifier could not read this output: ")
        assert "verifier.py" in found["diff"]
    assert "the output: '<<garbage>>\\n'" in reports[1]["results"]["(verifier)"]["diff"]


@pytest.mark.parametrize("policy", ["any-case", "all-cases", "core-cases", "any-core-cases"])
def test_an_output_that_cannot_be_read_has_not_passed_under_any_policy(
    reading: Path, assay: Command, policy: str
) -> None:
    words = ("-s", reading.parent, "-p", reading, "--policy", policy, "--out", "run", "--json")
    done = assay("submissions", "verify", *words)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert {each["code"] for each in told["cases"]} == {"unreadable"}
    evaluation = json.loads((reading.parent / "run" / "evaluation.json").read_text())
    assert len(evaluation["unreadable"]) == len(PRINTED)
    assert evaluation["totals"]["failed"] == len(PRINTED)


COUNTING = """
import re
from slop_code.evaluation.verifiers import VerificationResult

class Verifier:
    def __init__(self, checkpoint_config):
        pass

    def __call__(self, group_name, case_name, actual, expected):
        found = re.search("number ([0-9]+)", actual.output)[1]
        return {"output": VerificationResult.create(found, found == expected.output["number"])}
"""


@pytest.mark.parametrize(
    ("solution", "outcome", "code"),
    [("print('number', sys.argv[1])", "failed", 1), ("print('No.', sys.argv[1])", "error", 2)],
)
def test_the_reference_solution_tells_whose_mistake_it_is_where_the_expected_result_cannot(
    reading: Path, assay: Command, solution: str, outcome: str, code: int
) -> None:
    (reading / "verifier.py").write_text(COUNTING)
    reference = reading / "checkpoint_1" / "solution"
    reference.mkdir()
    (reference / "main.py").write_text(f"import sys\n{solution}\n")
    (reading.parent / "s").mkdir()
    (reading.parent / "s" / "main.py").write_text("print('garbage')\n")
    done = assay("submissions", "run-case", "-s", "s", "-p", reading, "-c", "1")
    assert {each["outcome"] for each in json.loads(done.stdout)} == {outcome}
    assert done.returncode == code


def test_a_failure_beside_a_mistake_is_exit_1(folder: Path, assay: Command) -> None:
    break_verifier(folder, "raise KeyError('gone')")
    (folder.parent / "main.py").write_text("print('wrong')\n")
    done = assay("submissions", "run-case", "-s", folder.parent, "-p", folder, "-c", "1")
    outcomes = [each["outcome"] for each in json.loads(done.stdout)]
    assert (outcomes, done.returncode) == (["failed", "error", "failed"], 1)


def test_a_mistake_in_a_loader_costs_its_group_and_no_other(folder: Path, assay: Command) -> None:
    config = CONFIG.replace("core: {type: Core}", "core: {type: Core}, more: {type: Core}")
    (folder / "config.yaml").write_text(config)
    loader = (folder / "loader.py").read_text()
    doubled = 'name = "same" if group.name == "core" else f"case_{number}"'
    (folder / "loader.py").write_text(loader.replace('name = f"case_{number}"', doubled))
    done = assay("submissions", "run-case", "-s", folder.parent, "-p", folder, "-c", "1")
    told = {each["id"]: each["passed"] for each in json.loads(done.stdout)}
    assert told == {
        "same": True, "checkpoint_1/core/(cases)": False,
        "case_0": True, "case_1": True, "case_2": True,
    }  # fmt: skip
    assert done.returncode == 2
    assert "the loader yielded the case 'same' twice" in done.stdout


def test_a_failed_case_shows_what_is_wrong_and_not_every_attribute(
    folder: Path, assay: Command
) -> None:
    verifier = (folder / "verifier.py").read_text()
    more = '"status_code": VerificationResult.create("", True, 0.5), "output":'
    (folder / "verifier.py").write_text(verifier.replace('"output":', more))
    (folder.parent / "main.py").write_text("import sys\nprint('no', file=sys.stderr)\n")
    words = ("-s", folder.parent, "-p", folder, "-c", "1", "--case", "case_0")
    done = assay("submissions", "run-case", *words)
    (report,) = json.loads(done.stdout)
    assert list(report["results"]) == ["output", "status_code", "stderr"]
    wrong = report["results"]["output"]
    assert (wrong["actual"], wrong["expected"], wrong["is_correct"]) == ("", "0", False)
    assert report["results"]["status_code"] == {
        "attribute": "status_code", "is_correct": True, "weight": 0.5,
    }  # fmt: skip
    assert report["results"]["stderr"] == {"attribute": "stderr", "actual": "no\n"}
    full = json.loads(assay("submissions", "run-case", *words, "--full").stdout)
    assert len(full[0]["results"]) >= 12


def test_a_config_with_a_key_twice_runs_with_the_last_one_and_a_warning(
    folder: Path, assay: Command
) -> None:
    (folder / "config.yaml").write_text(
        CONFIG.replace("adapter: cli", "adapter: api\nadapter: cli")
    )
    for words in (("run-case", "-c", "1"), ("verify", "-q", "--out", folder.parent / "run")):
        done = assay("submissions", *words, "-s", folder.parent, "-p", folder)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("warning: ") == 1
        assert "config.yaml:5: the key `adapter` occurs twice" in done.stderr
        assert "the last one is used" in done.stderr


def test_a_verifier_without_a_loader_is_refused_by_the_command(
    folder: Path, assay: Command
) -> None:
    (folder / "loader.py").unlink()
    (folder / "verifier.py").write_text("raise RuntimeError('never ignored')\n")
    case = "cases: {a: {arguments: [x], expected: {status_code: 0}}}\n"
    (folder / "checkpoint_1" / "core.yaml").write_text(case)
    for words in (("run-case", "-c", "1"), ("verify", "-q"), ("audit",)):
        more = () if words == ("audit",) else ("-s", folder.parent)
        done = assay("submissions", *words, *more, "-p", folder)
        assert (done.returncode, done.stdout) == (2, ""), done.stdout
        assert "verifier.py:1: this file is not used" in done.stderr


def test_a_regression_group_without_an_origin_is_run_from_its_own_checkpoint(
    folder: Path, assay: Command
) -> None:
    found = "helpers.get_group_path(group, self.problem, self.checkpoint).iterdir()"
    text = (folder / "loader.py").read_text()
    text = text.replace("import BaseLoader", "import BaseLoader, helpers")
    text = text.replace("number in range(3)", f"number in (file.read_text() for file in {found})")
    (folder / "loader.py").write_text(text)
    (folder / "config.yaml").write_text(CONFIG.replace("type: Core", "type: Regression"))
    (folder / "checkpoint_1" / "core").mkdir()
    (folder / "checkpoint_1" / "core" / "a.txt").write_text("7")
    done = assay("submissions", "run-case", "-s", folder.parent, "-p", folder, "-c", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [each["id"] for each in json.loads(done.stdout)] == ["case_7"]
