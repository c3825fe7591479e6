"""Small changes of a sound input that authors, editors, crashes and attackers make."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

# What stands for a value where another one is meant.
VALUES = [
    b"null", b"true", b"0", b"-1", b"1e999", b"NaN", b"-Infinity", b"1" * 5000, b"0.1e-400", b'""',
    b"[]", b"{}", b"[[]]", b'"\\ud800"', b'"\\u0000"', b'"' + b"x" * 300 + b'"', b"~", b"yes", b"'",
    b"2024-01-01", b"!!python/name:os.system", b"0x1F", b"1_000", b"*a", b"&a [*a]", b"<<: 1",
    b"${x}", b"${?HOME}", b"${a}${a}", b'include "/etc/hostname"', b'"""', b"[" * 2000,
    b'{"a":' * 500, b"- " * 500, b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x00", b"\r",
    b"\xe2\x80\xa8", b"../../x", b"/dev/zero", b"|", b">", b"# ", b"//", b"\t", b"%", b"@", b"`",
    b"a: b: c", b"? x", b"---\n", b"...\n", b"1/0", b"0/0", b"9/8",
]  # fmt: skip
_TOKEN = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|[\w./-]+|[^\w\s]")


def mutate(data: bytes, chance: Random) -> bytes:
    """Return the input after one to four changes."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = chance.choice(_CHANGES)(data, chance)
    # No giants: what is large is looked at elsewhere.
    return data[:100_000]


def _flip(data: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _insert(data: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(VALUES) + data[at:]


def _cut(data: bytes, chance: Random) -> bytes:
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[:start] + data[min(end, start + 200) :]


def _tear(data: bytes, chance: Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _replace_token(data: bytes, chance: Random) -> bytes:
    tokens = list(_TOKEN.finditer(data))
    if not tokens:
        return data
    token = chance.choice(tokens)
    other = chance.choice(VALUES) if chance.random() < 0.6 else chance.choice(tokens)[0]
    return data[: token.start()] + other + data[token.end() :]


def _change_lines(data: bytes, chance: Random) -> bytes:
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            lines.insert(other, lines[at])
        case 1:
            del lines[at]
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case _:
            lines[at] = chance.choice((b"  ", b"\t", b" ")) + lines[at]
    return b"".join(lines)


_CHANGES: list[Callable[[bytes, Random], bytes]] = [
    _flip, _insert, _cut, _tear, _replace_token, _replace_token, _replace_token, _change_lines,
]  # fmt: skip
