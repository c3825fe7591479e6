"""How a secret looks after a server, a library or an encoding had it in its hands.

What echoes a secret seldom echoes it as it was sent: quotes and slashes are escaped, once or
several times, white space is folded, headers are decoded from base64 and addresses from percents.
"""

from __future__ import annotations

import base64
import html
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from math import ceil

# No encoding but base64 and hexadecimal writes these in another way.
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*")
# Shorter parts of base64 stand in too many words by chance.
_SHORTEST_PART = 8
# Escaping three times over makes seven backslashes of one.
_ESCAPES = r"\\{0,8}"
_WHITE_SPACE = r"\s|\+|%(?:25)*(?:20|0[9a-dA-D])|\\{1,8}[nrtvf]"


@dataclass(frozen=True)
class Spellings:
    """The texts that stand for a secret, and a pattern for those that are too many to list."""

    secret: str
    literals: tuple[str, ...]
    core: str | None
    """What stands in each spelling that needs the pattern; None where no spelling does."""

    def occur_in(self, text: str) -> bool:
        if any(literal in text for literal in self.literals):
            return True
        # Most texts do without the pattern, and making one takes long.
        return self.core is not None and self.core in text and bool(self._pattern.search(text))

    @property
    def expression(self) -> str:
        """One regular expression for all of them, the longest first."""
        literals = sorted(self.literals, key=len, reverse=True)
        patterns = [] if self.core is None else [self._pattern.pattern]
        return "|".join([*patterns, *map(re.escape, literals)])

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(_pattern(self.secret))


@lru_cache(maxsize=20_000)
def spellings(secret: str) -> Spellings:
    """The spellings of a secret; space around it means nothing and may be gone."""
    secret = secret.strip()
    data = secret.encode(errors="surrogatepass")
    cases = [secret, secret.upper(), secret.lower(), data.hex(), data.hex().upper()]
    literals = dict.fromkeys([*cases, *_in_base64(data)])
    core = max(_PLAIN.findall(secret), key=len)
    return Spellings(
        secret, tuple(one for one in literals if one), None if core == secret else core
    )


def _in_base64(data: bytes) -> list[str]:
    """As the whole of what was encoded, and as a part of it, for which there are three ways."""
    found = [base64.b64encode(data).rstrip(b"=").decode()]
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode()
        # Only the letters that depend on the secret alone.
        part = encoded[ceil(before * 8 / 6) : (before + len(data)) * 8 // 6]
        if len(part) >= _SHORTEST_PART:
            found.append(part)
    return [spelled for one in found for spelled in (one, one.translate(_FOR_ADDRESSES))]


_FOR_ADDRESSES = str.maketrans("+/", "-_")


def _pattern(secret: str) -> str:
    parts = []
    for kind, letters in groupby(secret, _kind):
        run = "".join(letters)
        if kind == " ":
            # However much of it there is, and whatever kind: it may have been folded.
            encoded = [way for letter in sorted(set(run)) for way in _encoded(letter)]
            parts.append(f"(?:{'|'.join([_WHITE_SPACE, *encoded])})+")
        elif kind == "\\":
            parts.append(rf"(?:\\{{{len(run)},{8 * len(run)}}}|(?:%(?:25)*5[cC]){{{len(run)}}})")
        else:
            parts += map(_letter, run)
    return "".join(parts)


def _kind(letter: str) -> str:
    return " " if letter.isspace() else "\\" if letter == "\\" else ""


def _letter(letter: str) -> str:
    """A pattern of every way to write one letter."""
    if _PLAIN.fullmatch(letter):
        return re.escape(letter)
    # The entity first: it may begin with the letter itself.
    return f"(?:{'|'.join([*_encoded(letter), _ESCAPES + re.escape(letter)])})"


@lru_cache(maxsize=512)
def _encoded(letter: str) -> tuple[str, ...]:
    """Patterns of the ways to write a letter in which it does not stand itself."""
    code, data = ord(letter), letter.encode(errors="surrogatepass")
    ways = [
        "".join(f"%(?:25)*{byte:02x}" for byte in data),
        "".join(rf"\\{{1,8}}x{byte:02x}" for byte in data),
        "".join(rf"\\{{1,8}}u{half:04x}" for half in _halves(letter)),
        rf"\\{{1,8}}(?:x{code:02x}|u{code:08x})",
        f"&(?:amp;)?#(?:{code}|x0*{code:x});",
    ]
    if (entity := html.escape(letter)) != letter:
        ways.append(re.escape(entity))
    return tuple(f"(?i:{way})" for way in ways)


def _halves(letter: str) -> list[int]:
    """The numbers under which JSON and JavaScript know a letter: one, or two."""
    data = letter.encode("utf-16-be", errors="surrogatepass")
    return [int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2)]
