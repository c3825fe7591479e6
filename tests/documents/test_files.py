"""Files of the user are read whole or refused with the reason: none is waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.agents.testfile import read_files
from assay.config import load_config
from assay.documents import (
    LARGEST_DOCUMENT,
    LARGEST_RECORD,
    LARGEST_SETTINGS,
    has_too_many_parts,
    read_bytes,
    read_text,
)
from assay.errors import InputError
from assay.findings.baseline import LARGEST_BASELINE
from assay.questions.model import Question
from assay.questions.proofs.store import ProofStore
from assay.questions.suite.suite import load_suites
from assay.runs import Baseline
from assay.runs.folder import read_manifest
from assay.runs.journal import Journal, JournalReader, check_links, complete_size, read_entries
from assay.sandbox.installer import read_source
from assay.submissions.environments import load_environment


def _read_store(path: Path) -> object:
    question = Question("one", "Which?", {"A": "a", "B": "b"})
    store = ProofStore(path.parent / "suite.yaml")
    folder = store.folder(question)
    folder.mkdir(parents=True)
    path.rename(folder / "proof.json")
    return store.load(question)


def _read_folder(path: Path) -> object:
    return read_source(path.parent)


LOADERS: dict[str, tuple[str, Callable[[Path], object], int]] = {
    "suite": ("suite.yaml", lambda path: load_suites([path.parent / "*"]), LARGEST_DOCUMENT),
    "environment": ("environment.yaml", load_environment, LARGEST_DOCUMENT),
    "config": ("assay.toml", lambda path: load_config(path.parent), LARGEST_SETTINGS),
    "source folder": ("pyproject.toml", _read_folder, LARGEST_SETTINGS),
    "run": ("run.json", lambda path: read_manifest(path.parent), LARGEST_RECORD),
    "baseline": ("baseline.json", Baseline.read, LARGEST_BASELINE),
    "proof store": ("proof.json", _read_store, LARGEST_RECORD),
}


@pytest.mark.parametrize("loader", LOADERS)
def test_a_file_above_its_limit_is_refused_with_the_number(tmp_path: Path, loader: str) -> None:
    name, load, limit = LOADERS[loader]
    path = tmp_path / name
    path.write_text("benchmarks: []\n" if loader == "suite" else "")
    # Sparse: it takes no room on the disk.
    os.truncate(path, limit + 1)
    with pytest.raises(InputError, match=rf"larger than {limit:,} bytes"):
        load(path)


@pytest.mark.parametrize("loader", sorted(LOADERS.keys() - {"suite", "source folder"}))
def test_a_pipe_is_refused_and_never_waited_for(tmp_path: Path, loader: str) -> None:
    name, load, _ = LOADERS[loader]
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match="is not a file but a pipe"):
        load(tmp_path / name)


def test_an_included_pipe_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "base.conf")
    test = tmp_path / "test.hocon"
    test.write_text('include "base.conf"\nagent: a, interactions: [{text: x}]\n')
    (problem, *_) = read_files([test]).problems
    assert "base.conf" in str(problem.place)
    assert problem.message == "is not a file but a pipe"


def test_a_proof_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("{}")
    (tmp_path / "proof.json").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="is a symbolic link"):
        _read_store(tmp_path / "proof.json")


def test_a_device_a_folder_and_a_file_without_a_size_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a device or a socket"):
        read_bytes(Path("/dev/zero"), 10)
    with pytest.raises(InputError, match="is not a file but a folder"):
        read_bytes(tmp_path, 10)
    # Its size is zero until it is read.
    with pytest.raises(InputError, match="larger than 10 bytes"):
        read_bytes(Path("/proc/self/status"), 10)


def test_text_that_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo\n\xff\n")
    with pytest.raises(InputError, match=r"a:3: is not UTF-8 text"):
        read_text(tmp_path / "a", 100)


# --- journals


def test_a_journal_that_is_a_link_or_a_pipe_is_neither_read_nor_written(tmp_path: Path) -> None:
    target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
    target.write_bytes(b"somebody else's, without an end of line")
    link.symlink_to(target)
    os.mkfifo(pipe)
    for path in (link, pipe):
        for use in (Journal, JournalReader, check_links, complete_size):
            with pytest.raises(InputError, match=r"is a symbolic link|is not a file"):
                use(path)
        with pytest.raises(InputError, match=r"is a symbolic link|is not a file"):
            next(read_entries(path))
    assert target.read_bytes() == b"somebody else's, without an end of line"


def test_a_line_of_a_gigabyte_is_refused_before_it_is_read(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_bytes(b"{}\n")
    os.truncate(journal, 1_000_000_000)
    with journal.open("ab") as file:
        file.write(b"\n")
    with pytest.raises(InputError, match=r"line at byte 3 is longer than 24,000,000 bytes"):
        list(read_entries(journal))
    with pytest.raises(InputError, match=r"is longer than 24,000,000 bytes"):
        JournalReader(journal).read((3, 999_999_998))


def test_json_of_millions_of_parts_is_noticed_and_a_long_text_is_not() -> None:
    assert has_too_many_parts(b"[" + b"[]," * 1_500_000 + b"[]]")
    assert not has_too_many_parts(b'["' + b"word " * 1_500_000 + b'"]')
    assert not has_too_many_parts(b'["' + rb"1,2,\"[{," * 500_000 + b'"]')
    assert has_too_many_parts(rb'["\\", ' + b"{}," * 600_000 + b"0]")
