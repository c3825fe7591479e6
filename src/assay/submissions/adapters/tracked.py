"""Files that go in with a case and those that come back: patterns, and bytes as values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from assay.submissions.cases import BaseCase
from assay.submissions.config import GroupConfig, ProblemConfig

# Paths are relative to the work folder, however they begin; `.hidden` is a name.
_FROM_HERE = re.compile(r"^(?:\.?/)+")


def patterns_of(problem: ProblemConfig, group: GroupConfig, case: BaseCase) -> list[str]:
    """The globs of files to bring back; one that names a folder means all that is in it."""
    own = group.get("tracked_files") or []
    named = dict.fromkeys([*problem.adapter.tracked_files, *own, *case.tracked_files])
    clean = [_FROM_HERE.sub("", name).rstrip("/") for name in named]
    return [pattern for name in clean if name for pattern in (name, f"{name}/**")]


def contents_of(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Each file as text, or as bytes if it is none; what it means is the verifier's to say."""
    return {name: text_of(content) for name, content in sorted(files.items())}


def text_of(content: bytes) -> str | bytes:
    """The text that these bytes are, else the bytes."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content


def shown(content: bytes) -> str:
    """Output of a program as text; what is no UTF-8 in it is replaced."""
    return content.decode("utf-8", "replace")


def inputs_of(case: BaseCase) -> dict[str, bytes]:
    """The files a case begins with."""
    return {file.path: file.to_bytes() for file in case.input_files}


def lines_of(stdin: str | Iterable[str] | bytes | None) -> bytes:
    """What is fed to a program: text, bytes, or a list of lines."""
    if stdin is None:
        return b""
    if isinstance(stdin, bytes):
        return stdin
    if isinstance(stdin, str):
        return stdin.encode("utf-8", "surrogateescape")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in stdin).encode()
