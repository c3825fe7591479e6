"""`assay submissions` through the real command: what is printed, kept, resumed and refused."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Command
from tests.waiting import PATIENCE, wait_until

CONFIG = """\
name: sums
entry_file: sums
adapter: {type: cli, tracked_files: ["*.txt"]}
timeout: 20
checkpoints:
  checkpoint_1:
    groups:
      core: {type: Core}
      errors: {type: Error}
      counter: {type: Functionality, isolated: false}
  checkpoint_2:
    groups:
      more: {type: Functionality}
    regressions: {checkpoints: "*"}
"""
CASES = {
    "checkpoint_1/core.yaml": """\
cases:
  small:
    arguments: ["2", "3"]
    expected: {status_code: 0, output: {sum: 5}}
  large:
    arguments: ["40", "2"]
    expected: {status_code: 0, output: {sum: 42}}
""",
    "checkpoint_1/errors.yaml": """\
cases:
  nonsense:
    arguments: ["two", "3"]
    expected: {status_code: 2}
""",
    "checkpoint_1/counter.yaml": """\
cases:
  first:
    arguments: [count]
    expected: {output: "1\\n", files: {count.txt: "1"}}
  second:
    arguments: [count]
    expected: {output: "2\\n"}
""",
    "checkpoint_2/more.yaml": """\
cases:
  negative:
    arguments: ["--", "-1", "1"]
    expected: {output: {sum: 0}}
""",
}
SOLUTION = """\
import json
import pathlib
import sys

arguments = [one for one in sys.argv[1:] if one != "--"]
if arguments == ["count"]:
    file = pathlib.Path("count.txt")
    number = int(file.read_text()) + 1 if file.exists() else 1
    file.write_text(str(number))
    print(number)
else:
    try:
        print(json.dumps({"sum": sum(map(int, arguments))}))
    except ValueError:
        sys.exit(2)
"""
NAMES = {
    "core/small", "core/large", "errors/nonsense", "counter/first", "counter/second",
}  # fmt: skip


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    folder = tmp_path / "problems" / "sums"
    for name, text in {"config.yaml": CONFIG, **CASES}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def submission(tmp_path: Path, source: str = SOLUTION, name: str = "solution") -> Path:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "sums.py").write_text(source)
    return folder


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return submission(tmp_path)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Wrong for large sums only."""
    wrong = SOLUTION.replace('{"sum": sum(', '{"sum": (lambda n: min(n, 10))(sum(')
    return submission(tmp_path, wrong.replace("arguments))}", "arguments)))}"), "broken")


def run_case(assay: Command, folder: Path, *options: str) -> tuple[int, Any]:
    done = assay("submissions", "run-case", "-s", folder, "-p", "sums", "-c", "1", *options)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


@pytest.mark.real_start
def test_run_case_prints_the_array_and_nothing_else(
    assay: Command, problem: Path, good: Path
) -> None:
    code, printed = run_case(assay, good)
    assert code == 0
    assert {f"{one['group']}/{one['id']}" for one in printed} == NAMES
    assert all(one["passed"] and one["score"] == 1.0 for one in printed)
    assert all("results" not in one for one in printed)


def test_results_are_printed_for_what_did_not_pass(
    assay: Command, problem: Path, broken: Path
) -> None:
    code, printed = run_case(assay, broken, "--group", "core")
    assert code == 1
    small, large = printed
    assert small == {"id": "small", "group": "core", "score": 1.0, "passed": True}
    assert (large["passed"], large["score"]) == (False, 0.5)
    assert large["results"]["output"]["is_correct"] is False
    assert large["results"]["status_code"]["is_correct"] is True


def test_full_reports_have_everything(assay: Command, problem: Path, good: Path) -> None:
    code, printed = run_case(assay, good, "--full", "-g", "counter")
    assert code == 0
    first, second = printed
    assert (first["score"], first["passed"], first["type"]) == (1.0, True, "Functionality")
    assert first["results"]["files-count.txt"]["actual"] == "1"
    assert second["results"]["output"]["actual"] == "2\n"


