"""The work folder of a program: writing files, collecting files, and removing it.

Everything uses folder descriptors and follows no link, because the content of the folder was made
by the program, which may still be running (a server, for example).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from .trees import FOLDER, Tree, entries, open_folder, remove, remove_in

_PREFIX = "assay-work-"
_DEEPEST = 64
_MOST_FILES = 10_000

# Reasons why something was not collected.
A_FOLDER = "a folder"
A_CLOSED_FOLDER = "a folder that cannot be opened"
A_LINK = "a symbolic link"


class FoundFiles(NamedTuple):
    """Files by name, and requested files that were not collected, with the reason."""

    files: list[tuple[str, bytes]]
    left: list[tuple[str, str]]


def make_private(parent: str) -> str:
    """Make a folder that only its owner can enter, in use as long as anything of ours lives."""
    return make_held(parent)[0]


def make_held(parent: str) -> tuple[str, int]:
    """Make a private folder; also return the descriptor that marks it as in use."""
    parent = os.path.realpath(parent)
    _sweep(parent)
    name = f"{_PREFIX}{os.urandom(8).hex()}"
    path = os.path.join(parent, name)
    os.mkdir(os.path.join(parent, f".{name}"), 0o700)
    # The lock is held, also by processes that inherit it; only then does the folder get the name
    # that _sweep looks for.
    held = os.open(os.path.join(parent, f".{name}"), FOLDER)
    fcntl.flock(held, fcntl.LOCK_SH)
    os.rename(os.path.join(parent, f".{name}"), path)
    return path, held


def _sweep(parent: str) -> None:
    """Remove the folders of workers that were killed before they could do so."""
    names: list[str] = []
    with contextlib.suppress(OSError):
        names = os.listdir(parent)
    for name in names:
        if not name.startswith(_PREFIX):
            continue
        # A problem with another process's old folder must not keep a new worker from starting.
        with contextlib.suppress(Exception):
            descriptor = os.open(os.path.join(parent, name), FOLDER)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(os.path.join(parent, name))
            finally:
                os.close(descriptor)


def put(files: list[tuple[str, int]], data: bytes, folder: int) -> None:
    """Write files, given as names and lengths, into a folder; scripts may be run.

    Existing entries are replaced; a link is never followed, because a program may have made it.
    Raises OSError if the files conflict with each other.
    """
    _check_apart({os.path.normpath(name) for name, _ in files})
    start = 0
    for name, length in files:
        content = data[start : start + length]
        start += length
        parent = _make_parents(folder, name)
        try:
            _write(parent, os.path.basename(name), content)
        finally:
            os.close(parent)


def _check_apart(names: set[str]) -> None:
    for name in names:
        above = os.path.dirname(name)
        while above not in ("", "/"):
            if above in names:
                raise OSError(errno.ENOTDIR, "given as a file and needed as a folder", above)
            above = os.path.dirname(above)


def _make_parents(folder: int, name: str) -> int:
    """Make the folders above a file; return a descriptor of the last."""
    inner = os.dup(folder)
    for part in os.path.dirname(name).split("/"):
        if part in ("", "."):
            continue
        outer = inner
        try:
            inner = _make_folder(outer, part)
        finally:
            os.close(outer)
    return inner


def _make_folder(parent: int, name: str) -> int:
    """Make and open a folder in a folder, replacing a file or link of that name."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=parent)
    found = open_folder(parent, name)
    if found is not None:
        return found
    remove_in(parent, name)
    os.mkdir(name, 0o755, dir_fd=parent)
    return os.open(name, FOLDER, dir_fd=parent)


def _write(parent: int, name: str, content: bytes) -> None:
    mode = 0o755 if content[:2] == b"#!" or content[:4] == b"\x7fELF" else 0o644
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, mode, dir_fd=parent)
    except FileExistsError:
        remove_in(parent, name)
        descriptor = os.open(name, flags, mode, dir_fd=parent)
    with open(descriptor, "wb") as file:
        file.write(content)


def collect(folder: int, patterns: list[str], limit: int) -> FoundFiles:
    """Return the regular files whose path matches a pattern, up to the size limit.

    Files requested by name come first and are always examined: if one is in neither list, it does
    not exist. Only glob matches may be too many to list.
    """
    gathering = _Gathering(folder, limit)
    names = {name for pattern in patterns if (name := plain_name(pattern)) is not None}
    for name in sorted(names):
        gathering.look_at(name)
    globs = [pattern for pattern in patterns if plain_name(pattern) is None]
    if globs:
        gathering.search(globs, names)
    return gathering.found


