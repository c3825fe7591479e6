"""A problem without code reads only what is in its folder, unless the user allows more."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.submissions.lint_rules import lint_problems
from assay.submissions.problems import read_problem
from tests.conftest import Command
from tests.submissions.support import write_files

SECRET = "a secret of the user"
CONFIG = """
entry_file: main
adapter: {type: cli}
static_assets: {own: {path: own.txt}}
checkpoints:
  one:
    path: one
    constant_files: [own.txt]
    groups: {core: {group_files: [own.txt]}}
"""
CASES = """
cases:
  first:
    arguments: [a]
    input_files: [{path: a.txt, from: own.txt}]
    expected: {status_code: 0, output: x}
"""
OWN = {
    "problem/config.yaml": CONFIG,
    "problem/own.txt": "own",
    "problem/one/own.txt": "own",
    "problem/one/core.yaml": CASES,
    "problem/one/spec.md": "Do it.",
    "problem/one/solution/main": "",
    "secret.txt": SECRET,
    "folder/secret.txt": SECRET,
    "submission/main": "",
}
# The file that is changed, what in it, and what stands there instead.
NAMED = [
    ("config.yaml", "path: own.txt", "path: ../secret.txt"),
    ("config.yaml", "path: own.txt", "path: {outside}/secret.txt"),
    ("config.yaml", "path: own.txt", "path: link.txt"),
    ("config.yaml", "path: one", "path: ../folder"),
    ("config.yaml", "path: one", "path: linked"),
    ("config.yaml", "constant_files: [own.txt]", "constant_files: [../../secret.txt]"),
    ("config.yaml", "constant_files: [own.txt]", "constant_files: [link.txt]"),
    ("config.yaml", "constant_files: [own.txt]", "constant_files: [linked]"),
    ("config.yaml", "constant_files: [own.txt]", "constant_files: [mixed]"),
    ("config.yaml", "group_files: [own.txt]", "group_files: [{outside}/secret.txt]"),
    ("config.yaml", "group_files: [own.txt]", "group_files: [link.txt]"),
    ("config.yaml", "groups: {core: ", "groups: {../../folder/core: "),
    ("one/core.yaml", "from: own.txt", "from: ../../secret.txt"),
    ("one/core.yaml", "from: own.txt", "from: {outside}/secret.txt"),
    ("one/core.yaml", "from: own.txt", "from: link.txt"),
    ("one/core.yaml", "from: own.txt", "from: linked/secret.txt"),
]


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    write_files(tmp_path, OWN)
    (tmp_path / "folder" / "core.yaml").write_text(CASES)
    folder = tmp_path / "problem"
    for place in (folder, folder / "one"):
        (place / "link.txt").symlink_to(tmp_path / "secret.txt")
        (place / "linked").symlink_to(tmp_path / "folder")
    (folder / "one" / "mixed").mkdir()
    (folder / "one" / "mixed" / "file.txt").symlink_to("../../../secret.txt")
    return folder


def run_all(assay: Command, problem: Path, *options: str) -> str:
    """Return everything that a run says and keeps."""
    out = problem.parent / "run"
    result = assay(
        "submissions", "verify", "-s", "submission", "-p", problem, "--isolation", "none",
        "--out", out, "--json", *options,
    )  # fmt: skip
    kept = (one.read_bytes().decode(errors="replace") for one in out.rglob("*") if one.is_file())
    return f"exit {result.returncode}\n{result.stdout}{result.stderr}" + "".join(kept)


@pytest.mark.parametrize(("file", "own", "other"), NAMED)
def test_a_problem_that_names_a_file_outside_of_it_does_not_run(
    assay: Command, problem: Path, file: str, own: str, other: str
) -> None:
    path = problem / file
    text = path.read_text()
    assert own in text
    path.write_text(text.replace(own, other.replace("{outside}", str(problem.parent))))
    said = run_all(assay, problem)
    assert "is outside of the problem's folder" in said
    assert "--allow-outside" in said
    assert SECRET not in said
    assert not said.startswith(("exit 0", "exit 1"))


@pytest.mark.parametrize("name", ["config.yaml", "one/core.yaml"])
def test_a_file_of_a_problem_that_is_a_link_to_elsewhere_is_not_read(
    problem: Path, name: str
) -> None:
    outside = problem.parent / "elsewhere.yaml"
    (problem / name).rename(outside)
    (problem / name).symlink_to(outside)
    (finding, *_) = [one for one in lint_problems([problem]) if "outside" in one.message]
    assert finding.place.file == problem / name
    assert not any("outside" in one.message for one in lint_problems([problem], allow_outside=True))


def test_a_link_to_a_case_elsewhere_is_not_read(problem: Path) -> None:
    (problem / "one" / "core.yaml").unlink()
    (problem / "one" / "core").mkdir()
    (problem / "one" / "core" / "first.yaml").symlink_to(problem.parent / "secret.txt")
    assert any("is outside" in one.message for one in lint_problems([problem]))


def test_a_reference_solution_that_is_a_link_to_elsewhere_is_not_run(
    assay: Command, problem: Path
) -> None:
    (problem / "one" / "solution" / "main").unlink()
    (problem / "one" / "solution").rmdir()
    (problem / "one" / "solution").symlink_to(problem.parent / "folder")
    audited = assay("submissions", "audit", "-p", problem, "--isolation", "none")
    assert audited.returncode == 2
    assert "is outside of the problem's folder" in audited.stderr


def test_links_within_a_problem_are_followed(problem: Path) -> None:
    (problem / "one" / "link.txt").unlink()
    (problem / "one" / "link.txt").symlink_to("../own.txt")
    cases = problem / "one" / "core.yaml"
    cases.write_text(CASES.replace("from: own.txt", "from: link.txt"))
    assert not lint_problems([problem])


def test_a_file_of_the_current_folder_is_none_of_the_problems(
    assay: Command, problem: Path
) -> None:
    config = problem / "config.yaml"
    config.write_text(CONFIG.replace("group_files: [own.txt]", "group_files: [secret.txt]"))
    # The command runs in the folder that has it.
    said = run_all(assay, problem)
    assert SECRET not in said
    assert "secret.txt: cannot be read" in said


def test_the_user_may_allow_it_but_a_run_folder_may_not(assay: Command, problem: Path) -> None:
    cases = problem / "one" / "core.yaml"
    cases.write_text(CASES.replace("from: own.txt", "from: ../../secret.txt"))
    assert "is outside" not in run_all(assay, problem, "--allow-outside")
    run = problem.parent / "run"
    assert json.loads((run / "run.json").read_text())["asked"]["allow_outside"] is True
    assert "pass --trust" in assay("runs", "resume", run).stderr
    assert "pass --trust" not in assay("runs", "resume", run, "--trust").stderr


def test_a_problem_cannot_allow_it_itself(problem: Path) -> None:
    config = problem / "config.yaml"
    config.write_text(config.read_text() + "allows_outside: true\n")
    (problem / "loader.py").write_text("class Loader: ...")
    assert read_problem(problem).allows_outside is False


def test_a_link_to_everything_is_not_read_for_the_digest_of_a_problem(
    assay: Command, problem: Path
) -> None:
    fifo = problem.parent / "folder" / "fifo"
    os.mkfifo(fifo)
    (problem / "one" / "pipe").symlink_to(fifo)
    (problem / "one" / "everything").symlink_to("/")
    assert run_all(assay, problem).startswith("exit 1")
