"""Static assets of a problem: their names, `{{static:<name>}}`, and their paths in the sandbox."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from pydantic import BaseModel

from assay.errors import InputError, nearest
from assay.sandbox import Base, Bind, copy_file, copy_tree, hand_over
from assay.submissions.config import ProblemConfig

Model = TypeVar("Model", bound=BaseModel)
_NAME = re.compile(r"\{\{\s*static:\s*([^{}]+?)\s*\}\}")


def asset_names(value: Any) -> Iterator[str]:
    """Yield the asset names that a text or structure uses, including in keys."""
    if isinstance(value, str):
        yield from _NAME.findall(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from asset_names(key)
            yield from asset_names(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from asset_names(item)


def replace_assets(value: Any, paths: Mapping[str, str]) -> Any:
    """Replace every `{{static:<name>}}` in texts and keys with the path of the asset."""
    if isinstance(value, str):
        return _NAME.sub(lambda found: _path(found[1], paths), value) if "{{" in value else value
    if isinstance(value, list | tuple):
        return type(value)(replace_assets(item, paths) for item in value)
    if isinstance(value, dict):
        return {
            replace_assets(key, paths): replace_assets(item, paths) for key, item in value.items()
        }
    return value


def _path(name: str, paths: Mapping[str, str]) -> str:
    if name not in paths:
        raise InputError(f"there is no static asset {name!r}", advice=nearest(name, paths))
    return paths[name]


def with_assets(case: Model, paths: Mapping[str, str]) -> Model:
    """Return the case as it is run; the same object if it names no asset."""
    given = {**case.__dict__, **(case.__pydantic_extra__ or {})}
    changed = {}
    for name, value in given.items():
        new = _in_models(value, paths)
        if new != value:
            changed[name] = new
    return case.model_copy(update=changed) if changed else case


def _in_models(value: Any, paths: Mapping[str, str]) -> Any:
    if isinstance(value, BaseModel):
        return with_assets(value, paths)
    if isinstance(value, list):
        return [_in_models(item, paths) for item in value]
    return replace_assets(value, paths)


_PLACE = "/static"


def bind_assets(problem: ProblemConfig, base: Base, level: str) -> dict[str, Bind]:
    """Return every asset by name: what to bind, and the path that programs see."""
    return {name: _bind(problem, name, base, level) for name in problem.static_assets}


def _bind(problem: ProblemConfig, name: str, base: Base, level: str) -> Bind:
    asset = problem.static_assets[name]
    problem.check_inside(problem.path / asset.path)
    path = (problem.path / asset.path).resolve()
    if not path.exists():
        raise InputError(
            f"the static asset {name!r} is not there: {asset.path}",
            where=str(problem.path / "config.yaml"),
        )
    if base.user is not None and (level == "landlock" or not _is_public(path)):
        path = _copy_for(base.user, path, base.path.parent / "static" / _folder_of(name))
    # Without namespaces nothing can be seen under another path than its own.
    shown = PurePosixPath(asset.save_path or asset.path).name or _folder_of(name)
    inside = f"{_PLACE}/{_folder_of(name)}/{shown}" if level == "namespaces" else str(path)
    return Bind(str(path), inside)


def _folder_of(name: str) -> str:
    """Return a folder name for the name of an asset."""
    return re.sub(r"[^\w.-]", "_", name).strip(".") or "_"


def _is_public(path: Path) -> bool:
    """Return whether a file, or all files of a folder, are readable by everyone."""
    everything = [path, *(path.rglob("*") if path.is_dir() else ())]
    return all(_is_open(one.lstat().st_mode) for one in everything)


def _is_open(mode: int) -> bool:
    wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & wanted == wanted


def _copy_for(user: int, path: Path, folder: Path) -> Path:
    """Return a copy that only the programs' user can read."""
    new = folder / path.name
    folder.mkdir(parents=True)
    if path.is_dir():
        new.mkdir()
        copy_tree(str(path), str(new))
    else:
        copy_file(str(path), str(new), path.stat())
    os.chown(folder.parent, -1, user)
    folder.parent.chmod(0o750)
    hand_over(Base(folder, user), is_private=True, is_owner=False)
    return new
