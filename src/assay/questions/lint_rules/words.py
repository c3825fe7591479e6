"""The words of questions: what is code in them, what is prose, and when two texts are the same."""

from __future__ import annotations

import re

_CODE = re.compile(r"```.*?```|``.+?``|`[^`\n]+`", re.DOTALL)
_QUOTED = re.compile(r"""(?<!\w)[rbuf]{0,2}(?:"[^"\n]*"|'[^'\n]*'(?!\w))""", re.IGNORECASE)
_BOTH = (
    r"(?:both\s+)?(?:options?\s+)?\(?[A-Z]\)?(?:\s*,\s*\(?[A-Z]\)?)*,?\s+(?:and|&)\s+\(?[A-Z]\)?"
)
_COMPOUND = re.compile(
    rf"(?:none|all|any|neither|both|either)\s+of\s+(?:the\s+)?(?:above|these|them|options|others)"
    rf"(?:\s+options)?|none|{_BOTH}|(?:only\s+)?\(?[A-Z]\)?\s+only|only\s+\(?[A-Z]\)?",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"none(?:\s+of\s+(?:the\s+)?(?:above|these|them|options|others)\b.*)?", re.IGNORECASE
)
_CODE_MARKS = re.compile(r"[_=(){}\[\]<>@#]|\w\.\w|::|->")


def prose(text: str) -> str:
    """Return the text with blanks in place of what stands in backticks or quotes."""
    without_code = _CODE.sub(lambda match: " " * len(match[0]), text)
    return _QUOTED.sub(lambda match: " " * len(match[0]), without_code)


def blank_quotes(text: str) -> str:
    """Return the text with code but without quoted strings, in which anything may stand."""
    return _QUOTED.sub(lambda match: " " * len(match[0]), text)


def is_code(text: str) -> bool:
    """Tell whether a text looks like code or an identifier, where letters' case has a meaning."""
    bare = text.strip()
    return bool(_CODE_MARKS.search(bare)) or len(bare.split()) == 1


def normalise(text: str) -> str:
    """Return the text without blanks, backticks, a full stop, and without case in prose."""
    if "\n" in text.strip():
        return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    bare = " ".join(text.replace("`", "").split()).rstrip(".").rstrip()
    return bare if is_code(bare) else bare.casefold()


def is_compound(option: str) -> bool:
    """Tell whether an option speaks about other options ("None of the above", "Both A and C")."""
    return _COMPOUND.fullmatch(_plain(option)) is not None


def is_none_of_them(option: str) -> bool:
    """Tell whether an option says that none of the others is right."""
    return _NONE.fullmatch(_plain(option)) is not None


def _plain(option: str) -> str:
    return " ".join(option.split()).strip("`'\". ")