class _Gathering:
    """Files being collected from a folder, and the number of bytes still allowed."""

    def __init__(self, folder: int, limit: int) -> None:
        self.found = FoundFiles([], [])
        self._folder, self._limit = folder, limit
        self._links: Counter[int] = Counter()

    def look_at(self, path: str) -> None:
        """Collect the file at that path, or record why it cannot be collected."""
        *parents, name = path.split("/")
        here = os.dup(self._folder)
        try:
            for number, part in enumerate(parents):
                inner = open_folder(here, part)
                if inner is None:
                    self._note_obstacle(here, "/".join(parents[: number + 1]))
                    return
                os.close(here)
                here = inner
            entry = _entry(here, name)
            if entry is not None and stat.S_ISDIR(entry.st_mode):
                self.found.left.append((path, A_FOLDER))
            elif entry is not None:
                self._take(path, here, entry)
        finally:
            os.close(here)

    def _note_obstacle(self, folder: int, path: str) -> None:
        """Record that something may be below a link, or in a folder that cannot be opened."""
        entry = _entry(folder, os.path.basename(path))
        if entry is not None and stat.S_ISLNK(entry.st_mode):
            self.found.left.append((path, A_LINK))
        elif entry is not None and stat.S_ISDIR(entry.st_mode):
            self.found.left.append((path, A_CLOSED_FOLDER))

    def search(self, globs: list[str], seen: set[str]) -> None:
        """Collect everything that matches a glob and has not been seen."""
        wanted, taken = matcher(globs), 0
        for path, parent, entry in walk(self._folder, folders_of(globs)):
            if wanted.fullmatch(path) is None or path in seen:
                continue
            if taken >= _MOST_FILES:
                self.found.left.append(("...", f"more than {_MOST_FILES} files"))
                return
            taken += 1
            self._take(path, parent, entry)

    def _take(self, path: str, parent: int, entry: os.stat_result) -> None:
        if entry.st_nlink > 1 and not self._links:
            self._links.update(found.st_ino for _, _, found in walk(self._folder))
        reason = _reason_to_leave(entry, max(1, self._links[entry.st_ino]), self._limit)
        if reason is None:
            try:
                content = _read(parent, os.path.basename(path), entry.st_size)
            except OSError as error:
                # A program that is still running may have changed it since it was looked at.
                self.found.left.append((path, f"it cannot be read: {error.strerror}"))
                return
            self.found.files.append((path, content))
            self._limit -= len(content)
        else:
            self.found.left.append((path, reason))


def _entry(folder: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def _reason_to_leave(entry: os.stat_result, links_here: int, limit: int) -> str | None:
    if stat.S_ISLNK(entry.st_mode):
        return A_LINK
    if not stat.S_ISREG(entry.st_mode):
        return "not a plain file"
    if entry.st_nlink > links_here:
        return "a hard link to a file outside the work folder"
    if entry.st_size > limit:
        return f"{entry.st_size} bytes, more than may be brought back"
    return None


def _read(parent: int, name: str, length: int) -> bytes:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=parent)
    except PermissionError:
        os.chmod(name, 0o600, dir_fd=parent)
        descriptor = os.open(name, flags, dir_fd=parent)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EAGAIN, "it was replaced while it was looked at")
        return file.read(length)


def walk(
    folder: int, where: re.Pattern[str] | None = None
) -> Iterator[tuple[str, int, os.stat_result]]:
    """Yield (path, descriptor of its folder, stat) of everything that is not a folder.

    Only folders whose path with a slash at its end matches `where` are entered.
    """
    with contextlib.closing(Tree(folder)) as tree:
        for name, entry in entries(tree):
            path = tree.above + name
            if not stat.S_ISDIR(entry.st_mode):
                yield path, tree.here, entry
            elif tree.depth < _DEEPEST and (where is None or where.fullmatch(f"{path}/")):
                tree.enter(name)


def plain_name(pattern: str) -> str | None:
    """Return the path of a pattern that is not a glob; `[*]`, `[?]`, `[[]` are literals."""
    if re.search(r"[*?[]", re.sub(r"\[[*?[]\]", "", pattern)):
        return None
    name = re.sub(r"\[([*?[])\]", r"\1", pattern)
    return None if {"", ".", ".."} & set(name.split("/")) else name


def matcher(patterns: list[str]) -> re.Pattern[str]:
    """Return an expression that matches a path if one of the globs does."""
    return re.compile("|".join(_expression(pattern) for pattern in patterns), re.DOTALL)


def _expression(pattern: str) -> str:
    """Return a glob as a regular expression; `*` and `?` stay in a folder, `**` does not."""
    text = ""
    for part in re.findall(r"\*\*/|\*\*|\*|\?|\[!?[^\]/]+\]|.", pattern, re.DOTALL):
        if part == "**/":
            text += "(?:[^/]+/)*"
        elif part == "**":
            text += ".*"
        elif part in ("*", "?"):
            text += "[^/]*" if part == "*" else "[^/]"
        elif len(part) > 1:
            text += _one_of(part)
        else:
            text += re.escape(part)
    return text


def _one_of(part: str) -> str:
    """Return `[abc]`, `[a-z]` or `[!abc]` as an expression; anything else means itself."""
    negated = part.startswith("[!")
    inner = re.sub(r"([\\\[^&~|])", r"\\\1", part[2:-1] if negated else part[1:-1])
    inner = re.sub(r"(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])", r"\\-", inner)
    try:
        re.compile(f"[{inner}]")
    except re.error:
        return re.escape(part)
    return f"(?!/)[{'^' if negated else ''}{inner}]"


def folders_of(patterns: list[str]) -> re.Pattern[str]:
    """Return what matches a folder, with a slash at its end, that a pattern may lead into."""
    return re.compile("|".join(map(_folders, patterns)), re.DOTALL)


def _folders(pattern: str) -> str:
    before, anywhere, _ = pattern.partition("**")
    parts = before.split("/")[:-1]
    inner = ".*" if anywhere else ""
    for part in reversed(parts):
        inner = f"(?:{_expression(part)}/{inner})?"
    return inner
