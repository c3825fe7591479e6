"""Walking, removing and copying untrusted folder trees of any depth.

Everything uses descriptors and follows no link. Neither Python's stack nor the number of open files
grows with the depth of a tree, so no depth can crash the walk.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from typing import NamedTuple

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Maximum number of parent folders kept open; beyond them the way back is `..`.
_HELD = 32
_DEEPEST_MEASURED = 1000
BOUNDLESS = 1 << 62
# The minimum size of a file or folder, not counting its name; not every file system reports it.
_ENTRY = 1024
_CLONE_FILE = 0x40049409  # of one file system: the same blocks, copied only when written to


def _nothing() -> None:
    pass


class _Level:
    """A folder on the way down: its name, its identity, and the entries still to visit."""

    __slots__ = ("descriptor", "identity", "name", "waiting")

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self.descriptor: int | None = descriptor
        self.identity = _identity(descriptor)
        self.waiting: list[str] | None = None


class Tree:
    """A cursor in a folder tree that moves down and up; the root's descriptor stays open."""

    def __init__(self, root: int) -> None:
        self._levels = [_Level("", root)]
        self.here = root

    @property
    def depth(self) -> int:
        """The number of folders between the root and this one."""
        return len(self._levels) - 1

    @property
    def above(self) -> str:
        """The path of this folder from the root, with a slash at its end."""
        return "".join(f"{level.name}/" for level in self._levels[1:])

    def next_name(self) -> str | None:
        """Return the next name in this folder; None at its end."""
        level = self._levels[-1]
        if level.waiting is None:
            level.waiting = _names(self.here)
        return level.waiting.pop() if level.waiting else None

    def enter(self, name: str) -> bool:
        """Go down; return False if it is not a folder or cannot be opened."""
        inner = open_folder(self.here, name)
        if inner is None:
            return False
        if self.depth >= _HELD:
            os.close(self.here)
            self._levels[-1].descriptor = None
        self._levels.append(_Level(name, inner))
        self.here = inner
        return True

    def leave(self) -> str | None:
        """Go up; return the name of the folder that was left, None at the root.

        If a program has moved it meanwhile, up to the next folder that is still known.
        """
        if not self.depth:
            return None
        left, level = self._levels.pop(), self._levels[-1]
        if level.descriptor is None:
            level.descriptor = _parent(self.here, level.identity)
        os.close(self.here)
        while level.descriptor is None:
            left, level = self._levels.pop(), self._levels[-1]
        self.here = level.descriptor
        return left.name

    def close(self) -> None:
        """Close what was opened here."""
        for level in self._levels[1:]:
            if level.descriptor is not None:
                os.close(level.descriptor)
        del self._levels[1:]


def _names(folder: int) -> list[str]:
    """Return the entries of a folder in reverse order."""
    try:
        return sorted(os.listdir(folder), reverse=True)
    except OSError:
        return []


def _identity(folder: int) -> tuple[int, int]:
    found = os.fstat(folder)
    return found.st_dev, found.st_ino


def _parent(folder: int, identity: tuple[int, int]) -> int | None:
    """Open the folder above, if it is still the same as on the way down."""
    try:
        parent = os.open("..", FOLDER, dir_fd=folder)
    except OSError:
        return None
    if _identity(parent) == identity:
        return parent
    os.close(parent)
    return None


def open_folder(folder: int, name: str) -> int | None:
    """Open a folder in a folder, making it readable if its owner had closed it."""
    for _ in range(2):
        try:
            inner = os.open(name, FOLDER, dir_fd=folder)
        except PermissionError:
            with contextlib.suppress(OSError):
                os.chmod(name, 0o700, dir_fd=folder)
            continue
        except OSError:
            return None
        if os.fstat(inner).st_mode & 0o100 == 0:  # its names can be seen, but not what they are
            with contextlib.suppress(OSError):
                os.fchmod(inner, 0o700)
        return inner
    return None


def entries(tree: Tree) -> Iterator[tuple[str, os.stat_result]]:
    """Yield everything in the entered folders; `tree.here` is the position of each.

    To see the content of a folder, enter it before asking for the next entry.
    """
    while True:
        name = tree.next_name()
        if name is None:
            if tree.leave() is None:
                return
            continue
        try:
            yield name, os.stat(name, dir_fd=tree.here, follow_symlinks=False)
        except OSError:
            continue


class Size(NamedTuple):
    """What a tree takes on disk, and how many files and folders are in it."""

    bytes: int
    entries: int


_UNLIMITED = Size(BOUNDLESS, BOUNDLESS)


