"""The work folder of a program: putting files in, bringing files back, removing it.

Everything goes through descriptors of folders and follows no link, because what is in the folder
was made by the program. By the time anything is read, the program has ended.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_DEEPEST = 64


def size(folder: int) -> int:
    """Bytes on disk beneath a folder."""
    return sum(entry.st_blocks * 512 for _, _, entry in walk(folder))


def walk(folder: int, depth: int = 0, above: str = "") -> Iterator[tuple[str, int, os.stat_result]]:
    """(path, descriptor of the folder it is in, what it is) of everything that is not a folder."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        try:
            entry = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            continue
        if not stat.S_ISDIR(entry.st_mode):
            yield above + name, folder, entry
            continue
        inner = open_folder(folder, name) if depth < _DEEPEST else None
        if inner is not None:
            try:
                yield from walk(inner, depth + 1, f"{above}{name}/")
            finally:
                os.close(inner)


def open_folder(folder: int, name: str) -> int | None:
    """A folder in a folder, made readable if its owner had closed it."""
    for _ in range(2):
        try:
            return os.open(name, _FOLDER, dir_fd=folder)
        except PermissionError:
            with contextlib.suppress(OSError):
                os.chmod(name, 0o700, dir_fd=folder)
        except OSError:
            return None
    return None


def remove(path: str) -> None:
    """Remove a folder with all that is in it, whatever the program did to it."""
    with contextlib.suppress(FileNotFoundError):
        parent = os.open(os.path.dirname(path), _FOLDER)
        try:
            _remove_in(parent, os.path.basename(path))
        finally:
            os.close(parent)


def _remove_in(parent: int, name: str) -> None:
    inner = open_folder(parent, name)
    if inner is not None:
        try:
            for entry in os.listdir(inner):
                try:
                    os.unlink(entry, dir_fd=inner)
                except OSError:
                    _remove_in(inner, entry)
        finally:
            os.close(inner)
    os.rmdir(name, dir_fd=parent)
