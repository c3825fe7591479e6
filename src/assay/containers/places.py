"""The folders of a container in which programs may write, as seen from this machine.

They are opened through `/proc/PID/root`, step by step and without following a link: an image or a
program may have put a link there that leads to a folder of this machine.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from assay.errors import InfrastructureError
from assay.sandbox import (
    CollectedFiles,
    collect_files,
    copy_tree,
    hand_over_folder,
    put_files,
    remove_in,
)

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = ("tmpfs", "mqueue")


def open_folder(pid: int, path: str, *, makes: bool = False) -> int:
    """Return a descriptor of a folder in the root of a process, reached without any link."""
    here = os.open(f"/proc/{pid}/root", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in PurePosixPath(path).parts[1:]:
        outer = here
        try:
            if makes:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=outer)
            here = os.open(part, FOLDER, dir_fd=outer)
        finally:
            os.close(outer)
    return here


def open_writable(pid: int, path: str) -> int:
    """Return a descriptor of a container's own file system in memory; raise if it is another's."""
    folder = open_folder(pid, path)
    device = os.fstat(folder).st_dev
    seen = f"{os.major(device)}:{os.minor(device)}"
    for line in Path(f"/proc/{pid}/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        if fields[2] == seen and fields[4] == path and after.split()[0] in _KINDS:
            return folder
    os.close(folder)
    raise InfrastructureError(f"{path} of the container is not a file system of its own")


@dataclass(frozen=True)
class Places:
    """The writable folders of one container: the work folder first."""

    folders: tuple[int, ...]
    user: int

    @classmethod
    def open(cls, pid: int, paths: Sequence[str], user: int, *, is_fixed: bool) -> Places:
        """Open the folders; `close` releases them."""
        with contextlib.ExitStack() as held:
            opened = []
            for path in paths:
                folder = (
                    open_writable(pid, path) if is_fixed else open_folder(pid, path, makes=True)
                )
                held.callback(os.close, folder)
                opened.append(folder)
            held.pop_all()
        return cls(tuple(opened), user)

    @property
    def work(self) -> int:
        return self.folders[0]

    def renew(self, base: Path | None) -> None:
        """Empty all folders and fill the work folder; no program of the container runs now."""
        for folder in self.folders:
            for name in os.listdir(folder):  # noqa: PTH208 - a descriptor
                remove_in(folder, name)
        os.fchown(self.work, self.user, self.user)
        os.fchmod(self.work, 0o755)
        if base is not None:
            copy_tree(str(base), f"/proc/self/fd/{self.work}")
            hand_over_folder(self.work, self.user, is_private=True)

    def put(self, files: Mapping[str, bytes]) -> None:
        """Write files into the work folder, in which programs may be running."""
        put_files(files, self.work)
        for name in files:
            _give(self.work, name, self.user)

    def collect(self, patterns: Sequence[str], limit: int) -> CollectedFiles:
        """Return files of the work folder."""
        return collect_files(self.work, patterns, limit)

    @property
    def is_full(self) -> bool:
        return any(_is_full(folder) for folder in self.folders)

    def close(self) -> None:
        for folder in self.folders:
            os.close(folder)


def _is_full(folder: int) -> bool:
    about = os.fstatvfs(folder)
    return about.f_blocks > 0 and about.f_bavail == 0


def _give(work: int, name: str, user: int) -> None:
    """Make the programs' user the owner of a file and of the folders above it."""
    for folder, part in _steps(work, name):
        with contextlib.suppress(OSError):
            descriptor = os.open(
                part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
            )
            try:
                kind = os.fstat(descriptor).st_mode
                if stat.S_ISREG(kind) or stat.S_ISDIR(kind):
                    os.fchown(descriptor, user, user)
            finally:
                os.close(descriptor)


def _steps(work: int, name: str) -> Iterator[tuple[int, str]]:
    """Yield every part of a path with a descriptor of its folder."""
    here = os.dup(work)
    try:
        for part in PurePosixPath(name).parts:
            yield here, part
            try:
                inner = os.open(part, FOLDER, dir_fd=here)
            except OSError:
                return
            os.close(here)
            here = inner
    finally:
        os.close(here)
