"""Replaces secrets in everything that is stored, shown or sent on, in any encoding.

A secret is rarely echoed as it was sent: it may be escaped for JSON, HTML, a URL or a terminal,
several times over, with its white space folded. A text is therefore searched as it is and with one
layer of escapes after another removed, while each character keeps its original position. Encodings
without a layer to remove (base64, hexadecimal) are listed. So is the output of Assay's own encoders
for a secret: some do not escape their own escape character, so their output is ambiguous.
"""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil
from typing import Any
from urllib.parse import quote, quote_plus

from assay.errors import AssayError
from assay.escaping import escape_hidden

# Shorter texts are part of too many words: replacing them would hide the answer, not a secret.
SHORTEST = 4
# Shorter parts of base64 stand in too many words by chance.
_SHORTEST_PART = 8
# How many layers of escapes are removed; JSON in JSON in an address in HTML has four.
_LAYERS = 8

_LINE_BREAKS = str.maketrans({"\n": "\\n", "\t": "\\t"})
_INVALID_BYTES = {0xDC00 + byte: byte for byte in range(0x80, 0x100)}
ENCODERS: Mapping[str, Callable[[str], str]] = {
    "JSON": lambda text: json.dumps(text)[1:-1],
    "JSON without escapes": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "visible": escape_hidden,
    "one line": lambda text: escape_hidden(text).translate(_LINE_BREAKS),
    "HTML": html.escape,
    "cell of a Markdown table": lambda text: text.replace("|", "\\|"),
    "repr": lambda text: repr(text)[1:-1],
    "ASCII": lambda text: ascii(text)[1:-1],
    "address": lambda text: quote(text, safe="", errors="surrogatepass"),
    "shell": lambda text: shlex.quote(text).strip("'"),
    "single quotes of YAML": lambda text: text.replace("'", "''"),
    "form": lambda text: quote_plus(text, errors="surrogatepass"),
    "UTF-8 without surrogates": lambda text: text.encode(errors="replace").decode(),
    "UTF-8 with escapes": lambda text: text.encode(errors="backslashreplace").decode(),
    # An escape for each half of a character, read by somebody who does not join them, or does.
    "halves": lambda text: "".join(map(_split, text)),
    "joined": lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass"),
    # What could not be decoded from UTF-8, read as Latin-1; both are what an invalid byte becomes.
    "bytes": lambda text: text.translate(_INVALID_BYTES),
}
"""How our writers, and the libraries they use, write a text; without the quotes around it."""


def _split(letter: str) -> str:
    data = letter.encode("utf-16-be", "surrogatepass")
    halves = (data[at : at + 2] for at in range(0, len(data), 2))
    return "".join(half.decode("utf-16-be", "surrogatepass") for half in halves)


_FOR_ADDRESSES = str.maketrans("+/", "-_")


def redact(value: Any, secrets: Mapping[str, str]) -> Any:
    """Return a value with every secret replaced by its name, including in keys."""
    return _redact(value, secrets) if secrets else value


def redactor(secrets: Mapping[str, str]) -> Callable[[str], str]:
    """Return the same as a function of texts."""

    def replace(text: str) -> str:
        return _redact_text(text, secrets)

    return replace


def redact_error(error: AssayError, replace: Callable[[str], str]) -> None:
    """Replace secrets in the message of an error."""
    error.what = replace(error.what)
    error.where = error.where and replace(error.where)
    error.advice = error.advice and replace(error.advice)
    error.args = (error.what,)


def text_of(value: Any) -> str:
    """Return a text or a number as a text."""
    try:
        return str(value)
    except ValueError:
        # Python writes no integers of many thousand digits, and neither does anybody else.
        return ""


