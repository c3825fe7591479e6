"""Where loaders find their cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.model import GroupType
from assay.submissions.config import CheckpointConfig, CliAdapter, GroupConfig, ProblemConfig
from assay.submissions.slopcode import loaders as helpers
from assay.submissions.slopcode.loaders import LoaderError

REGRESSION = GroupConfig(
    name="first_core",
    type=GroupType.REGRESSION,
    original_checkpoint="first",
    original_group="core",
)


@pytest.fixture
def problem(tmp_path: Path) -> ProblemConfig:
    for name in ("one/core", "second/extra"):
        (tmp_path / name).mkdir(parents=True)
    return ProblemConfig(
        name="p",
        entry_file="main",
        adapter=CliAdapter(),
        path=tmp_path,
        checkpoints={
            # A folder need not have the name of its checkpoint.
            "first": CheckpointConfig(name="first", path=tmp_path / "one"),
            "second": CheckpointConfig(name="second", path=tmp_path / "second"),
        },
    )


def test_a_group_is_in_its_checkpoint_and_a_regression_in_an_earlier(
    problem: ProblemConfig, tmp_path: Path
) -> None:
    second = problem.checkpoints["second"]
    extra = GroupConfig(name="extra")
    assert helpers.get_group_path(extra, problem, second) == tmp_path / "second" / "extra"
    assert helpers.get_actual_checkpoint(extra, problem, second) == "second"
    assert helpers.get_group_path(REGRESSION, problem, second) == tmp_path / "one" / "core"
    assert helpers.get_chkpt_path(REGRESSION, problem, second) == tmp_path / "one"
    assert helpers.get_actual_checkpoint(REGRESSION, problem, second) == "first"


def test_what_is_missing_is_told(problem: ProblemConfig) -> None:
    second = problem.checkpoints["second"]
    with pytest.raises(LoaderError, match="'nowhere'"):
        helpers.get_group_path(GroupConfig(name="nowhere"), problem, second)
    lost = GroupConfig(name="lost", type=GroupType.REGRESSION, original_group="core")
    with pytest.raises(LoaderError, match="no checkpoint"):
        helpers.get_group_path(lost, problem, second)


def test_a_regression_that_names_no_origin_has_cases_of_its_own(
    problem: ProblemConfig, tmp_path: Path
) -> None:
    # As in the reference. This was refused before, which kept 105 cases of public problems from
    # being loaded; a group that has no folder of its own is still told.
    second = problem.checkpoints["second"]
    own = GroupConfig(name="extra", type=GroupType.REGRESSION)
    assert helpers.get_actual_checkpoint(own, problem, second) == "second"
    assert helpers.get_group_path(own, problem, second) == tmp_path / "second" / "extra"
    with pytest.raises(LoaderError, match="'lost'"):
        helpers.get_group_path(own.model_copy(update={"name": "lost"}), problem, second)


def test_case_folders_are_sorted_without_those_of_the_group(tmp_path: Path) -> None:
    for name in ("b", "a", "shared", "__pycache__"):
        (tmp_path / name).mkdir()
    (tmp_path / "file.yaml").touch()
    group = GroupConfig(name="core", group_files=["shared/rules.yaml"])
    assert [each.name for each in helpers.discover_dir_cases(group, tmp_path)] == ["a", "b"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("top.txt", "d/a.txt", "d/keep.txt", "d/x.log", "d/e/b.txt", "d/e/keep.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("globs", "exclude", "found"),
    [
        (["*.txt"], None, ["top.txt"]),
        (["d"], ["d/e"], ["d/a.txt", "d/keep.txt", "d/x.log"]),
        (["d/a.txt", "nowhere"], set(), ["d/a.txt"]),
        # A folder that a pattern matches stands for its files, as one that is named.
        (["[d]"], ["d/[e]"], ["d/a.txt", "d/keep.txt", "d/x.log"]),
        (["*.txt", "d/**/*"], ["top.txt", "*/*.txt", "**/e/*"], ["d/x.log"]),
        (["d", "**/keep.txt"], ["d/**/*.txt"], ["d/e/keep.txt", "d/keep.txt", "d/x.log"]),
        (["**/keep.txt"], ["d/keep.txt"], ["d/e/keep.txt"]),
    ],
)
def test_files_by_pattern(
    tree: Path, globs: list[str], exclude: list[str] | None, found: list[str]
) -> None:
    names = helpers.get_files_from_globs(tree, globs, exclude)
    assert [str(each) for each in names] == found
