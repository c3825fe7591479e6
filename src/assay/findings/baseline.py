"""Baseline of known findings that a gate accepts: by case, code and fingerprint."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.documents import MEGABYTE, read_record, replace_file
from assay.errors import InfrastructureError, InputError
from assay.tracebacks import first_problem

MOST_ENTRIES = 250_000
"""Findings of one baseline; what is written can be read again."""
LARGEST_BASELINE = 128 * MEGABYTE


class BaselineEntry(BaseModel):
    """One accepted finding."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    case: str
    code: str
    fingerprint: str


class Known(Protocol):
    """Anything that can have a baseline entry."""

    @property
    def entry(self) -> BaselineEntry | None:
        """Return the entry, or None if it is not a finding."""


class Baseline(BaseModel):
    """The accepted findings of a suite, meant to be committed beside it."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    accepted: list[BaselineEntry]

    @classmethod
    def read(cls, path: Path) -> Self:
        try:
            return cls.model_validate_json(
                read_record(path, LARGEST_BASELINE, 4 * MOST_ENTRIES + 10)
            )
        except OSError as error:
            raise InputError(
                f"cannot be read: {error.strerror}",
                where=str(path),
                advice="make one with --write-baseline",
            ) from None
        except ValidationError as error:
            raise InputError(
                f"is not a baseline: {first_problem(error)}",
                where=str(path),
                advice="make one with --write-baseline",
            ) from None

    @classmethod
    def of(cls, found: Iterable[Known]) -> Self:
        """Return a baseline that accepts the current findings."""
        entries = (one.entry for one in found)
        return cls(accepted=sorted(filter(None, entries), key=lambda entry: entry.case))

    def write(self, path: Path) -> None:
        text = json.dumps(self.model_dump(), indent=2) + "\n"
        if len(self.accepted) > MOST_ENTRIES or len(text) > LARGEST_BASELINE:
            raise InputError(
                f"a baseline holds at most {MOST_ENTRIES:,} findings; there are "
                f"{len(self.accepted):,}",
                where=str(path),
                advice="correct what they have in common first",
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, [text.encode()])
        except OSError as error:
            raise InfrastructureError(
                f"the baseline cannot be written: {error.strerror}", where=str(path)
            ) from None

    def accepts(self, one: Known) -> bool:
        """Return whether this finding is known."""
        return one.entry in self._entries

    def find_outdated(self, found: Iterable[Known]) -> list[BaselineEntry]:
        """Return the entries that match no finding any more."""
        needed = {one.entry for one in found}
        return [entry for entry in self.accepted if entry not in needed]

    @cached_property
    def _entries(self) -> frozenset[BaselineEntry]:
        return frozenset(self.accepted)
