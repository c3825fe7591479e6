"""Base folders: what work folders begin as a view of, made once and owned by whom programs are."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


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
    from assay.sandbox.inside import folder
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
        folder.remove(name)
        os.close(held)


def hand_over(base: Base) -> None:
    """Give everything in the base to the user of its programs; to be done after every change."""
    _give(base.path, base.user)
    for above, folders, files in os.walk(base.path):
        for name in (*folders, *files):
            _give(Path(above, name), base.user)


def _give(path: Path, user: int | None) -> None:
    found = path.lstat()
    if user is not None and (found.st_uid, found.st_gid) != (user, user):
        os.chown(path, user, user, follow_symlinks=False)
    if not stat.S_ISLNK(found.st_mode):
        mode = stat.S_IMODE(found.st_mode)
        readable = 0o555 if stat.S_ISDIR(found.st_mode) or mode & 0o100 else 0o444
        if mode | readable != mode:
            path.chmod(mode | readable)
