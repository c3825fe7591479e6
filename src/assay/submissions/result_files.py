"""Input files of a case, result files, and result files that could not be collected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from assay.checks import ABSENT, Uncollected
from assay.model import CaseResult
from assay.sandbox import A_CLOSED_FOLDER, A_FOLDER, A_LINK
from assay.submissions.cases import BaseCase
from assay.submissions.config import GroupConfig, ProblemConfig

if TYPE_CHECKING:
    from assay.sandbox import CollectedFiles


def list_left(collected: CollectedFiles) -> dict[str, str]:
    """Return the names of uncollected files, without folders whose files were collected."""
    return {
        name: reason
        for name, reason in collected.left.items()
        if reason != A_FOLDER or not _has_files_in(name, collected.files)
    }


def _has_files_in(name: str, files: Iterable[str]) -> bool:
    """Return whether one of the files is in the folder of that name."""
    return any(file.startswith(f"{name}/") for file in files)


def find_left(actual: CaseResult, name: str) -> Any:
    """Return the state of a file that a result lacks: ABSENT, or why it was not collected."""
    left: dict[str, str] = getattr(actual, "left", {})
    if name in left:
        return Uncollected(left[name])
    if _has_files_in(name, actual.files):
        return Uncollected(A_FOLDER)
    for parent in map(str, PurePosixPath(name).parents):
        if left.get(parent) in (A_LINK, A_CLOSED_FOLDER):
            return Uncollected(f"`{parent}` is {left[parent]}", is_certain=False)
    if not is_within(name):
        return Uncollected("it is not in the work folder", is_certain=False)
    unknown = getattr(actual, "files_unknown", None)
    return ABSENT if unknown is None else Uncollected(unknown, is_certain=False)


def shortest(name: str) -> str:
    """Return a normalized path: `./a//b` is `a/b`."""
    return str(PurePosixPath(name))


def is_within(name: str) -> bool:
    """Return whether a path names a file in the work folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


# Paths are relative to the work folder, however they begin; `.hidden` is a name.
_FROM_HERE = re.compile(r"^(?:\.?/)+")


def list_patterns(problem: ProblemConfig, group: GroupConfig, case: BaseCase) -> list[str]:
    """Return the globs of files to collect; one that names a folder means all its content."""
    own = group.get("tracked_files") or []
    named = dict.fromkeys([*problem.adapter.tracked_files, *own, *case.tracked_files])
    clean = [_FROM_HERE.sub("", name).rstrip("/") for name in named]
    return [pattern for name in clean if name for pattern in (name, f"{name}/**")]


def decode_files(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Return each file as text, or as bytes if it is not text."""
    return {name: decode_text(content) for name, content in sorted(files.items())}


def decode_text(content: bytes) -> str | bytes:
    """Return bytes decoded as text, or unchanged if they are not text."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content


def decode_output(content: bytes) -> str:
    """Return the output of a program as text; invalid UTF-8 is replaced."""
    return content.decode("utf-8", "replace")


def encode_inputs(case: BaseCase) -> dict[str, bytes]:
    """Return the files a case begins with."""
    return {file.path: file.to_bytes() for file in case.input_files}


def encode_stdin(stdin: str | Iterable[str] | bytes | None) -> bytes:
    """Return what is fed to a program: text, bytes, or a list of lines."""
    if stdin is None:
        return b""
    if isinstance(stdin, bytes):
        return stdin
    if isinstance(stdin, str):
        return stdin.encode("utf-8", "surrogateescape")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in stdin).encode()
