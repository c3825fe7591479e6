"""Mentions: the pieces of code in a text, each with its form and the name it refers to."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

# Nothing longer than this is one mention; a question that long is code, not a name.
_LONGEST = 2000
_NAME = r"[A-Za-z_]\w*"
_DOTTED = re.compile(rf"{_NAME}(?:\.{_NAME})*")
_FLAG = re.compile(r"--?[A-Za-z][\w-]*(?:[= ]\S+)?")
_QUOTED = re.compile(r"`+([^`\n]{1,400})`+")
_SPELLED = re.compile(
    r"(?<![\w`./-])(?:"
    r"(--[a-z][\w-]*)"  # --flag
    rf"|({_NAME}(?:\.{_NAME})+(?:\(\))?)"  # a.b or a.b()
    r"|([A-Za-z]\w*_\w+(?:\(\))?)"  # with_underscores
    r"|([A-Z][a-z0-9]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*)"  # InCamelCase
    r")(?![\w`/])"
)
# A file is not a dotted name, however much it looks like one.
_FILE = re.compile(
    r"[\w./-]*\.(?:py|pyi|pyc|md|rst|txt|json|ya?ml|toml|cfg|ini|csv|html|xml|sh|log|env|lock)"
)
# Abbreviations that look like attributes.
_NO_NAMES = frozenset({"e.g", "i.e", "etc", "vs", "a.k.a", "e.g.", "i.e."})


class CodeForm(StrEnum):
    """What a piece of code is."""

    IMPORT = "import"
    NAME = "name"
    CALL = "call"
    KEYWORD = "keyword"
    FLAG = "flag"
    COMMAND = "command"
    SIGNATURE = "signature"
    LITERAL = "literal"
    CODE = "code"


@dataclass(frozen=True)
class Mention:
    """One piece of code: `name` is the dotted name it is about, `keywords` what a call is given.

    `start` and `end` are its place in the text, marks included; `quoted` is False where only its
    spelling shows that it is code.
    """

    code: str
    form: CodeForm
    name: str = ""
    keywords: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    quoted: bool = True

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def head(self) -> str:
        return self.name.rpartition(".")[0]


def read_mention(code: str, start: int = 0, end: int = 0, *, quoted: bool = True) -> Mention:
    """Return the form of one piece of code and the name it is about."""
    text = code.strip()
    # A decorator and a clause are about what they name, and the head of a class about its bases.
    if re.fullmatch(r"@[\w.]+(?:\(.*\))?", text):
        text = text[1:]
    elif clause := re.fullmatch(r"except ([\w.]+):?", text):
        text = clause[1]
    elif re.fullmatch(r"class \w+\(.*\):", text):
        text = f"{text} pass"
    form, name, keywords = _read(text)
    return Mention(text, form, name, keywords, start, end, quoted)


def _read(text: str) -> tuple[CodeForm, str, tuple[str, ...]]:
    if _FILE.fullmatch(text):
        return CodeForm.LITERAL, "", ()
    if _DOTTED.fullmatch(text) and text not in ("True", "False", "None"):
        return CodeForm.NAME, text, ()
    if _FLAG.fullmatch(text):
        return CodeForm.FLAG, re.split("[= ]", text, maxsplit=1)[0], ()
    if re.match(r"(?:async\s+)?def\s", text):
        return CodeForm.SIGNATURE, "", ()
    tree = _parse(text)
    if tree is None:
        return (CodeForm.COMMAND if _is_command(text) else CodeForm.CODE), "", ()
    if tree.body and all(isinstance(one, ast.Import | ast.ImportFrom) for one in tree.body):
        return CodeForm.IMPORT, "", ()
    if len(tree.body) != 1:
        return CodeForm.CODE, "", ()
    return _read_statement(tree.body[0])


def _read_statement(node: ast.stmt) -> tuple[CodeForm, str, tuple[str, ...]]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        name = _read_path(node.targets[0])
        return (CodeForm.KEYWORD, name, ()) if name else (CodeForm.CODE, "", ())
    if not isinstance(node, ast.Expr):
        return CodeForm.CODE, "", ()
    value = node.value
    if isinstance(value, ast.Call):
        name = _read_path(value.func)
        keywords = tuple(one.arg for one in value.keywords if one.arg)
        return (CodeForm.CALL, name, keywords) if name else (CodeForm.CODE, "", ())
    return (CodeForm.LITERAL if read_literal(value) is not None else CodeForm.CODE), "", ()


def _parse(text: str) -> ast.Module | None:
    if len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_command(text: str) -> bool:
    """Return whether it reads like a command line: lower-case words, then perhaps flags."""
    words = text.split()
    return 1 < len(words) <= 8 and all(re.fullmatch(r"[a-z][\w-]*|--?\w\S*", one) for one in words)


def _read_path(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    # `Thing(…).method()` is about a thing and its method as much as `Thing.method()` is.
    if isinstance(node, ast.Call):
        parts.append(_read_path(node.func))
    elif isinstance(node, ast.Name):
        parts.append(node.id)
    else:
        return ""
    return ".".join(reversed(parts)) if all(parts) else ""


def read_literal(code: str | ast.expr | None) -> tuple[Any] | None:
    """Return the value of a literal in a tuple, None for anything else."""
    try:
        return (ast.literal_eval(code or ""),)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def mentions(text: str) -> tuple[Mention, ...]:
    """Return the pieces of code in a text: in backticks, or spelled like a name."""
    quoted = tuple(
        read_mention(found[1], found.start(), found.end()) for found in _QUOTED.finditer(text)
    )
    spelled = (one for one in _find_spelled(text) if not _is_inside(one, quoted))
    return tuple(sorted((*quoted, *spelled), key=lambda one: one.start))


def _find_spelled(text: str) -> Iterator[Mention]:
    for found in _SPELLED.finditer(text):
        code = found.group().removesuffix("()")
        if code.lower() not in _NO_NAMES and len(code) > 3:
            yield read_mention(found.group(), found.start(), found.end(), quoted=False)


def _is_inside(one: Mention, others: tuple[Mention, ...]) -> bool:
    return any(other.start <= one.start and one.end <= other.end for other in others)
