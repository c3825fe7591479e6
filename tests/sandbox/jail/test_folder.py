"""Patterns for files, and what is read or left."""

from __future__ import annotations

import glob
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.sandbox.jail import folder, trees

NAMES = st.text(st.sampled_from("ab.*[]?!-\\\n é"), min_size=1, max_size=6).filter(
    lambda name: name not in (".", "..")
)


def collected(place: Path, *patterns: str, limit: int = 1 << 20) -> folder.FoundFiles:
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return folder.collect(descriptor, list(patterns), limit)
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.txt", {"a.txt", ".h.txt"}),
        ("a.*", {"a.txt", "a.log"}),
        ("?.txt", {"a.txt"}),
        ("[ab].txt", {"a.txt"}),
        ("[!b].log", {"a.log"}),
        ("[a-c].txt", {"a.txt"}),
        ("deep[!x]b.txt", set()),
        ("[z-a].txt", set()),
        ("deep/*", {"deep/b.txt"}),
        ("deep/**", {"deep/b.txt", "deep/er/c.txt"}),
        ("**/*.txt", {"a.txt", ".h.txt", "deep/b.txt", "deep/er/c.txt"}),
        ("**/c.txt", {"deep/er/c.txt"}),
        ("**", {"a.txt", "a.log", ".h.txt", "deep/b.txt", "deep/er/c.txt"}),
        ("deep", set()),
        ("A.TXT", set()),
        ("../*", set()),
        ("", set()),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, expected: set[str]) -> None:
    for name in ("a.txt", "a.log", ".h.txt", "deep/b.txt", "deep/er/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    found = collected(tmp_path, pattern)
    assert {name for name, _ in found.files} == expected
    assert all(content.decode() == name for name, content in found.files)


@given(NAMES)
def test_no_pattern_breaks_it_and_a_star_matches_any_name(name: str) -> None:
    assert folder.matcher(["*"]).fullmatch(name)
    assert folder.matcher(["**"]).fullmatch(f"x/{name}")
    assert not folder.matcher(["*"]).fullmatch(f"{name}/x")
    folder.matcher([name])


@given(st.text(st.sampled_from("ab. é-\n"), min_size=1, max_size=8))
def test_a_plain_name_matches_itself_only(name: str) -> None:
    assert folder.matcher([name]).fullmatch(name)
    assert not folder.matcher([name]).fullmatch(f"{name}x")
    assert not folder.matcher([name]).fullmatch(f"x{name}")


@given(st.text(st.sampled_from("ab. é-*?[]!"), min_size=1, max_size=8))
def test_an_escaped_name_is_plain_again(name: str) -> None:
    expected = None if name in (".", "..") else name
    assert folder.plain_name(glob.escape(name)) == expected
    assert folder.matcher([glob.escape(name)]).fullmatch(name)


@pytest.mark.parametrize("pattern", ["*", "a?", "a/[bc]", "../a", "a//b", "./a", ""])
def test_what_is_no_plain_name(pattern: str) -> None:
    assert folder.plain_name(pattern) is None


def test_a_name_is_found_before_what_globs_match_and_however_much_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_MOST_FILES", 3)
    for name in ("a1", "a2", "a3", "a4", "wanted"):
        (tmp_path / name).write_text("x" * 10)
    found = collected(tmp_path, "*", "wanted", "missing", limit=25)
    assert [name for name, _ in found.files] == ["wanted", "a1"]
    assert [name for name, _ in found.left] == ["a2", "a3", "..."]


def test_what_is_there_under_a_name_but_no_plain_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    (tmp_path / "large").write_text("x" * 100)
    (tmp_path / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    names = ("folder", "link", "link/file", "large", "pipe", "none", "file/none", "folder/none")
    found = collected(tmp_path, *names, limit=50)
    assert found.files == []
    assert dict(found.left) == {
        "folder": "a folder",
        "link": "a symbolic link",
        "large": "100 bytes, more than may be brought back",
        "pipe": "not a plain file",
    }


@pytest.mark.parametrize("obstacle", ["file", "link", "dangling link"])
def test_files_replace_what_stands_in_their_way(tmp_path: Path, obstacle: str) -> None:
    place, outside = tmp_path / "work", tmp_path / "outside"
    place.mkdir()
    outside.mkdir()
    (outside / "kept").write_text("kept")
    for name in ("data", "deep"):
        if obstacle == "file":
            (place / name).write_text("in the way")
        else:
            (place / name).symlink_to(outside if obstacle == "link" else tmp_path / "nowhere")
    (place / "folder" / "inner").mkdir(parents=True)
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        folder.put([("data/x.csv", 1), ("deep/er/y", 1), ("folder", 1)], b"123", descriptor)
    finally:
        os.close(descriptor)
    assert (place / "data" / "x.csv").read_text() == "1"
    assert (place / "deep" / "er" / "y").read_text() == "2"
    assert (place / "folder").read_text() == "3"
    assert not (place / "data").is_symlink()
    assert sorted(path.name for path in outside.iterdir()) == ["kept"]
    assert not (tmp_path / "nowhere").exists()


def test_a_hard_link_from_outside_is_left(tmp_path: Path) -> None:
    place = tmp_path / "work"
    place.mkdir()
    (tmp_path / "outside").write_text("secret")
    os.link(tmp_path / "outside", place / "linked")
    found = collected(place, "*")
    assert found.files == []
    assert found.left == [("linked", "a hard link to a file outside the work folder")]


def test_removing_what_cannot_be_opened(tmp_path: Path) -> None:
    place = tmp_path / "work"
    (place / "closed" / "inner").mkdir(parents=True)
    (place / "closed" / "file").write_text("x")
    (place / "link").symlink_to(tmp_path)
    (place / "closed").chmod(0)
    trees.remove(str(place))
    assert not place.exists()
    assert tmp_path.exists()
    trees.remove(str(place))


def test_folders_of_dead_workers_are_removed_and_live_ones_kept(tmp_path: Path) -> None:
    live = folder.make_private(str(tmp_path))
    dead = tmp_path / "assay-work-dead"
    dead.mkdir()
    (dead / "file").write_text("x")
    second = folder.make_private(str(tmp_path))
    assert sorted(map(str, tmp_path.iterdir())) == sorted([live, second])
    assert Path(live).stat().st_mode & 0o777 == 0o700


def test_a_sweep_that_fails_does_not_keep_a_worker_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "assay-work-dead").mkdir()

    def fail(path: str) -> None:
        raise RecursionError

    monkeypatch.setattr(folder, "remove", fail)
    assert Path(folder.make_private(str(tmp_path))).is_dir()
