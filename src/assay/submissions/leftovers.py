"""What a program left that could not be brought back: it is there, and checks have to know."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from assay.checks import ABSENT, Uncollected
from assay.model import CaseResult
from assay.sandbox import A_CLOSED_FOLDER, A_FOLDER, A_LINK

if TYPE_CHECKING:
    from assay.sandbox import CollectedFiles


def left_of(collected: CollectedFiles) -> dict[str, str]:
    """What could not be brought back, by name; not folders of which all that is asked for was."""
    return {
        name: reason
        for name, reason in collected.left.items()
        if reason != A_FOLDER or not _has_files_in(name, collected.files)
    }


def _has_files_in(name: str, files: Iterable[str]) -> bool:
    """Whether one of the files is in the folder of that name."""
    return any(file.startswith(f"{name}/") for file in files)


def absent_or_left(actual: CaseResult, name: str) -> Any:
    """What is known of a file that is not among those of a result: it may be there all the same."""
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
    """A path as it stands among the files of a result: `./a//b` is `a/b`."""
    return str(PurePosixPath(name))


def is_within(name: str) -> bool:
    """Whether a path names a file in the work folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts
