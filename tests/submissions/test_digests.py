"""The digest of a problem changes with every file its verdicts stand on, and with no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.submissions.folders import digest_problem
from assay.submissions.problems import read_problem
from tests.submissions.support import write_files

CONFIG = """
entry_file: main
static_assets: {words: ../shared/words, list: ../list.txt}
checkpoints:
  one: {groups: [core]}
  far: {path: ../far, groups: [core]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "problem/config.yaml": CONFIG,
        "problem/one/core.yaml": "cases: {}",
        "problem/one/solution/main.py": "1",
        "far/core.yaml": "cases: {}",
        "far/solution/main.py": "1",
        "shared/words/a.txt": "a",
        "list.txt": "a",
    }
    return write_files(tmp_path, files) / "problem"


def digest(folder: Path) -> str:
    return digest_problem(read_problem(folder, allows_outside=True))


@pytest.mark.parametrize(
    "name",
    [
        "one/core.yaml", "one/solution_search.yaml", "one/solution.yaml", "solution/notes.txt",
        "solutions/a.yaml", "one/core/solution/a.yaml", ".hidden.yaml", "one/.env", "loader.py",
        "../far/core.yaml", "../shared/words/a.txt", "../shared/words/more.txt", "../list.txt",
    ],
)  # fmt: skip
def test_what_verdicts_stand_on_counts(folder: Path, name: str) -> None:
    before = digest(folder)
    write_files(folder, {name: "class Loader: ..."})
    assert digest(folder) != before


@pytest.mark.parametrize(
    "name",
    [
        "one/solution/main.py", "one/solution/deep/new.py", "../far/solution/main.py",
        "__pycache__/a.pyc", "one/__pycache__/a.pyc", ".git/index", ".assay/runs/x/run.json",
        "../elsewhere.txt",
    ],
)  # fmt: skip
def test_solutions_and_what_tools_leave_do_not(folder: Path, name: str) -> None:
    before = digest(folder)
    write_files(folder, {name: "changed"})
    assert digest(folder) == before


def test_a_run_that_is_kept_in_the_problem_does_not_count(folder: Path) -> None:
    before = digest(folder)
    write_files(folder, {"out/run.json": "{}", "out/journal.jsonl": "{}"})
    assert digest(folder) == before


def test_moving_a_file_counts(folder: Path) -> None:
    before = digest(folder)
    (folder / "one/core.yaml").rename(folder / "one/other.yaml")
    assert digest(folder) != before


def test_links_count_and_loops_come_to_an_end(folder: Path) -> None:
    before = digest(folder)
    for name in ("loop", "again", "one/up", "one/itself"):
        (folder / name).symlink_to(".." if name == "one/up" else ".")
    (folder / "broken").symlink_to("nowhere")
    (folder / "self").symlink_to("self")
    looped = digest(folder)
    assert looped != before
    (folder / "broken").unlink()
    (folder / "broken").symlink_to("elsewhere")
    assert digest(folder) != looped


def test_what_a_link_leads_to_counts(folder: Path) -> None:
    write_files(folder.parent, {"outside/a.yaml": "1"})
    (folder / "one" / "linked").symlink_to(folder.parent / "outside")
    before = digest(folder)
    write_files(folder.parent, {"outside/a.yaml": "2"})
    assert digest(folder) != before
