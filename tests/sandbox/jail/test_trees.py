"""Trees of any depth: walked, measured and removed with few descriptors and no recursion."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from assay.sandbox.jail import folder, trees

DEEP = 3_000


def nest(place: Path, depth: int, content: bytes = b"") -> None:
    """A chain of folders, with a file in the last."""
    here = os.open(place, trees.FOLDER)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", trees.FOLDER, dir_fd=here)
        os.close(here)
        here = inner
    with os.fdopen(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here), "wb") as file:
        file.write(content)
    os.close(here)


def opened_descriptors() -> list[int]:
    return [number for number in range(4096) if Path(f"/proc/self/fd/{number}").is_symlink()]


@contextmanager
def few_descriptors() -> Iterator[None]:
    """No more than a few above those that are open already."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(opened_descriptors()) + 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 50, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_deep_tree_is_measured_and_removed(tmp_path: Path) -> None:
    place = tmp_path / "assay-work-dead"
    place.mkdir()
    nest(place, DEEP, bytes(50_000))
    (place / "beside").write_bytes(bytes(50_000))
    opened = opened_descriptors()
    with few_descriptors():
        assert trees.measure(str(place)).bytes == trees.BOUNDLESS
        trees.remove(str(place))
    assert not place.exists()
    assert opened_descriptors() == opened


def test_a_tree_is_measured_as_deep_as_any_program_goes(tmp_path: Path) -> None:
    nest(tmp_path, 900, bytes(50_000))
    (tmp_path / "beside").write_bytes(bytes(50_000))
    with few_descriptors():
        found = trees.measure(str(tmp_path))
    folders = sum(Path(place).stat().st_blocks * 512 for place, _, _ in os.walk(tmp_path / "d"))
    assert 100_000 <= found.bytes - folders < 200_000
    assert found.entries == 902
    trees.remove(str(tmp_path / "d"))


def test_folders_and_names_are_counted_where_the_file_system_counts_none() -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("needs a tmpfs")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        for number in range(100):
            Path(place, f"{number:03}" + "x" * 200).mkdir()
        assert 100 * 1200 <= trees.measure(place).bytes < 100 * 10_000


def test_a_file_with_several_names_is_counted_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(100_000))
    for number in range(20):
        (tmp_path / f"link{number}").hardlink_to(tmp_path / "file")
    assert 100_000 <= trees.measure(str(tmp_path)).bytes < 200_000


def test_a_deep_tree_of_a_dead_worker_is_swept(tmp_path: Path) -> None:
    (tmp_path / "assay-work-dead").mkdir()
    nest(tmp_path / "assay-work-dead", DEEP)
    live = folder.make_private(str(tmp_path))
    assert [str(path) for path in tmp_path.iterdir()] == [live]


def test_everything_is_seen_once_and_in_order(tmp_path: Path) -> None:
    for name in ("b/y/1", "b/x", "a", "c/z/w/2"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    root = os.open(tmp_path, trees.FOLDER)
    seen = []
    with closing(trees.Tree(root)) as tree:
        for name, _ in trees.entries(tree):
            seen.append(tree.above + name)
            tree.enter(name)
    os.close(root)
    assert seen == ["a", "b", "b/x", "b/y", "b/y/1", "c", "c/z", "c/z/w", "c/z/w/2"]


def test_a_folder_moved_meanwhile_leads_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "_HELD", 2)
    elsewhere = tmp_path / "elsewhere"
    (tmp_path / "root/a/b/c/d").mkdir(parents=True)
    (tmp_path / "root/z").touch()
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    root = os.open(tmp_path / "root", trees.FOLDER)
    with closing(trees.Tree(root)) as tree:
        for name in "abcd":
            assert tree.enter(name)
        (tmp_path / "root/a/b/c/d").rename(elsewhere / "d")
        assert tree.leave() == "b"
        assert os.path.samestat(os.fstat(tree.here), (tmp_path / "root/a").stat())
        assert tree.leave() == "a"
        assert tree.here == root
    os.close(root)


def test_what_cannot_be_removed_does_not_save_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/stays/file", "b/goes/file"):
        (tmp_path / "work" / name).parent.mkdir(parents=True)
        (tmp_path / "work" / name).touch()
    really = os.rmdir

    def refuse(name: str, *, dir_fd: int) -> None:
        if name == "stays":
            raise PermissionError
        really(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", refuse)
    with pytest.raises(OSError, match="not empty"):
        trees.remove(str(tmp_path / "work"))
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "stays", "work"]
