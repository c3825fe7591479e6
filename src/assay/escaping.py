"""Escaping of untrusted text for display: hidden and control characters are made visible."""

from __future__ import annotations

import re

# What a reader cannot see or what acts on the display: control characters (so every terminal
# escape sequence), invisible and bidirectional formatting, separators that only look like
# newlines, lone surrogates and noncharacters. The two joiners stay: scripts and emoji need them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb"
    "\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def escape_hidden(text: str) -> str:
    """Return a text with hidden and harmful characters escaped; newlines and tabs stay."""
    return _HIDDEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code == 0x0D:
        return "\\r"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
