"""Reads single keys of a test file object and reports invalid values with their position."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from assay.agents.connections.template import (
    METHODS,
    PLACEHOLDERS,
    Template,
    has_dots,
    is_known,
    list_placeholders,
    parse_path,
)
from assay.agents.testfile.source import FileSource
from assay.documents import KeyPath
from assay.errors import nearest
from assay.findings import Finding

Value = TypeVar("Value")
_ADVISED = 100
_TRUTHS = {"true": True, "false": False}


class InvalidValue(Exception):  # noqa: N818 - it says what is the case
    """A value that is invalid for its key, and what to write instead.

    `{}` in `what` is replaced by the value once secrets have been removed from it.
    """

    def __init__(self, what: str, value: Any = None, advice: str = "") -> None:
        super().__init__(what)
        self.what, self.value, self.advice = what, value, advice


@dataclass
class Fields:
    """The keys of one object, read one by one; problems are added to a shared list."""

    source: FileSource
    at: KeyPath
    given: dict[str, Any]
    problems: list[Finding]

    def take(self, key: str, read: Callable[[Any], Value], default: Value) -> Value:
        """Return the value of a key converted by `read`; the default if it is absent or invalid."""
        if key not in self.given:
            return default
        try:
            return read(self.given[key])
        except InvalidValue as error:
            what = error.what.replace("{}", self.source.preview(error.value))
            self.refuse("wrong-value", f"`{key}` {what}", key, error.advice)
            return default

    def refuse(self, code: str, message: str, key: str, advice: str = "") -> None:
        place = self.source.find_place((*self.at, key) if key else self.at)
        self.problems.append(Finding(code, message, place, advice))

    def refuse_unknown(self, known: Iterable[str]) -> None:
        """Report every unknown key."""
        known = set(known)
        unknown = [key for key in self.given if key not in known]
        for number, key in enumerate(unknown):
            # Searching for the nearest word is slow, and thousands of suggestions are useless.
            advice = nearest(key, known) if number < _ADVISED else ""
            self.refuse("unknown-key", f"there is no key `{key}`", key, advice)


def parse_text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue("must be text, not {}", value)
    return value


def parse_optional_text(value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidValue("must be text, not {}", value, "put it in quotes")
    return value


def parse_optional_object(value: Any) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise InvalidValue("must be an object, not {}", value)
    return value


def parse_seconds(value: Any) -> float | None:
    """Return a time limit; also from text, because the environment gives text."""
    if value is None:
        return None
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not 0 < found < math.inf:
        raise InvalidValue("must be a number of seconds above 0, not {}", value)
    return found


def parse_bool(value: Any) -> bool:
    found = _TRUTHS.get(value) if isinstance(value, str) else value
    if not isinstance(found, bool):
        raise InvalidValue("must be true or false, not {}", value)
    return found


def parse_texts(value: Any) -> tuple[str, ...]:
    """Return one text or a list of texts, none of them empty."""
    several = value if isinstance(value, list) else [value]
    for one in several:
        if not isinstance(one, str) or not one.strip():
            raise InvalidValue("must be text or a list of texts; {} is neither", one)
    return tuple(several)


def choose_from(words: tuple[Value, ...]) -> Callable[[Any], Value]:
    """Return a reader that accepts exactly these words."""

    def read(value: Any) -> Value:
        for word in words:
            if value == word:
                return word
        raise InvalidValue("cannot be {}", value, nearest(str(value), map(str, words)))

    return read


REQUEST_KEYS = ("method", "path", "body")
PARTS = ("text", "structure", "sly_data")
ANSWER_KEYS = (*PARTS, "context", "error")
_PATH = re.compile(r"/(?!/)[^\s\\#]*")


def read_template(request: Fields, answer: Fields) -> Template:
    """Return the template, with a problem for every mistake in it."""
    request.refuse_unknown(REQUEST_KEYS)
    answer.refuse_unknown(ANSWER_KEYS)
    nowhere: KeyPath = ()
    parts = {name: answer.take(name, _key_path, nowhere) for name in PARTS if name in answer.given}
    template = Template(
        method=request.take("method", choose_from(METHODS), METHODS[0]),
        path=request.take("path", _path, ""),
        body=request.given.get("body"),
        parts=parts,
        context=answer.take("context", _context, dict[str, KeyPath]()),
        error=answer.take("error", _key_path, nowhere),
    )
    for key in ("path", "body"):
        _refuse_unknown_placeholders(request, key, template.context)
    if template.method == "GET" and template.body is not None:
        request.refuse("wrong-value", "`body` cannot be sent with GET", "body", "use POST")
    return template


def _refuse_unknown_placeholders(request: Fields, key: str, context: Mapping[str, KeyPath]) -> None:
    for name in list_placeholders(request.given.get(key)):
        if not is_known(name, context):
            known = [*PLACEHOLDERS, *(f"context.{each}" for each in context)]
            message = f"`{key}` has the unknown placeholder {{{{{name}}}}}"
            request.refuse("wrong-value", message, key, nearest(name, known))


def _path(value: Any) -> str:
    path = parse_text(value)
    if not _PATH.fullmatch(path) or has_dots(path):
        # Requests carry credentials, so a file does not choose where they go.
        raise InvalidValue(
            "must be a path below the address that --url or --host gives, not {}",
            value,
            'write it like "/v1/chat"',
        )
    return path


def _key_path(value: Any) -> KeyPath:
    return parse_path(parse_text(value))


def _context(value: Any) -> dict[str, KeyPath]:
    given = parse_optional_object(value) or {}
    return {name: _key_path(path) for name, path in given.items()}