def _redact(value: Any, secrets: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _redact_text(value, secrets)
    if isinstance(value, bytes):
        text = _redact_text(value.decode(errors="surrogateescape"), secrets)
        return text.encode(errors="surrogateescape")
    if isinstance(value, list):
        return [_redact(item, secrets) for item in value]
    if isinstance(value, tuple):
        return tuple(_redact(item, secrets) for item in value)
    if isinstance(value, dict):
        return {_redact(key, secrets): _redact(inner, secrets) for key, inner in value.items()}
    if isinstance(value, int | float) and not isinstance(value, bool):
        return secrets.get(text_of(value), value)
    return value


def _redact_text(text: str, secrets: Mapping[str, str]) -> str:
    layers = list(_layers(text))
    found = [
        (start, end, secret)
        for secret in secrets
        for layer in layers
        for start, end in _spellings(secret).find(layer)
    ]
    if not found:
        return text
    # Where secrets overlap, all of them go, under the name of the longest that comes first.
    found.sort(key=lambda one: (one[0], -len(one[2]), -one[1]))
    pieces, last = [], 0
    for start, end, secret in found:
        if start >= last:
            pieces += [text[last:start], secrets[secret]]
        last = max(last, end)
    return "".join([*pieces, text[last:]])


# --- a text without its escapes


@dataclass(frozen=True)
class _Layer:
    """A text after some escapes were removed, and the original position of each part."""

    text: str
    parent: _Layer | None = None
    # Of every part: where it begins here, where it began, and whether an escape stood there.
    begins: tuple[int, ...] = ()
    origins: tuple[tuple[int, int, bool], ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original position of a part of this text."""
        if self.parent is None:
            return start, end
        return self.parent.span(self._origin(start)[0], self._origin(end - 1)[1])

    def _origin(self, at: int) -> tuple[int, int]:
        index = bisect_right(self.begins, at) - 1
        start, end, is_escape = self.origins[index]
        if is_escape:
            return start, end
        start += at - self.begins[index]
        return start, start + 1


def _layers(text: str) -> Iterator[_Layer]:
    """Yield a text, then the same text with one layer of escapes after another removed."""
    layer = _Layer(text)
    yield layer
    for _ in range(_LAYERS):
        inner = _without_escapes(layer)
        if inner is None:
            return
        layer = inner
        yield layer


_ESCAPE = re.compile(
    r"""
    (?P<pair>\\u[dD][89abAB]HH\\u[dD][c-fC-F]HH)
    | \\u(?:\{(?P<braced>H{1,6})\}|(?P<four>H{4}))
    | \\U(?P<eight>H{8})
    | (?P<bytes>(?:\\[xX]HH)+|(?:%HH)+)
    | %u(?P<percent>H{4})
    | &\#(?:0*(?P<decimal>[0-9]{1,7})|[xX]0*(?P<hexadecimal>H{1,6}));
    | (?P<entity>&[A-Za-z][A-Za-z0-9]{1,31};)
    | \\(?P<octal>[0-3][0-7]{2})
    | \\(?P<short>[0abefnrtv]|[^A-Za-z0-9\s])
    """.replace("H", "[0-9a-fA-F]"),
    re.VERBOSE,
)
# JSON, C, Python and YAML; a backslash before anything else that is no letter means nothing.
_BASES = {"octal": 8, "decimal": 10}
_SHORT = dict(zip("0abefnrtv", "\0\a\b\x1b\f\n\r\t\v", strict=True))


def _without_escapes(layer: _Layer) -> _Layer | None:
    pieces: list[str] = []
    begins: list[int] = []
    origins: list[tuple[int, int, bool]] = []
    at = last = 0
    for match in _ESCAPE.finditer(layer.text):
        start, end = match.span()
        if start > last:
            pieces.append(layer.text[last:start])
            begins.append(at)
            origins.append((last, start, False))
            at += start - last
        for letters, width in _meaning(match):
            pieces.append(letters)
            begins.append(at)
            origins.append((start, start + width, True))
            at, start = at + len(letters), start + width
        last = end
    text = "".join([*pieces, layer.text[last:]])
    if text == layer.text:
        return None
    begins.append(at)
    origins.append((last, len(layer.text), False))
    return _Layer(text, layer, tuple(begins), tuple(origins))


def _meaning(match: re.Match[str]) -> Iterator[tuple[str, int]]:
    """Yield the letters an escape stands for, each with the width of what was written for it."""
    kind, written = match.lastgroup, match[0]
    assert kind is not None
    if kind == "bytes":
        width = 3 if written[0] == "%" else 4
        data = bytes.fromhex(re.sub(r"%|\\[xX]", "", written))
        for letter, size in _decode(data):
            yield letter, size * width
    elif kind == "pair":
        halves = bytes.fromhex(written[2:6] + written[8:12])
        yield halves.decode("utf-16-be"), len(written)
    elif kind == "entity":
        yield html.unescape(written), len(written)
    elif kind == "short":
        yield _SHORT.get(written[1], written[1]), len(written)
    else:
        code = int(match[kind], _BASES.get(kind, 16))
        yield chr(code) if code <= 0x10FFFF else written, len(written)


def _decode(data: bytes) -> Iterator[tuple[str, int]]:
    """Yield the letters of UTF-8 with the bytes each takes; an invalid byte as Latin-1."""
    at = 0
    while at < len(data):
        for size in (1, 2, 3, 4):
            try:
                letter = data[at : at + size].decode(errors="surrogatepass")
            except UnicodeDecodeError:
                continue
            break
        else:
            letter, size = chr(data[at]), 1
        yield letter, size
        at += size


# --- the spellings of a secret


@dataclass(frozen=True)
class _Spellings:
    """The spellings of a secret, and those whose white space may vary."""

    literals: tuple[str, ...]
    spaced: tuple[str, ...]

    def find(self, layer: _Layer) -> Iterator[tuple[int, int]]:
        """Yield where in the first text a spelling stands that can be read in this layer."""
        text = layer.text
        for literal in self.literals:
            at = text.find(literal)
            while at >= 0:
                yield layer.span(at, at + len(literal))
                at = text.find(literal, at + 1)
        for core, pattern in self._patterns:
            if core in text:
                for match in pattern.finditer(text):
                    yield layer.span(*match.span())

    @cached_property
    def _patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        # The longest word first: most texts do without the pattern.
        return [
            (max(words, key=len), re.compile(r"[\s+]+".join(map(re.escape, words))))
            for words in map(str.split, self.spaced)
        ]


@lru_cache(maxsize=20_000)
def _spellings(secret: str) -> _Spellings:
    """Return the spellings of a secret; surrounding white space is ignored."""
    secret = secret.strip()
    if len(secret) < SHORTEST:
        return _Spellings((secret,) if secret else (), ())
    data = secret.encode(errors="surrogatepass")
    *_, plain = _layers(secret)
    read = [secret, secret.upper(), secret.lower(), secret.translate(_INVALID_BYTES)]
    if len(innermost := plain.text.strip()) >= SHORTEST:
        # Whatever looks like an escape in the secret is removed with those around it.
        read.append(innermost)
    written = [*_encode_all(secret), data.hex(), data.hex().upper(), *_in_base64(data)]
    literals = dict.fromkeys([*read, *written])
    spaced = [one for one in dict.fromkeys(read) if len(one.split()) > 1]
    return _Spellings(tuple(one for one in literals if len(one) >= SHORTEST), tuple(spaced))


def _encode_all(secret: str) -> Iterator[str]:
    """Yield the output of our encoders for a secret, alone and combined."""
    for first in ENCODERS.values():
        once = first(secret)
        yield once.strip()
        if once != secret:
            yield from (second(once).strip() for second in ENCODERS.values())


def _in_base64(data: bytes) -> list[str]:
    """Return it as the whole of what was encoded, and as a part of it in each of three ways."""
    found = [base64.b64encode(data).rstrip(b"=").decode()]
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + data).decode()
        # Only the letters that depend on the secret alone.
        part = encoded[ceil(before * 8 / 6) : (before + len(data)) * 8 // 6]
        if len(part) >= _SHORTEST_PART:
            found.append(part)
    return [spelled for one in found for spelled in (one, one.translate(_FOR_ADDRESSES))]


# Credentials are longer than that; shorter values with such a name are often ordinary words.
_SHORTEST_CREDENTIAL = 8
_CREDENTIAL = re.compile(
    r"(?:^|_)(?:(?:API)?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?"
    r"|AUTHORIZATION|COOKIE)(?:$|_)",
    re.IGNORECASE,
)


def is_credential_name(name: str) -> bool:
    """Return whether a variable of this name holds a credential."""
    return _CREDENTIAL.search(name) is not None


def find_credentials(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the credentials in an environment, each with its replacement."""
    named = ((name, text) for name, text in environment.items() if is_credential_name(name))
    return name_by_value(named, _SHORTEST_CREDENTIAL)


def name_by_value(named: Iterable[tuple[str, str]], shortest: int) -> dict[str, str]:
    """Return texts with their replacements, without those too short to be distinctive."""
    return {text: f"<{name}>" for name, text in named if len(text.strip()) >= shortest}
