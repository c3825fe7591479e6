"""Static assets of a problem: where a program sees them, read-only, beside its work folder."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path, PurePosixPath

from assay.errors import InputError
from assay.sandbox import Base, Bind, copy_file, copy_tree, hand_over
from assay.submissions.config import ProblemConfig

_PLACE = "/static"


def bind_assets(problem: ProblemConfig, base: Base, level: str) -> dict[str, Bind]:
    """Every asset by its name: what to bind, and under which path a program finds it."""
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
    """A name of an asset as the name of a folder."""
    return re.sub(r"[^\w.-]", "_", name).strip(".") or "_"


def _is_public(path: Path) -> bool:
    """Whether everybody may read a file, or all files of a folder."""
    everything = [path, *(path.rglob("*") if path.is_dir() else ())]
    return all(_is_open(one.lstat().st_mode) for one in everything)


def _is_open(mode: int) -> bool:
    wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & wanted == wanted


def _copy_for(user: int, path: Path, folder: Path) -> Path:
    """Return a copy that the user of programs can read, and nobody else on the machine."""
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
