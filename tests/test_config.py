"""The configuration: where it is found, and what a mistake in it says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.config import Config, load_config
from assay.errors import InputError


def test_without_a_file_all_is_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    config = load_config()
    assert config == Config()
    assert config.jobs_or_default() >= 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("assay.toml", 'jobs = 3\nruns = "kept"\nbaseline = "known.json"\n'),
        ("pyproject.toml", '[tool.assay]\njobs = 3\nruns = "kept"\nbaseline = "known.json"\n'),
    ],
)
def test_the_nearest_file_counts_and_its_paths_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'other'\n")
    monkeypatch.chdir(below)
    config = load_config()
    assert config.jobs == 3
    assert config.runs == Path("../../kept")
    assert config.baseline == Path("../../known.json")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "jobs = 3\njosb = 4\n",
            r"assay\.toml:2: there is no key `josb` here\n  did you mean 'jobs'",
        ),
        ("# x\njobs = 0\n", r"assay\.toml:2: `jobs`: .*greater than or equal to 1"),
        ("jobs = '2'\n", r"assay\.toml:1: `jobs` must be a whole number"),
        ("jobs = 'two'\n", r"assay\.toml:1: `jobs` must be a whole number"),
        ("[answers]\nx = 1\n", r"assay\.toml:1: there is no key `answers` here"),
        ("[questions]\nignored = 1\n", r"assay\.toml:2: there is no key `ignored` here"),
        ("[questions]\nignore = 1\n", r"assay\.toml:2: `questions\.ignore` must be a list"),
        ("jobs =\n", r"assay\.toml: is not valid TOML: .*line 1"),
        ("\udcff", r"assay\.toml:1: is not UTF-8 text"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    (tmp_path / "assay.toml").write_bytes(text.encode(errors="surrogateescape"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=told):
        load_config()


def test_two_configurations_in_one_folder_are_one_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assay.toml").write_text("jobs = 1\n")
    (tmp_path / "pyproject.toml").write_text("[tool.assay]\njobs = 2\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="keep one of them"):
        load_config()


@pytest.mark.parametrize("name", ["assay.toml", "pyproject.toml"])
def test_a_configuration_that_is_no_file_is_an_error_and_never_waited_for(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=f"{name}: is not a file"):
        load_config(tmp_path)
    (tmp_path / name).rmdir()
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=f"{name}: is not a file"):
        load_config(tmp_path)


def test_a_configuration_that_is_huge_or_deep_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text("# long\n" * 200_000)
    with pytest.raises(InputError, match="larger than"):
        load_config(tmp_path)
    (tmp_path / "assay.toml").write_text("x = " + "[" * 5_000 + "]" * 5_000)
    with pytest.raises(InputError, match="nested too deeply"):
        load_config(tmp_path)
