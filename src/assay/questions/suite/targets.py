"""The target of a suite: the one it names, or the one given instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.documents import Place
from assay.errors import InputError
from assay.questions.suite.files import root_of
from assay.questions.suite.formats import SuiteKeys

if TYPE_CHECKING:
    from assay.questions.suite.suite import Suite
    from assay.sandbox import Target

CURRENT = "current"
_ADVICE = "name it with --target, for example --target pydantic==2.9"
# The package that a repository releases, by the last part of the repository's address.
_RELEASED_AS = {"adk-python": "google-adk"}
_RELEASE = re.compile(r"v?(\d+(?:\.\w+)*)")


@dataclass(frozen=True)
class GivenTarget:
    """What a suite says about its target.

    `values` are requirements, `current` or folders. They are empty where the suite names a
    repository or a version that no package is known for; `missing` says so.
    """

    values: tuple[str, ...]
    place: Place
    missing: str = ""


def read_target(keys: SuiteKeys, places: Mapping[str, Place]) -> GivenTarget | None:
    """Return the target as the suite names it; None if it names none."""
    if keys.target:
        extra = tuple(keys.extra_dependencies or ())
        return GivenTarget((*keys.target, *extra), places["target"])
    if keys.target_repo_url is None:
        return None
    place = places["target_repo_url"]
    name = keys.target_repo_url.rstrip("/").removesuffix(".git").rpartition("/")[2]
    version = _RELEASE.fullmatch(keys.target_repo_version or "")
    if name not in _RELEASED_AS:
        return GivenTarget((), place, f"no package is known for {keys.target_repo_url}")
    if version is None:
        said = keys.target_repo_version
        missing = f"{said!r} is not a release" if said else "`target_repo_version` is missing"
        return GivenTarget((), places.get("target_repo_version", place), missing)
    library = f"{_RELEASED_AS[name]}=={version[1]}"
    return GivenTarget((library, *(keys.extra_dependencies or ())), place)


def resolve_target(suite: Suite, given: Sequence[str] = ()) -> Target:
    """Return the target to prove a suite against: the one given, else the suite's own.

    What is given replaces all that the suite says, its extra dependencies too. Folders are written
    with a slash (`./src`) and are relative to the suite, or to the current folder if given.
    """
    if given:
        return _target(given, Path.cwd(), "--target")
    own = suite.target
    if own is None:
        raise InputError(
            "the suite names no target",
            where=str(suite.path),
            advice=f"{_ADVICE}, or with the key `target` in the suite",
        )
    if own.missing:
        raise InputError(own.missing, where=str(own.place), advice=_ADVICE)
    return _target(own.values, suite.path.parent, str(own.place), root_of(suite.path))


def _target(values: Iterable[str], base: Path, where: str, root: Path | None = None) -> Target:
    from assay.sandbox import Target

    words = [value.strip() for value in values]
    current = [word for word in words if word.partition(":")[0] == CURRENT]
    others = [word for word in words if word not in current]
    try:
        return Target(
            requirements=tuple(word for word in others if not _is_folder(word)),
            sources=tuple(_folder(word, base, root) for word in others if _is_folder(word)),
            current=bool(current),
            about=tuple(name for word in current for name in _about(word)),
        )
    except InputError as error:
        error.where = error.where or where
        raise


def _about(word: str) -> list[str]:
    """Return the distributions in `current:one,two`."""
    names = word.partition(":")[2].split(",")
    return [name.strip() for name in names if name.strip()]


def _is_folder(word: str) -> bool:
    """Tell whether a word names a folder; a bare word is always a package."""
    return word in (".", "..", "~") or ("/" in word and "@" not in word)


def _folder(word: str, base: Path, root: Path | None) -> Path:
    path = base / Path(word).expanduser()
    if root is not None and not path.resolve().is_relative_to(root.resolve()):
        # Proofs may read all of a target, and a suite and its proofs may be somebody else's.
        raise InputError(
            f"{word} points outside of {root}",
            advice=f"if you trust the suite, name the folder yourself: --target {word}",
        )
    if not path.is_dir():
        raise InputError(f"{word} is not a folder", advice=f"it is sought in {base}")
    return path
