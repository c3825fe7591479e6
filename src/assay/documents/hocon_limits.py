"""Limits for HOCON: linear parsing time for long texts, and no exploding substitutions."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

LARGEST_VALUE = 16_000_000
"""Characters of all that a file comes to once everything is substituted."""
_LONG = 1_000
_MOST_BLANKS = 100_000
# What may be resolved in this process without a trial; the trial takes a fifth of a second.
_HARMLESS = 1_000_000
_SECONDS = 10
_MEMORY = 448 << 20
_TOKEN = re.compile(
    r'"""(?:.*?)"""+|(")|((?:[\s\ufeff]++|(?:#|//)[^\n]*+\n)++)'
    r"|(?:#|//)[^\n]*+",
    re.DOTALL,
)
# A run of backslashes that begins here, and the end of a string or line after it.
_CLOSING = re.compile(r'(?<!\\)\\*+["\n]')
_TRIPLE = re.compile(r'"""(?:.*?)"""+', re.DOTALL)
_COMMENT = re.compile(r"(?:#|//)[^\n]*")
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class UnfitTextError(Exception):
    """A text that would take too long to parse, with the position."""

    def __init__(self, what: str, position: int) -> None:
        super().__init__(what)
        self.what, self.position = what, position


@dataclass
class LongTexts:
    """Quoted strings removed before parsing, because the parser is quadratic in their length."""

    taken: list[str] = field(default_factory=list)
    _word: str = field(default_factory=lambda: secrets.token_hex(8))

    def take_out(self, text: str) -> str:
        """Return a HOCON text with a short mark for every long string, preserving lines."""
        pieces, at = [], 0
        while found := _TOKEN.search(text, at):
            end = self._end(found)
            pieces.append(text[at : found.start()])
            piece = text[found.start() : end]
            is_long = found[1] is not None and len(piece) > _LONG
            pieces.append(self._take(piece, found.start()) if is_long else piece)
            at = end
        pieces.append(text[at:])
        return "".join(pieces)

    def _end(self, found: re.Match[str]) -> int:
        """Return where a token ends; refuse one that would take too long to parse."""
        text, (open_quote, gap) = found.string, found.groups()
        if open_quote:
            if end := _end_of_string(text, found.end()):
                return end
            # For a short one the parser reports the same, with a better message.
            if "\n" not in text[found.end() : found.end() + _LONG]:
                raise UnfitTextError("unterminated string", found.start())
        if gap and len(gap) > _MOST_BLANKS:
            blanks = _COMMENT.sub("", gap)
            if len(blanks) - blanks.count("\n") > _MOST_BLANKS:
                raise UnfitTextError(f"more than {_MOST_BLANKS:,} blanks in a row", found.start())
        return found.end()

    def _take(self, quoted: str, position: int) -> str:
        try:
            self.taken.append(str(json.loads(quoted, strict=False)))
        except ValueError:
            raise UnfitTextError("unknown escape in a string", position) from None
        return f'"\ue000{self._word}-{len(self.taken) - 1}\ue001"'

    def put_back(self, value: Any) -> Any:
        """Return a parsed value with the long strings restored; raise UnfitTextError if it grew."""
        left, mark = LARGEST_VALUE, re.compile(f"\ue000{self._word}-([0-9]+)\ue001")

        def restore(text: str) -> str:
            nonlocal left
            left -= len(text) + sum(len(self.taken[int(n)]) for n in mark.findall(text))
            if left < 0:
                raise UnfitTextError(f"it comes to more than {LARGEST_VALUE:,} characters", 0)
            whole = mark.sub(lambda one: self.taken[int(one[1])], text)
            # Two escapes that JSON means as one character; the parser leaves both halves.
            return _HALVES.sub(_join, whole)

        return _map_texts(value, restore)


def _end_of_string(text: str, start: int) -> int | None:
    """Return the end of a double-quoted string; None if its line, or the text, ends first.

    In one expression that repeats a group, `re` would use 100 bytes per character.
    """
    for found in _CLOSING.finditer(text, start):
        # An odd number of backslashes: what follows is escaped.
        if (found.end() - found.start()) % 2:
            return found.end() if found[0].endswith('"') else None
    return None


def size_without_long_texts(text: str) -> int:
    """Return the length of a HOCON text without long triple-quoted strings."""
    return len(text) - sum(len(one) for one in _TRIPLE.findall(text) if len(one) > _LONG)


def _join(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [_map_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {change(key): _map_texts(inner, change) for key, inner in value.items()}
    return value


@dataclass
class Growth:
    """The possible size of each top-level key: its own text, and what it refers to."""

    written: dict[str, int] = field(default_factory=dict)
    referred: dict[str, list[str]] = field(default_factory=dict)

    def add(self, top: str, size: int) -> None:
        self.written[top] = self.written.get(top, 0) + size

    def refer(self, top: str, other: str) -> None:
        self.referred.setdefault(top, []).append(other)

    def is_harmless(self) -> bool:
        """Return whether the result stays small, however substitutions are resolved."""
        sizes: dict[str, float] = {}
        try:
            return sum(self._size(top, sizes) for top in self.written) <= _HARMLESS
        except RecursionError:
            return False

    def _size(self, top: str, sizes: dict[str, float]) -> float:
        if top not in sizes:
            # A key that refers to itself may grow without end, until its size is known.
            sizes[top] = float("inf")
            sizes[top] = self.written.get(top, 0) + sum(
                self._size(other, sizes) for other in self.referred.get(top, ())
            )
        return sizes[top]


_TRIAL = """
import json, resource, sys
given = json.load(sys.stdin)
resource.setrlimit(resource.RLIMIT_CPU, (given["seconds"], given["seconds"] + 1))
resource.setrlimit(resource.RLIMIT_AS, (given["memory"], given["memory"]))
sys.path[:] = given["path"]
import hocon
def read(name):
    if name not in given["texts"]:
        raise FileNotFoundError(2, "No such file or directory", name)
    return given["texts"][name]
try:
    found = hocon.parse(given["text"], base_dir=given["folder"], env=given["environment"],
                        read_file=read).to_object()
except (hocon.ParseError, hocon.ResolveError, hocon.ConfigError):
    sys.exit(0)
sys.exit(len(json.dumps(found, default=str)) > given["most"])
"""


def resolves_in_time(
    text: str, folder: str, texts: Mapping[str, str], environment: Mapping[str, str]
) -> bool:
    """Return whether a process with limits can resolve a file's substitutions."""
    given = {
        "text": text,
        "folder": folder,
        "texts": dict(texts),
        "environment": dict(environment),
        "path": sys.path,
        "seconds": _SECONDS,
        "memory": _MEMORY,
        "most": LARGEST_VALUE,
    }
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter and a constant program
            [sys.executable, "-I", "-c", _TRIAL],
            input=json.dumps(given).encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=6 * _SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
