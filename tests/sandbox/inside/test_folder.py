"""Patterns for files, and what is read or left."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.sandbox.inside import folder

NAMES = st.text(st.sampled_from("ab.*[]?!-\\\n é"), min_size=1, max_size=6).filter(
    lambda name: name not in (".", "..")
)


def collected(place: Path, *patterns: str, limit: int = 1 << 20) -> folder.Collected:
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
    folder.remove(str(place))
    assert not place.exists()
    assert tmp_path.exists()
    folder.remove(str(place))


def test_folders_of_dead_workers_are_removed_and_live_ones_kept(tmp_path: Path) -> None:
    live = folder.make_private(str(tmp_path))
    dead = tmp_path / "assay-work-dead"
    dead.mkdir()
    (dead / "file").write_text("x")
    second = folder.make_private(str(tmp_path))
    assert sorted(map(str, tmp_path.iterdir())) == sorted([live, second])
    assert Path(live).stat().st_mode & 0o777 == 0o700
