"""Base folders that work folders start as a view of; made once, owned by the programs' user."""

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
    """Make an empty base for programs at that level; removed at the end of the block.

    Leftovers of a killed process are removed by the next one.
    """
    from assay.sandbox.jail import folder, trees
    from assay.sandbox.jail.maker import sandbox_user

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
    """A tree is nested too deeply to be copied."""


def check_depth(path: str) -> None:
    """Raise TooDeepError for the path of something in a tree that cannot be copied.

    Trees are copied by paths, which the kernel takes only up to a length.
    """
    if path.count("/") > _DEEPEST or len(os.fsencode(path)) > _LONGEST:
        raise TooDeepError(
            f"has folders nested more than {_DEEPEST} deep, or with paths of more than "
            f"{_LONGEST} bytes: {path[:60]}…"
        )


def hand_over(base: Base, *, is_private: bool = False, is_owner: bool = True) -> None:
    """Give everything in the base to the programs' user; call it after every change.

    Private files keep their modes, but other users of the machine cannot access them. If programs
    must not be the owner, they read it through its group. Raises TooDeepError.
    """
    from assay.sandbox.jail.trees import FOLDER

    root = os.open(base.path, FOLDER)
    try:
        hand_over_folder(root, base.user, is_private=is_private, is_owner=is_owner)
    finally:
        os.close(root)


def hand_over_folder(
    root: int, user: int | None, *, is_private: bool = False, is_owner: bool = True
) -> None:
    """Give an open folder and everything in it to a user; see `hand_over`."""
    from assay.sandbox.jail.trees import Tree, entries

    given = _Gift(user, is_private, is_owner)
    given.give(".", root, os.fstat(root))
    with contextlib.closing(Tree(root)) as tree:
        for name, found in entries(tree):
            check_depth(tree.above + name)
            given.give(name, tree.here, found)
            if stat.S_ISDIR(found.st_mode):
                tree.enter(name)


@dataclass(frozen=True, slots=True)
class _Gift:
    """The new owner of files, and who may read them."""

    user: int | None
    is_private: bool
    is_owner: bool

    def give(self, name: str, parent: int, found: os.stat_result) -> None:
        """Change owner and mode of a file where necessary."""
        if self.user is not None:
            owner = self.user if self.is_owner else found.st_uid
            if (found.st_uid, found.st_gid) != (owner, self.user):
                os.chown(name, owner, self.user, dir_fd=parent, follow_symlinks=False)
        if not stat.S_ISLNK(found.st_mode):
            mode = stat.S_IMODE(found.st_mode)
            wanted = self._choose(mode, is_folder=stat.S_ISDIR(found.st_mode))
            if wanted != mode:
                os.chmod(name, wanted, dir_fd=parent)

    def _choose(self, mode: int, *, is_folder: bool) -> int:
        readable = 0o555 if is_folder or mode & 0o100 else 0o444
        if not self.is_private:
            return mode | readable
        return (mode | readable & (0o700 if self.is_owner else 0o750)) & 0o750