def test_earlier_cases_of_a_group_with_state_run_though_filtered_out(
    assay: Command, problem: Path, good: Path
) -> None:
    code, printed = run_case(assay, good, "--case", "second")
    assert code == 0
    assert [one["id"] for one in printed] == ["second"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--group", "cor"], "did you mean 'core'"),
        (["--case", "smal"], "did you mean 'small'"),
        (["-c", "3"], "no checkpoint '3'"),
        (["-p", "sum"], "sums"),
        (["-s", "nowhere"], "no such folder"),
    ],
)
def test_what_is_not_there_is_exit_2_with_the_nearest(
    assay: Command, problem: Path, good: Path, options: list[str], message: str
) -> None:
    code, told = run_case(assay, good, *options)
    assert code == 2
    assert message in told


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_recipes_of_the_document_work_in_a_shell(problem: Path, broken: Path) -> None:
    recipes = {
        ".[0].results.output.is_correct": "true",
        "[.[].score] | add / length": "0.9",
        ".[1].results | to_entries | .[] | "
        "{attr: .key, weight: .value.weight, correct: .value.is_correct} | "
        "select(.correct == false) | .attr": '"output"',
        '.[3].results | to_entries | .[] | select(.key | startswith("files-")) | .key': (
            '"files-count.txt"'
        ),
    }
    command = f"{sys.executable} -m assay submissions run-case -s {broken} -p sums -c 1 --full"
    readers = "; ".join(f"echo \"$found\" | jq '{recipe}' | head -1" for recipe in recipes)
    done = subprocess.run(
        ["/bin/bash", "-c", f"found=$({command}); {readers}"], cwd=problem.parent.parent,
        capture_output=True, text=True, timeout=PATIENCE, check=True,
    )  # fmt: skip
    assert dict(zip(recipes, done.stdout.splitlines(), strict=True)) == recipes


def verify(assay: Command, folder: Path, out: Path, *options: str) -> Any:
    return assay("submissions", "verify", "-s", folder, "-p", "sums", "--out", out, *options)


@pytest.mark.real_start
def test_verify_keeps_a_run_with_its_evaluation(
    assay: Command, problem: Path, good: Path, tmp_path: Path
) -> None:
    done = verify(assay, good, tmp_path / "run")
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "run" / "evaluation.json").read_text())
    assert told["policy"]["is_met"]
    assert told["types"]["Core"] == {
        "total": 2, "passed": 2, "failed": 0, "unverified": 0, "error": 0,
    }  # fmt: skip
    # Five of the first, one of the second, and the five of the first once more.
    assert told["types"]["Regression"]["total"] == 5
    assert told["totals"]["total"] == 11
    assert (tmp_path / "run" / "reports.parquet").is_file()


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        pytest.param("all-cases", 1, marks=pytest.mark.real_start),
        ("any-case", 0),
        ("all-non-error-cases", 1),
        ("core-cases", 1),
        ("any-core-cases", 0),
        ("all-core-cases", 1),
    ],
)
def test_the_policy_decides_the_exit_code(
    assay: Command, problem: Path, broken: Path, tmp_path: Path, policy: str, code: int
) -> None:
    done = verify(assay, broken, tmp_path / "run", "-c", "1", "--policy", policy)
    assert done.returncode == code, done.stderr
    again = assay("report", tmp_path / "run", "--format", "json")
    assert json.loads(again.stdout)["totals"]["exit_code"] == code


def test_a_policy_about_what_is_not_there_is_never_met(
    assay: Command, problem: Path, good: Path, tmp_path: Path
) -> None:
    done = verify(assay, good, tmp_path / "run", "-g", "errors", "--policy", "core-cases")
    assert done.returncode == 2
    assert "there are none" in done.stderr


