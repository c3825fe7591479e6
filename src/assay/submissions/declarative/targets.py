"""Paths into a result: `output.items[0].id`, `headers.etag`, `files["out.csv"][0].price`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from assay.checks import ABSENT, NotJsonError, Uncollected, Wildcard, parse_patterns, read_json
from assay.errors import InputError, nearest
from assay.model import CaseResult
from assay.submissions.file_formats import FileType, decompressed, parsed, signature
from assay.submissions.leftovers import absent_or_left, shortest

Steps: TypeAlias = tuple[str | int, ...]

ROOTS = ("status_code", "output", "stderr", "timed_out", "headers", "files", "elapsed")


class UnreadableError(Exception):
    """What was to be looked into is not of the format that its name says."""


@dataclass(frozen=True)
class Target:
    """A place in a result: an attribute, and where in it."""

    root: str
    steps: Steps = ()

    @property
    def file(self) -> str | None:
        """The file it is, or is in."""
        first = self.steps[0] if self.steps else None
        return shortest(first) if self.root == "files" and isinstance(first, str) else None

    def content(self, actual: CaseResult) -> Any:
        """What has to be looked into: the attribute, or the file; ABSENT if it is not there."""
        value: Any = getattr(actual, self.root, ABSENT)
        return value if self.file is None else _step(value, self.file)

    def found(self, actual: CaseResult) -> list[Any]:
        """What stands there, as a list of one; empty if nothing does, or it cannot be read."""
        try:
            value = self.of(actual)
        except UnreadableError:
            return []
        return [] if value is ABSENT or isinstance(value, Uncollected) else [value]

    def of(self, actual: CaseResult, *, is_structure: bool = False) -> Any:
        """Return what stands there, ABSENT, or Uncollected if it could not be brought back.

        Files are read if structure is wanted.
        """
        value = self.content(actual)
        if self.file is not None and value is ABSENT:
            return absent_or_left(actual, self.file)
        if self.root == "headers" and isinstance(value, dict):
            value = {str(name).lower(): text for name, text in value.items()}
        for place, step in enumerate(self.steps if self.file is None else self.steps[1:]):
            if place > 0 or self.root in ("output", "stderr", "files"):
                value = self._opened(value)
            is_header = self.root == "headers" and isinstance(step, str)
            value = _step(value, str(step).lower() if is_header else step)
        is_whole_file = self.file is not None and len(self.steps) == 1
        return self._opened(value) if is_structure and is_whole_file else value

    def _opened(self, value: Any) -> Any:
        """Text as the structure it holds."""
        if not isinstance(value, str | bytes):
            return value
        if self.file is not None:
            return read_structure(value, self.file)
        try:
            return read_json(value)
        except NotJsonError as error:
            raise UnreadableError(f"{self.root} is not JSON: {error}") from None


def _step(value: Any, step: str | int) -> Any:
    if isinstance(step, str) and isinstance(value, dict):
        return value.get(step, ABSENT)
    if isinstance(step, int) and isinstance(value, list) and step < len(value):
        return value[step]
    return ABSENT


def read_structure(content: str | bytes, name: str) -> Any:
    """The structure of a file, by what its name says it is; JSON if it says nothing."""
    kind, packing = signature(Path(name))
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    try:
        data = decompressed(data, packing)
        if kind in (FileType.TEXT, FileType.BINARY, FileType.JSON):
            return read_json(data)
        return parsed(data, kind)
    except (InputError, ValueError) as error:
        said = FileType.JSON if kind in (FileType.TEXT, FileType.BINARY) else kind
        raise UnreadableError(f"the file is not {said}: {error}") from None


def parse_target(text: str) -> Target:
    """The target a path means; InputError if it is none."""
    ((root, *steps),) = parse_patterns("path", text)
    if root not in ROOTS:
        raise InputError(f"a result has no `{root}`", advice=nearest(str(root), ROOTS))
    if any(isinstance(step, Wildcard) for step in steps):
        raise InputError(f"`{text}` must be one place, without *")
    if root == "files" and not steps:
        raise InputError("`files` alone is no place", advice='write files["name"]')
    plain = tuple(step for step in steps if not isinstance(step, Wildcard))
    if root == "files" and isinstance(plain[0], str):
        plain = (shortest(plain[0]), *plain[1:])
    return Target(root, plain)
