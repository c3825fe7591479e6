"""The target of a suite: its own words, the reference's keys, and what the command line gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.questions.suite.targets import resolve_target
from assay.sandbox import Target
from tests.questions.suite_support import choice, suite_of

ADK = "https://github.com/google/adk-python"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"target": "pydantic==2.9"}, Target(("pydantic==2.9",))),
        ({"target": ["a==1", "b[c]>=2"]}, Target(("a==1", "b[c]>=2"))),
        ({"target": "current"}, Target(current=True)),
        ({"target": "current:pydantic"}, Target(current=True, about=("pydantic",))),
        ({"target": "current: a, b"}, Target(current=True, about=("a", "b"))),
        (
            {"target": "a==1", "extra_dependencies": ["b"]},
            Target(("a==1", "b")),
        ),
        (
            {"target_repo_url": ADK, "target_repo_version": "v1.20.0"},
            Target(("google-adk==1.20.0",)),
        ),
        (
            {
                "target_repo_url": f"{ADK}.git/",
                "target_repo_version": "1.24.1",
                "extra_dependencies": ["litellm", "mcp==1"],
            },
            Target(("google-adk==1.24.1", "litellm", "mcp==1")),
        ),
    ],
)
def test_what_the_suite_says(keys: dict[str, Any], expected: Target, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, choice(), **keys)
    assert suite.problems == []
    assert resolve_target(suite) == expected


def test_a_folder_is_relative_to_the_suite_or_to_where_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "elsewhere" / "library").mkdir(parents=True)
    suite = suite_of(tmp_path, choice(), target="./library")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert resolve_target(suite).sources == (tmp_path / "library",)
    assert resolve_target(suite, ["./library"]).sources == (tmp_path / "elsewhere" / "library",)
    # A bare word is a package, whatever folders there are.
    assert resolve_target(suite, ["library"]) == Target(("library",))


@pytest.mark.parametrize("way", ["../theirs/", "/", "~/", "./link/"])
def test_a_suite_names_no_folder_outside_of_its_root_but_the_user_may(
    tmp_path: Path, way: str
) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "mine" / ".git").mkdir(parents=True)
    (tmp_path / "mine" / "link").symlink_to(tmp_path / "theirs")
    suite = suite_of(tmp_path / "mine", choice(), target=way)
    with pytest.raises(InputError, match="points outside of"):
        resolve_target(suite)
    assert resolve_target(suite, [str(tmp_path / "theirs")]).sources == (tmp_path / "theirs",)


def test_what_is_given_replaces_all_that_the_suite_says(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, choice(), target="a==1", extra_dependencies=["b"])
    assert resolve_target(suite, ["a==2", "c"]) == Target(("a==2", "c"))
    assert resolve_target(suite, ["current"]) == Target(current=True)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({}, "names no target"),
        (
            {"target_repo_url": "https://example.org/other", "target_repo_version": "v1"},
            "no package",
        ),
        ({"target_repo_url": ADK, "target_repo_version": "main"}, "'main' is not a release"),
        ({"target_repo_url": ADK}, "`target_repo_version` is missing"),
        ({"target": "./absent"}, "is not a folder"),
        ({"target": ["current", "a==1"]}, "cannot be combined with other requirements"),
    ],
)
def test_without_a_target_it_says_what_to_do(
    keys: dict[str, Any], says: str, tmp_path: Path
) -> None:
    suite = suite_of(tmp_path, choice(), **keys)
    with pytest.raises(InputError, match=says) as caught:
        resolve_target(suite)
    assert str(suite.path) in (caught.value.where or "")
    assert caught.value.advice
    assert resolve_target(suite, ["a==1"]) == Target(("a==1",))