def test_killed_and_resumed_it_repeats_no_case(
    assay: Command, problem: Path, tmp_path: Path
) -> None:
    slow = submission(tmp_path, "import time\ntime.sleep(0.3)\n" + SOLUTION)
    cases = {
        f"c{number}": {"arguments": [f"{number}", "1"], "expected": {"output": {"sum": number + 1}}}
        for number in range(12)
    }
    (problem / "checkpoint_1/core.yaml").write_text(json.dumps({"cases": cases}))
    run = tmp_path / "run"
    options = ("-c", "1", "-g", "core", "--jobs", "2")
    words: list[str | Path] = [
        "-m",
        "assay",
        "submissions",
        "verify",
        "-s",
        slow,
        "-p",
        "sums",
        "--out",
        run,
    ]
    process = subprocess.Popen(
        [sys.executable, *words, *options],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    journal = run / "journal.jsonl"
    wait_until(lambda: journal.exists() and len(journal.read_bytes().splitlines()) >= 3, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = _starts(journal)
    assert 3 <= len(before) < 12
    done = assay("runs", "resume", run)
    assert done.returncode == 0, done.stderr
    after = _starts(journal)
    assert len(after) == 12
    assert before.items() <= after.items()


def _starts(journal: Path) -> dict[str, str]:
    """When each recorded case was started; a case recorded twice is a failure."""
    found: dict[str, str] = {}
    for line in journal.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):
            entry = json.loads(line)
            if entry["kind"] == "record":
                assert entry["record"]["id"] not in found
                found[entry["record"]["id"]] = entry["record"]["started"]
    return found


def test_a_docker_environment_needs_an_engine(
    assay: Command, problem: Path, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    file = tmp_path / "docker.yaml"
    file.write_text("type: docker\nname: any\ndocker: {image: python, workdir: /workspace}\n")
    done = verify(assay, good, tmp_path / "run", "-e", str(file))
    assert done.returncode == 3
    assert "docker: not installed; podman: not installed" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_set_up_that_fails_stops_its_checkpoint_with_its_output(
    assay: Command, problem: Path, good: Path, tmp_path: Path
) -> None:
    file = tmp_path / "local.yaml"
    file.write_text(
        "type: local\nname: any\nsetup: {commands: ['echo no such package >&2; exit 4']}\n"
        "commands: {command: python, entry_file: '{entry_file}.py'}\n"
    )
    done = verify(assay, good, tmp_path / "run", "-c", "1", "-e", str(file))
    assert done.returncode == 3
    assert "no such package" in done.stdout


def test_what_a_problems_own_code_prints_never_mixes_with_the_result(
    assay: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "problems" / "loud"
    files = {
        "config.yaml": "name: loud\nentry_file: main\nadapter: {type: cli}\n"
        "checkpoints: {checkpoint_1: {groups: {core: {type: Core}}}}\n",
        "loader.py": "from slop_code.evaluation.adapters import CLICase, CLIResult\n"
        "from slop_code.evaluation.loaders import BaseLoader\n"
        "print('loader is loud')\n"
        "class Loader(BaseLoader):\n"
        "    def __call__(self, group, store):\n"
        "        print('drawing')\n"
        "        about = dict(id='one', group=group.name, group_type=group.type)\n"
        "        case = CLICase(checkpoint=self.checkpoint.name, order=0, **about)\n"
        "        yield case, CLIResult(output='hello\\n', **about)\n",
        "verifier.py": "from slop_code.evaluation.verifiers import VerificationResult\n"
        "class Verifier:\n"
        "    def __init__(self, checkpoint_config): pass\n"
        "    def __call__(self, group_name, case_name, actual, expected):\n"
        "        print('verifier is loud')\n"
        "        right = actual.output == expected.output\n"
        "        return {'output': VerificationResult.create('', right)}\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    solution = tmp_path / "solution"
    solution.mkdir()
    (solution / "main.py").write_text("print('hello')\n")
    done = assay("submissions", "run-case", "-s", solution, "-p", "loud", "-c", "1")
    assert done.returncode == 0, done.stderr
    assert [one["passed"] for one in json.loads(done.stdout)] == [True]
    assert "loader is loud" in done.stderr
    assert "verifier is loud" in done.stderr
