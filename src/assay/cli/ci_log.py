"""Keeps text from programs and agents from acting as a command in the log of a CI service.

GitHub Actions, Azure Pipelines, TeamCity and GitLab execute lines of a log that look like their
commands: they set variables, mask or fold output, forge annotations. Every such line that would
reach the log is broken up, whoever wrote it; `print_commands` is for Assay's own annotations.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO, TextIO

# The services trim lines before they look at them. A carriage return starts a line as well. What
# begins with `##` is a command wherever it stands in a line: Azure Pipelines looks for `##vso[`,
# TeamCity for `##teamcity[` and GitHub's older form for `##[`.
_COMMANDS = re.compile(rb"((?:^|[\r\n])[ \t\v\f]*[:#](?=[:#])|#(?=#))")
_SECTIONS = re.compile(rb"(section_(?:start|end))(?=:)")
_SERVICES = ("GITHUB_ACTIONS", "GITEA_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION", "GITLAB_CI")
_REMEMBERED = 64


def protect_log(environment: Mapping[str, str] = os.environ) -> None:
    """Break up commands on standard output and standard error where a CI service reads them."""
    if any(environment.get(name) for name in _SERVICES):
        sys.stdout = _protect(sys.stdout)
        sys.stderr = _protect(sys.stderr)


def _protect(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.flush()
    # As much of a buffered stream as TextIOWrapper uses when it only writes.
    buffer: Any = LogWriter(stream.buffer)
    return io.TextIOWrapper(
        buffer,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=True,
        write_through=True,
    )


def print_commands(text: str) -> None:
    """Write commands of Assay's own to standard output; what is not its own in them is escaped."""
    sys.stdout.flush()
    buffer = sys.stdout.buffer
    stream = buffer.inner if isinstance(buffer, LogWriter) else buffer
    stream.write(text.encode("utf-8", "backslashreplace"))
    stream.flush()


class LogWriter(io.BufferedIOBase):
    """Writes bytes on at once, with every command broken up, also one that comes in pieces."""

    def __init__(self, inner: BinaryIO) -> None:
        self.inner = inner
        # The end of what was written, as far as a command may have begun in it.
        self._before = b""

    def write(self, data: bytes) -> int:  # type: ignore[override]
        """Write all of it."""
        text = self._before + bytes(data)
        self.inner.write(break_commands(text)[len(break_commands(self._before)) :])
        line = re.split(rb"[\r\n]", text[-_REMEMBERED:])[-1]
        is_cut = len(line) == _REMEMBERED < len(text) and line.strip()
        self._before = b"." + line[1:] if is_cut else line
        return len(data)

    def flush(self) -> None:
        self.inner.flush()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.inner.fileno()

    def isatty(self) -> bool:
        return self.inner.isatty()


def break_commands(text: bytes) -> bytes:
    """Return the text with a space inside every mark that would begin a command."""
    return _SECTIONS.sub(rb"\1 ", _COMMANDS.sub(rb"\1 ", text))
