"""A test file as a value whose every part knows its place, whatever the file is written in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from assay import documents
from assay.agents.files.rules import FileProblems
from assay.agents.secrets import credentials_of_file, secrets_of
from assay.checks import shown
from assay.documents import DocumentError, KeyPath, Place
from assay.findings import Finding
from assay.redaction import redact

_LONGEST = 100
DOCUMENTS = frozenset({".json", ".yaml", ".yml"})


@dataclass(frozen=True)
class Source:
    """What a file says, and what is known about how it says it."""

    path: Path
    value: Any
    places: Mapping[KeyPath, Place]
    problems: list[Finding] = field(default_factory=list)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The variables of the environment that were substituted."""
    referred: frozenset[str] = frozenset()
    """The first keys of the paths that are substituted somewhere: definitions, not mistakes."""

    @property
    def metadata(self) -> Any:
        return self.value.get("metadata") if isinstance(self.value, dict) else None

    @cached_property
    def secrets(self) -> Mapping[str, str]:
        """What must never be stored or shown, and what stands for it."""
        return secrets_of(self.environment, self.metadata)

    @cached_property
    def credentials(self) -> Mapping[str, str]:
        """Return those of the secrets that a judge must not see either."""
        return credentials_of_file(self.environment, self.metadata)

    def shown(self, value: Any) -> str:
        """A value for a message, which may end up in the log of a build."""
        # Concealed before it is cut, so that no part of a secret is left.
        return shown(redact(value, self.secrets))

    def as_written(self, value: Any) -> str:
        """A value for advice, as a test file would have it."""
        try:
            written = json.dumps(redact(value, self.secrets), ensure_ascii=False, default=str)
        except (ValueError, RecursionError):
            # Python refuses to write integers of more than a few thousand digits.
            return "…"
        return written if len(written) <= _LONGEST else "…"

    def place(self, path: KeyPath) -> Place:
        """The place of a part, or of what should have held it."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place(self.path, 1))


def is_document(path: Path) -> bool:
    """Whether a file is JSON or YAML by its name."""
    return path.suffix.lower() in DOCUMENTS


def is_hocon(path: Path) -> bool:
    """Whether a file is HOCON by its name; `.hocon` alone is a name too."""
    return path.name.lower().endswith(".hocon")


def read_source(path: Path) -> Source:
    """The source of a HOCON, JSON or YAML file; FileProblems says why there is none."""
    if is_document(path):
        return _read_document(path)
    from assay.agents.files.hocon_text import read_hocon

    return read_hocon(path)


def _read_document(path: Path) -> Source:
    try:
        node = documents.read_document(path)
    except DocumentError as error:
        place = Place(path, error.line)
        raise FileProblems(Finding("unreadable", error.what, place, error.advice)) from None
    repeated = [
        repeated_key(one.key, one.first, Place(path, one.line))
        for one in documents.find_repetitions(node)
    ]
    places = {at: Place(path, line) for at, line in documents.find_lines(node).items()}
    return Source(path, documents.to_values(node), places, repeated)


def repeated_key(key: str, first: int, place: Place) -> Finding:
    """A key whose earlier value nobody would ever look at."""
    return Finding(
        "repeated-key",
        f"the key `{key}` stands twice in one object, first in line {first}",
        place,
        "remove one of them, only the last would be read; several values of a test are a list",
    )
