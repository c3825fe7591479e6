"""Submissions that are made to be expensive, or impossible, to copy."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.sandbox.jail.trees import copy_file
from assay.submissions.folders import copy_submission
from tests.sandbox.hostile.support import ORDINARY_USER


def _make_holes(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.write(b"begin")
        file.seek(size // 2)
        file.write(b"middle")
        file.truncate(size)


@pytest.mark.parametrize("size", [0, 1, 5000, 64 << 20])
def test_a_copy_takes_no_more_room_than_its_source(tmp_path: Path, size: int) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    _make_holes(source, size)
    copy_file(str(source), str(target), source.stat())
    assert target.stat().st_size == source.stat().st_size
    assert target.stat().st_blocks <= source.stat().st_blocks + 8
    assert target.read_bytes() == source.read_bytes()


def test_a_file_of_holes_does_not_make_a_submission_of_terabytes(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    _make_holes(source / "large", 1 << 40)
    with pytest.raises(InputError, match="larger than 4,294,967,296 bytes"):
        copy_submission(source, target)
    assert copy_submission(source, target, ignore=["large"])


def test_a_closed_folder_is_the_submissions_own_mistake() -> None:
    with tempfile.TemporaryDirectory(prefix="assay-tests-") as place:
        Path(place).chmod(0o755)
        source, target = Path(place, "source"), Path(place, "target")
        (source / "closed").mkdir(parents=True)
        target.mkdir()
        target.chmod(0o777)
        (source / "closed").chmod(0)
        with _no_more_than_ordinary(), pytest.raises(InputError, match="Permission denied"):
            copy_submission(source, target)


@contextlib.contextmanager
def _no_more_than_ordinary() -> Iterator[None]:
    """Root can open every folder; another user cannot."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(ORDINARY_USER)
    try:
        yield
    finally:
        os.seteuid(before)
