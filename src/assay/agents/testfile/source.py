"""A parsed test file in which every value knows its position, independent of the file format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.agents.secrets import find_file_credentials, find_secrets
from assay.checks import preview
from assay.documents import (
    DocumentError,
    HoconError,
    KeyPath,
    Node,
    Place,
    PlaceMap,
    find_places,
    find_repetitions,
    read_document,
    read_hocon,
    repeat_mistake,
    to_values,
)
from assay.findings import UNREADABLE, Finding
from assay.redaction import redact

_LONGEST = 100
DOCUMENTS = frozenset({".json", ".yaml", ".yml"})


class FileProblems(Exception):  # noqa: N818 - it carries findings to who reports them
    """A file that cannot be parsed as a document."""

    def __init__(self, *problems: Finding) -> None:
        super().__init__(problems[0].message)
        self.problems = list(problems)


@dataclass(frozen=True)
class FileSource:
    """The content of a file, and how it is written."""

    path: Path
    node: Node
    places: PlaceMap
    problems: list[Finding] = field(default_factory=list)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables of the environment that were substituted."""
    referred: frozenset[str] = frozenset()
    """The first keys of the paths that are substituted somewhere: definitions, not mistakes."""

    @cached_property
    def value(self) -> Any:
        return to_values(self.node)

    @property
    def metadata(self) -> Any:
        return self.value.get("metadata") if isinstance(self.value, dict) else None

    @cached_property
    def secrets(self) -> Mapping[str, str]:
        """The values that must never be stored or shown, with their replacements."""
        return find_secrets(self.environment, self.metadata)

    @cached_property
    def credentials(self) -> Mapping[str, str]:
        """Return those of the secrets that a judge must not see either."""
        return find_file_credentials(self.environment, self.metadata)

    def preview(self, value: Any) -> str:
        """Return a value for a message, which may end up in the log of a build."""
        # Redacted before it is cut, so that no part of a secret remains.
        return preview(redact(value, self.secrets))

    def format_value(self, value: Any) -> str:
        """Return a value for advice, in the notation of a test file."""
        try:
            written = json.dumps(redact(value, self.secrets), ensure_ascii=False, default=str)
        except (ValueError, RecursionError):
            # Python refuses to write integers of more than a few thousand digits.
            return "…"
        return written if len(written) <= _LONGEST else "…"

    def find_place(self, path: KeyPath) -> Place:
        """Return the place of a part, or of its parent if it is missing."""
        return self.places.nearest(".".join(map(str, path)))


def is_document(path: Path) -> bool:
    """Return whether a file is JSON or YAML by its name."""
    return path.suffix.lower() in DOCUMENTS


def is_hocon(path: Path) -> bool:
    """Return whether a file is HOCON by its name; `.hocon` alone is a name too."""
    return path.name.lower().endswith(".hocon")


def read_source(path: Path) -> FileSource:
    """Return the source of a HOCON, JSON or YAML file; FileProblems says why there is none."""
    if is_document(path):
        return _read_document(path)
    try:
        read = read_hocon(path)
    except HoconError as error:
        raise FileProblems(*map(Finding.of_mistake, error.mistakes)) from None
    problems = list(map(Finding.of_mistake, read.mistakes))
    return FileSource(path, read.node, read.places, problems, read.environment, read.referred)


def _read_document(path: Path) -> FileSource:
    try:
        node = read_document(path)
    except DocumentError as error:
        place = Place(path, error.line)
        raise FileProblems(Finding(UNREADABLE, error.what, place, error.advice)) from None
    repeated = [
        Finding.of_mistake(repeat_mistake(one.key, one.first, Place(path, one.line)))
        for one in find_repetitions(node)
    ]
    return FileSource(path, node, find_places(node, path), repeated)
