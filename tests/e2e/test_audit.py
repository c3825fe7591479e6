"""`assay submissions audit` through the real command, on good problems and on a weak one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.submissions.support import write_files

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "submissions"
# Programmed problems in the reference's format.
FOLDERS = Path(__file__).parent.parent / "submissions" / "problem_folders"


def findings(printed: str) -> dict[str, set[tuple[str, str]]]:
    """Code and subject of each finding, by group."""
    found: dict[str, set[tuple[str, str]]] = {}
    for one in json.loads(printed)["findings"]:
        group = one["group"].partition("/")[2]
        found.setdefault(group, set()).add((one["code"], one["subject"]))
    return found


@pytest.mark.parametrize(
    "problem", [EXAMPLES / "ledger", EXAMPLES / "todo_api", FOLDERS / "notes_api"]
)
def test_nothing_is_said_against_good_problems(assay: Command, problem: Path) -> None:
    printed = assay("submissions", "audit", "-p", problem)
    assert printed.returncode == 0, printed.stdout + printed.stderr
    assert "no findings" in printed.stdout.splitlines()[-1]
    # What a problem's own code logs is there, and nothing of Assay's.
    assert "assay:" not in printed.stderr


def test_what_is_really_wrong_with_a_problem_nobody_meant_to_be_weak(assay: Command) -> None:
    """Its verifier drops titles that its cases expect, and stumbles over files that are cut off."""
    printed = assay("submissions", "audit", "-p", FOLDERS / "ledger", "-c", "2", "--json")
    titles = {
        ("unread-expectation", f"files-out.{kind}.title") for kind in ("csv", "jsonl", "yaml")
    }
    # Not the workflow's: YAML that is cut off fails its comparison since `parse_yaml` no longer
    # raises on it, as in the reference.
    assert findings(printed.stdout) == {"exports": {*titles, ("verifier-breaks", "")}}


@pytest.mark.parametrize("more", [(), ("--api",)])
def test_nothing_is_said_against_a_new_problem(
    assay: Command, more: tuple[str, ...], tmp_path: Path
) -> None:
    assay("submissions", "new", "fresh", *more, check=True)
    printed = assay("submissions", "audit", "-p", "fresh", "--json")
    assert printed.returncode == 0, printed.stdout + printed.stderr
    about: dict[str, Any] = json.loads(printed.stdout)
    assert about["findings"] == []
    for group in about["groups"]:
        assert group["right_twice"] == group["cases"] > 0
        assert group["do_nothing_passed"] == 0
        assert group["score"] >= 0.5


def test_every_defect_planted_in_the_weak_example_is_found(assay: Command) -> None:
    printed = assay("submissions", "audit", "-p", EXAMPLES / "weak", "--json")
    assert printed.returncode == 1, printed.stdout + printed.stderr
    found = findings(printed.stdout)
    assert "sound" not in found
    assert ("never-fails", "output") in found["never_fails"]
    assert found["featherweight"] == {("invisible-weight", "output")}
    assert {
        ("compares-nothing", "file-counts.json"),
        ("misspelt-key", "file-counts.json"),
        ("unread-expectation", "files-counts.json.words"),
    } <= found["misnamed_key"]
    assert found["forgotten"] == {("unread-expectation", "stderr")}
    assert ("flaky", "") in found["flaky"]
    assert {code for code, _ in found["flaky"]} <= {"flaky", "reference-fails"}
    assert found["for_nothing"] == {("do-nothing-passes", "")}


def test_a_verifier_that_raises_on_wrong_output_is_told_with_its_line(
    assay: Command, tmp_path: Path
) -> None:
    shutil.copytree(EXAMPLES / "weak", tmp_path / "brittle")
    verifier = tmp_path / "brittle" / "verifier.py"
    written = verifier.read_text(encoding="utf-8")
    verifier.write_text(written.replace("except ValueError:", "except ZeroDivisionError:"))
    printed = assay("submissions", "audit", "-p", "brittle", "-g", "sound", "--json")
    assert printed.returncode == 1, printed.stdout + printed.stderr
    (finding,) = json.loads(printed.stdout)["findings"]
    assert finding["code"] == "verifier-breaks"
    assert finding["cases"]["two"].startswith("doing nothing: ")
    assert "JSONDecodeError" in finding["cases"]["two"]
    assert "output was ''" in finding["cases"]["two"]
    (group,) = json.loads(printed.stdout)["groups"]
    told = [one for one in group["unreadable"] if one["case"] == "two"]
    assert (told[0]["what"], told[0]["attribute"], told[0]["value"]) == (
        "doing nothing", "output", "",
    )  # fmt: skip
    assert all("verifier.py:" in one["error"] for one in told)


NULLABLE = {
    "config.yaml": "entry_file: main\ncheckpoints: {checkpoint_1: {groups: [core]}}\n",
    "loader.py": """
