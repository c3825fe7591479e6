"""`slop_code.evaluation.loaders.loader_protocol`: loaders and their stores."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Protocol, TypeAlias, runtime_checkable

from assay.model import CaseResult
from assay.submissions.cases import BaseCase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig

LoaderYieldType: TypeAlias = Generator[tuple[BaseCase, CaseResult], None, None]


class LoaderError(Exception):
    """A loader cannot give the cases of a group."""


@runtime_checkable
class CaseStore(Protocol):
    """What a loader remembers of the cases that ran, to make the next ones with it."""

    def update(self, case: Any, result: Any, expected: Any) -> None:
        """Called after every case, before the next is drawn."""


class NoOpStore:
    """A store that remembers nothing: the cases do not depend on each other."""

    def update(self, case: Any, result: Any, expected: Any) -> None:
        """Nothing is remembered."""


class BaseLoader:
    """Keeps what a loader is made with, and remembers nothing between cases."""

    def __init__(
        self,
        problem: ProblemConfig,
        checkpoint: CheckpointConfig,
        *,
        use_placeholders: bool = False,
    ) -> None:
        self.problem = problem
        self.checkpoint = checkpoint
        self.use_placeholders = use_placeholders

    def initialize_store(self) -> CaseStore:
        """A new store for a group; override it to remember answers."""
        return NoOpStore()

    def __call__(self, group: GroupConfig, store: CaseStore) -> LoaderYieldType:
        """The cases of a group, each with what is expected of it."""
        raise NotImplementedError(f"{type(self).__name__} must define __call__(self, group, store)")


@runtime_checkable
class GroupLoader(Protocol):
    """What a loader has, whether it derives from `BaseLoader` or not."""

    def initialize_store(self) -> CaseStore: ...

    def __call__(self, group: GroupConfig, store: CaseStore) -> LoaderYieldType: ...
