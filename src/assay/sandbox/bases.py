"""Base folders: what work folders begin as a view of, made once and owned by whom programs are."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DEEPEST = 100
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Base:
    """A folder, and the user it belongs to where that is not the user who runs Assay."""

    path: Path
    user: int | None = None


@contextlib.contextmanager
def new_base(level: str) -> Iterator[Base]:
    """An empty base for programs at that level of isolation, gone at the end of the block.

    What a killed process could not remove is removed by the next one.
    """
    from assay.sandbox.inside import folder, trees
    from assay.sandbox.inside.maker import sandbox_user

    user = sandbox_user() if os.geteuid() == 0 and level != "none" else None
    name, held = folder.make_held(tempfile.gettempdir())
    holder = Path(name)
    try:
        if level == "landlock":
            holder.chmod(0o755)  # with namespaces nobody has to find the way to it
        base = Base(holder / "base", user)
        base.path.mkdir(mode=0o755)
        hand_over(base)
        yield base
    finally:
        with contextlib.suppress(OSError):
            trees.remove(name)
        os.close(held)


class TooDeepError(Exception):
    """A tree has more folders in each other than can be copied."""


def check_depth(path: str) -> None:
    """Raises TooDeepError for the path of something in a tree that cannot be copied.

    Trees are copied by paths, which the kernel takes only up to a length.
    """
    if path.count("/") > _DEEPEST or len(os.fsencode(path)) > _LONGEST:
        raise TooDeepError(
            f"has folders nested more than {_DEEPEST} deep, or with paths of more than "
            f"{_LONGEST} bytes: {path[:60]}…"
        )


def hand_over(base: Base) -> None:
    """Give everything in the base to the user of its programs; to be done after every change.

    Raises TooDeepError.
    """
    from assay.sandbox.inside.trees import FOLDER, Tree, entries

    root = os.open(base.path, FOLDER)
    try:
        _give(".", root, os.fstat(root), base.user)
        with contextlib.closing(Tree(root)) as tree:
            for name, found in entries(tree):
                check_depth(tree.above + name)
                _give(name, tree.here, found, base.user)
                if stat.S_ISDIR(found.st_mode):
                    tree.enter(name)
    finally:
        os.close(root)


def _give(name: str, parent: int, found: os.stat_result, user: int | None) -> None:
    if user is not None and (found.st_uid, found.st_gid) != (user, user):
        os.chown(name, user, user, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISLNK(found.st_mode):
        mode = stat.S_IMODE(found.st_mode)
        readable = 0o555 if stat.S_ISDIR(found.st_mode) or mode & 0o100 else 0o444
        if mode | readable != mode:
            os.chmod(name, mode | readable, dir_fd=parent)
