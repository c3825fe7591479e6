"""Work folders that begin as a view of a base folder, and through which the base never changes."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Iterator

from . import kernel

_CLONE_FILE = 0x40049409  # of one file system: the same blocks, copied only when written to


def overlay(base: str, changes: str, spare: str, target: str) -> None:
    """Mount the base at the target, with all changes going to another folder.

    `changes` and `spare` are empty folders of one file system. OSError where it cannot be done.
    """
    # A folder that is removed and made again is marked by such an attribute. Without them
    # programs would get errors that no ordinary folder gives.
    os.setxattr(changes, "user.assay", b"1")
    os.removexattr(changes, "user.assay")
    options = f"lowerdir={base},upperdir={changes},workdir={spare},userxattr"
    kernel.mount("overlay", target, "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def copy(base: str, target: str) -> None:
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
    """A new file of its own, never a link: a link would lead writes back to the source."""
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
        # Only what is there: a file of a few bytes may say that it has terabytes of zeros.
        for start, end in _data(reading, size):
            os.lseek(reading, start, os.SEEK_SET)
            os.lseek(writing, start, os.SEEK_SET)
            while start < end and (count := os.sendfile(writing, reading, None, end - start)):
                start += count
        if os.fstat(writing).st_size < size:
            os.ftruncate(writing, size)


def _data(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """The parts of a file that are not holes."""
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