from slop_code.evaluation.adapters import CLICase, CLIResult
from slop_code.evaluation.loaders import BaseLoader

SCHEMA = {
    "type": "object",
    "required": ["name", "parent"],
    "properties": {"name": {"type": "string"}, "parent": {"type": ["string", "null"]}},
}

class Loader(BaseLoader):
    def __call__(self, group, store):
        about = {"id": "one", "group": group.name, "group_type": group.type}
        yield CLICase(**about), CLIResult(**about, status_code=0, shape=SCHEMA)
""",
    "verifier.py": """
import jsonschema
from slop_code.evaluation.verifiers import VerificationResult, parsers, verifiers

class Verifier:
    def __init__(self, checkpoint_config):
        pass

    def __call__(self, group_name, case_name, actual, expected):
        try:
            jsonschema.Draft7Validator(expected.shape).validate(parsers.parse_json(actual.output))
            is_valid = True
        except Exception:
            is_valid = False
        return {
            "output": VerificationResult.create("by schema", is_valid),
            "status_code": verifiers.matches_status_code(actual.status_code, expected.status_code),
        }
""",
    "checkpoint_1/solution/main.py": 'print(\'{"name": "a", "parent": "b"}\')\n',
}


def test_a_field_that_may_be_null_is_not_unread_because_no_trial_was_null(
    assay: Command, tmp_path: Path
) -> None:
    write_files(tmp_path / "nullable", NULLABLE)
    printed = assay("submissions", "audit", "-p", "nullable", "--json")
    assert findings(printed.stdout) == {}, printed.stdout + printed.stderr
    assert printed.returncode == 0


def test_a_wrong_solution_is_no_reference(assay: Command) -> None:
    assay("submissions", "new", "fresh", check=True)
    words = ("-p", "fresh", "-s", "fresh/checkpoint_1/broken")
    printed = assay("submissions", "audit", *words)
    assert printed.returncode == 1
    assert "reference-fails in checkpoint_1/core" in printed.stdout


def test_findings_that_are_meant_can_be_left_out(assay: Command) -> None:
    words = ("submissions", "audit", "-p", EXAMPLES / "weak", "-g", "for_nothing")
    assert assay(*words).returncode == 1
    left = assay(*words, "--ignore", "do-nothing-passes=*/no-words")
    assert (left.returncode, left.stdout.splitlines()[-1]) == (
        0,
        "weak: 1 case, mutation score 100.0%, no findings",
    )


@pytest.mark.real_start
def test_a_score_can_be_demanded(assay: Command) -> None:
    assay("submissions", "new", "fresh", check=True)
    printed = assay("submissions", "audit", "-p", "fresh", "-g", "errors", "--min-score", "1")
    assert printed.returncode == 1
    assert "low-score in checkpoint_1/errors" in printed.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--case", "nothing-like-it"), "no case matches 'nothing-like-it'"),
        (("-g", "cor"), "did you mean 'core'?"),
        (("-c", "7"), "no checkpoint '7'"),
        (("--ignore", "never-fail"), "did you mean 'never-fails'?"),
    ],
)
def test_what_is_not_there_cannot_be_audited(
    assay: Command, words: tuple[str, ...], said: str
) -> None:
    assay("submissions", "new", "fresh", check=True)
    printed = assay("submissions", "audit", "-p", "fresh", *words)
    assert (printed.returncode, printed.stdout) == (2, "")
    assert said in printed.stderr


def test_without_a_reference_there_is_no_audit(assay: Command, tmp_path: Path) -> None:
    assay("submissions", "new", "fresh", check=True)
    shutil.rmtree(tmp_path / "fresh" / "checkpoint_1" / "solution")
    printed = assay("submissions", "audit", "-p", "fresh")
    assert printed.returncode == 2
    assert "the checkpoint has no reference solution" in printed.stderr
