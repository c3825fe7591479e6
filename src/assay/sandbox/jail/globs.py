"""Globs of files: what they match, which folders they lead into, and names that are none."""

from __future__ import annotations

import re


def plain_name(pattern: str) -> str | None:
    """The path a pattern names, if it is no glob: `[*]`, `[?]` and `[[]` mean these characters."""
    if re.search(r"[*?[]", re.sub(r"\[[*?[]\]", "", pattern)):
        return None
    name = re.sub(r"\[([*?[])\]", r"\1", pattern)
    return None if {"", ".", ".."} & set(name.split("/")) else name


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


def folders_of(patterns: list[str]) -> re.Pattern[str]:
    """What matches the path of a folder, with a slash at its end, that a pattern may lead into."""
    return re.compile("|".join(map(_folders, patterns)), re.DOTALL)


def _folders(pattern: str) -> str:
    before, anywhere, _ = pattern.partition("**")
    parts = before.split("/")[:-1]
    inner = ".*" if anywhere else ""
    for part in reversed(parts):
        inner = f"(?:{_expression(part)}/{inner})?"
    return inner