def measure(path: str, most: Size = _UNLIMITED) -> Size:
    """Return the size of a tree; stop measuring once it exceeds `most`.

    The size is BOUNDLESS if the depth or the content of a closed folder cannot be determined. A
    file with several names counts once.

    Where Landlock checks every step of a path, each further folder takes longer than the last.
    """
    root, count = _open_root(path), 0
    if root is None:
        return Size(BOUNDLESS, 0)
    size, linked = os.fstat(root).st_blocks * 512, set()
    try:
        with contextlib.closing(Tree(root)) as tree:
            for name, entry in entries(tree):
                # Folders and names take space too: a tree of nothing else can fill a disk.
                is_counted = (entry.st_dev, entry.st_ino) in linked
                blocks = 0 if is_counted else entry.st_blocks * 512
                size += max(blocks, _ENTRY + len(name))
                if entry.st_nlink > 1 and not stat.S_ISDIR(entry.st_mode):
                    linked.add((entry.st_dev, entry.st_ino))
                count += 1
                if size > most.bytes or count > most.entries:
                    break
                if not stat.S_ISDIR(entry.st_mode):
                    continue
                if tree.depth >= _DEEPEST_MEASURED or not (
                    tree.enter(name) or _is_known_empty(tree.here, name)
                ):
                    size = BOUNDLESS
                    break
    finally:
        os.close(root)
    return Size(size, count)


def _open_root(path: str) -> int | None:
    """Return a descriptor of a folder, even if its owner closed it; None if it cannot be opened."""
    try:
        return os.open(path, FOLDER)
    except PermissionError:
        with contextlib.suppress(OSError):
            os.chmod(path, 0o700)
            return os.open(path, FOLDER)
        return None


def _is_known_empty(folder: int, name: str) -> bool:
    """Return whether a folder that cannot be opened is gone or must be empty.

    Only a folder created without write permission can be neither filled nor opened; if the
    permission was removed later, it can be restored.
    """
    try:
        entry = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return True
    return not stat.S_ISDIR(entry.st_mode) or entry.st_mode & 0o300 != 0o300


def remove(path: str, on_entry: Callable[[], None] = _nothing) -> None:
    """Remove a folder with all its content, whatever the program did to it.

    Disks differ: 100,000 files may take minutes. `on_entry` is called before each of them.
    """
    with contextlib.suppress(FileNotFoundError):
        parent = os.open(os.path.dirname(path), FOLDER)
        try:
            remove_in(parent, os.path.basename(path), on_entry)
        finally:
            os.close(parent)


def remove_in(parent: int, name: str, on_entry: Callable[[], None] = _nothing) -> None:
    """Remove an entry of a folder; raise OSError if part of it cannot be removed."""
    if _unlink(parent, name):
        return
    with contextlib.closing(Tree(parent)) as tree:
        tree.enter(name)
        while tree.depth:
            on_entry()
            inner = tree.next_name()
            if inner is None:
                left = tree.leave()
                if tree.depth:
                    _remove_empty(tree.here, str(left))
            elif not _unlink(tree.here, inner) and not tree.enter(inner):
                _remove_empty(tree.here, inner)
    os.rmdir(name, dir_fd=parent)


def _unlink(parent: int, name: str) -> bool:
    try:
        os.unlink(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _remove_empty(parent: int, name: str) -> None:
    # An entry that cannot be removed keeps the folders above it, and the topmost raises the error.
    with contextlib.suppress(OSError):
        os.rmdir(name, dir_fd=parent)


def copy_tree(base: str, target: str) -> None:
    """Copy what is in the base into an existing folder: plain files, folders and links as such."""
    waiting = [(base, target)]
    while waiting:
        source, new = waiting.pop()
        with os.scandir(source) as entries:
            for entry in entries:
                path = os.path.join(new, entry.name)
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    # With its mode from the start: where users are shared none can be set later.
                    os.mkdir(path, stat.S_IMODE(found.st_mode) | 0o700)
                    waiting.append((entry.path, path))
                elif stat.S_ISLNK(found.st_mode):
                    os.symlink(os.readlink(entry.path), path)
                elif stat.S_ISREG(found.st_mode):
                    copy_file(entry.path, path, found)


def copy_file(source: str, target: str, found: os.stat_result) -> None:
    """Copy a file, never link it: writes through a link would reach the source."""
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        writing = os.open(target, flags, stat.S_IMODE(found.st_mode) | 0o200)
        try:
            _fill(reading, writing, found.st_size)
            # Interpreters compare this time with that of what they have compiled.
            with contextlib.suppress(PermissionError):
                os.utime(writing, ns=(found.st_atime_ns, found.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _fill(reading: int, writing: int, size: int) -> None:
    if not size:
        return
    try:
        fcntl.ioctl(writing, _CLONE_FILE, reading)
    except OSError:
        # Only allocated data: a file of a few bytes may claim to have terabytes of zeros.
        for start, end in _data(reading, size):
            os.lseek(reading, start, os.SEEK_SET)
            os.lseek(writing, start, os.SEEK_SET)
            while start < end and (count := os.sendfile(writing, reading, None, end - start)):
                start += count
        if os.fstat(writing).st_size < size:
            os.ftruncate(writing, size)


def _data(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a file that are not holes."""
    end = 0
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # nothing but a hole is left
                return
            raise
        end = os.lseek(descriptor, start, os.SEEK_HOLE)
        yield start, end
