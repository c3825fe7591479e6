"""Building blocks for loaders, and the location of a group's cases in a stable order."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, Protocol, TypeAlias, runtime_checkable

from assay.model import CaseResult, GroupType
from assay.submissions.cases import BaseCase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig

LoaderYieldType: TypeAlias = Generator[tuple[BaseCase, CaseResult], None, None]


class LoaderError(Exception):
    """A loader cannot give the cases of a group."""


@runtime_checkable
class CaseStore(Protocol):
    """A loader's memory of earlier cases, used to make the next ones."""

    def update(self, case: Any, result: Any, expected: Any) -> None:
        """Called after every case, before the next is drawn."""


class NoOpStore:
    """A store that remembers nothing: the cases do not depend on each other."""

    def update(self, case: Any, result: Any, expected: Any) -> None:
        """Remember nothing."""


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
        """Return a new store for a group; override it to remember answers."""
        return NoOpStore()

    def __call__(self, group: GroupConfig, store: CaseStore) -> LoaderYieldType:
        """Return the cases of a group, each with what is expected of it."""
        raise NotImplementedError(f"{type(self).__name__} must define __call__(self, group, store)")


@runtime_checkable
class GroupLoader(Protocol):
    """What a loader has, whether it derives from `BaseLoader` or not."""

    def initialize_store(self) -> CaseStore: ...

    def __call__(self, group: GroupConfig, store: CaseStore) -> LoaderYieldType: ...


_WILDCARDS = frozenset("*?[")


def get_actual_checkpoint(
    group: GroupConfig, problem: ProblemConfig, checkpoint: CheckpointConfig
) -> str:
    """Return the name of the checkpoint a group's cases were written for.

    That of a regression is the earlier one it names. One that names none has cases of its own.
    """
    if group.type != GroupType.REGRESSION or not group.original_group:
        return checkpoint.name
    if not group.original_checkpoint:
        raise LoaderError(
            f"the regression group {group.name!r} names an original group and no checkpoint"
        )
    return group.original_checkpoint


def get_chkpt_path(
    group: GroupConfig, problem: ProblemConfig, checkpoint: CheckpointConfig
) -> Path:
    """Return the folder of the checkpoint a group's cases were written for."""
    name = get_actual_checkpoint(group, problem, checkpoint)
    if name == checkpoint.name:
        return checkpoint.path
    known = problem.checkpoints.get(name)
    return problem.path / name if known is None else known.path


def get_group_path(
    group: GroupConfig, problem: ProblemConfig, checkpoint: CheckpointConfig
) -> Path:
    """Return the folder of a group's cases; raise LoaderError if there is none."""
    folder = get_chkpt_path(group, problem, checkpoint) / group.get_real_name()
    if not folder.is_dir():
        raise LoaderError(f"the group {group.name!r} has no folder {folder}")
    return folder


def discover_dir_cases(group_config: GroupConfig, checkpoint_dir: Path) -> Iterator[Path]:
    """Yield the case folders directly below a folder, without those of the group's own files."""
    shared = {PurePath(name).parts[0] for name in group_config.group_files if name}
    for path in sorted(Path(checkpoint_dir).iterdir()):
        if path.is_dir() and path.name not in shared and path.name != "__pycache__":
            yield path


def get_files_from_globs(
    read_dir: Path,
    globs: Iterable[str | Path],
    exclude: Iterable[str | Path] | None = None,
) -> list[Path]:
    """Return the files that patterns, files or folders name, relative to `read_dir`, sorted.

    What is excluded by name stays out. What is excluded by a pattern comes back in if an include
    pattern ends in its very name: `**/keep.txt` is stronger than `*.txt`.
    """
    folder = Path(read_dir)
    wanted, unwanted = [str(each) for each in globs], [str(each) for each in exclude or ()]
    found = _expand_all(folder, wanted)
    named = _expand_all(folder, (each for each in unwanted if not _is_pattern(each)))
    matched = _expand_all(folder, filter(_is_pattern, unwanted))
    strong = _expand_all(folder, (each for each in wanted if _names_file(each)))
    kept = (found - matched - named) | ((found & matched & strong) - named)
    return sorted(path.relative_to(folder) for path in kept)


def _is_pattern(text: str) -> bool:
    return not _WILDCARDS.isdisjoint(text)


def _names_file(pattern: str) -> bool:
    return _is_pattern(pattern) and not _is_pattern(PurePath(pattern).name)


def _expand_all(folder: Path, patterns: Iterable[str]) -> set[Path]:
    return {path for pattern in patterns for path in _expand(folder, pattern)}


def _expand(folder: Path, pattern: str) -> set[Path]:
    """Return the files that a pattern matches or a path names, and those in such folders."""
    found = folder.glob(pattern) if _is_pattern(pattern) else [folder / pattern]
    inner = (each for path in found for each in ([path] if path.is_file() else path.rglob("*")))
    return {path for path in inner if path.is_file()}


def get_logger(name: str | None = None, **values: Any) -> Any:
    """Return a structlog logger; what it writes is captured with all that the code prints."""
    import structlog

    return structlog.get_logger(name, **values)
