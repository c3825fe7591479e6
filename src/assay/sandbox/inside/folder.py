"""The work folder of a program: putting files in, bringing files back, removing it.

Everything goes through descriptors of folders and follows no link, because what is in the folder
was made by the program. By the time anything is read, the program has ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_PREFIX = "assay-work-"
_DEEPEST = 64
_MOST_FILES = 10_000


class Collected(NamedTuple):
    """Files by name, and what was asked for but left where it was, with the reason."""

    files: list[tuple[str, bytes]]
    left: list[tuple[str, str]]


def make_private(parent: str) -> str:
    """A new folder that only its owner can enter, in use as long as anything of ours lives."""
    return make_held(parent)[0]


def make_held(parent: str) -> tuple[str, int]:
    """The same, and the descriptor that says it is in use."""
    parent = os.path.realpath(parent)
    _sweep(parent)
    name = f"{_PREFIX}{os.urandom(8).hex()}"
    path = os.path.join(parent, name)
    os.mkdir(os.path.join(parent, f".{name}"), 0o700)
    # Held, also by those who inherit it; only then the folder gets the name that _sweep looks for.
    held = os.open(os.path.join(parent, f".{name}"), _FOLDER)
    fcntl.flock(held, fcntl.LOCK_SH)
    os.rename(os.path.join(parent, f".{name}"), path)
    return path, held


def _sweep(parent: str) -> None:
    """Remove the folders of workers that were killed before they could do it."""
    for name in os.listdir(parent):
        if not name.startswith(_PREFIX):
            continue
        with contextlib.suppress(OSError):
            descriptor = os.open(os.path.join(parent, name), _FOLDER)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(os.path.join(parent, name))
            finally:
                os.close(descriptor)


def size_of(path: str) -> int:
    """Bytes on disk beneath a folder."""
    descriptor = os.open(path, _FOLDER)
    try:
        return sum(entry.st_blocks * 512 for _, _, entry in walk(descriptor))
    finally:
        os.close(descriptor)


def put(files: list[tuple[str, int]], data: bytes, folder: int) -> None:
    """Write files, given as names and lengths, into a folder; scripts may be run.

    What has such a name already is replaced; a link is never followed, a program may have made it.
    """
    start = 0
    for name, length in files:
        content = data[start : start + length]
        start += length
        parent = _make_parents(folder, name)
        try:
            _write(parent, os.path.basename(name), content)
        finally:
            os.close(parent)


def _make_parents(folder: int, name: str) -> int:
    """A descriptor of the folder that a file of that name belongs into."""
    inner = os.dup(folder)
    for part in os.path.dirname(name).split("/"):
        if part in ("", "."):
            continue
        outer = inner
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=outer)
            inner = os.open(part, _FOLDER, dir_fd=outer)
        finally:
            os.close(outer)
    return inner


def _write(parent: int, name: str, content: bytes) -> None:
    mode = 0o755 if content[:2] == b"#!" or content[:4] == b"\x7fELF" else 0o644
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, mode, dir_fd=parent)
    except FileExistsError:
        os.unlink(name, dir_fd=parent)
        descriptor = os.open(name, flags, mode, dir_fd=parent)
    with open(descriptor, "wb") as file:
        file.write(content)


def collect(folder: int, patterns: list[str], limit: int) -> Collected:
    """The plain files whose path matches a pattern, as long as all of them fit into the limit."""
    found = Collected([], [])
    if not patterns:
        return found
    wanted = matcher(patterns)
    links: Counter[int] = Counter()
    for path, parent, entry in walk(folder, where=_where(patterns)):
        if wanted.fullmatch(path) is None:
            continue
        if entry.st_nlink > 1 and not links:
            links.update(found.st_ino for _, _, found in walk(folder))
        if len(found.files) + len(found.left) >= _MOST_FILES:
            found.left.append(("...", f"more than {_MOST_FILES} files"))
            break
        reason = _reason_to_leave(entry, max(1, links[entry.st_ino]), limit)
        if reason is None:
            content = _read(parent, os.path.basename(path), entry.st_size)
            found.files.append((path, content))
            limit -= len(content)
        else:
            found.left.append((path, reason))
    return found


def _reason_to_leave(entry: os.stat_result, links_here: int, limit: int) -> str | None:
    if stat.S_ISLNK(entry.st_mode):
        return "a symbolic link"
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
        return file.read(length)


def matcher(patterns: list[str]) -> re.Pattern[str]:
    """What matches a path if one of the globs does."""
    return re.compile("|".join(_expression(pattern) for pattern in patterns), re.DOTALL)


def _expression(pattern: str) -> str:
    """A glob as a regular expression: `*` and `?` stay in their folder, `**` crosses folders."""
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
    """`[abc]`, `[a-z]` or `[!abc]` as a regular expression; what is none of these means itself."""
    negated = part.startswith("[!")
    inner = re.sub(r"([\\\[^&~|])", r"\\\1", part[2:-1] if negated else part[1:-1])
    inner = re.sub(r"(?<![A-Za-z0-9])-|-(?![A-Za-z0-9])", r"\\-", inner)
    try:
        re.compile(f"[{inner}]")
    except re.error:
        return re.escape(part)
    return f"(?!/)[{'^' if negated else ''}{inner}]"


def _where(patterns: list[str]) -> re.Pattern[str]:
    """What matches the path of a folder, with a slash at its end, that a pattern may lead into."""
    return re.compile("|".join(map(_folders, patterns)), re.DOTALL)


def _folders(pattern: str) -> str:
    before, anywhere, _ = pattern.partition("**")
    parts = before.split("/")[:-1]
    inner = ".*" if anywhere else ""
    for part in reversed(parts):
        inner = f"(?:{_expression(part)}/{inner})?"
    return inner


def walk(
    folder: int, depth: int = 0, above: str = "", where: re.Pattern[str] | None = None
) -> Iterator[tuple[str, int, os.stat_result]]:
    """(path, descriptor of the folder it is in, what it is) of everything that is not a folder.

    Only folders whose path with a slash at its end matches `where` are entered.
    """
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
        if where is not None and where.fullmatch(f"{above}{name}/") is None:
            continue
        inner = open_folder(folder, name) if depth < _DEEPEST else None
        if inner is not None:
            try:
                yield from walk(inner, depth + 1, f"{above}{name}/", where)
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
