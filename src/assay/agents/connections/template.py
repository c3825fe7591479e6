"""The `request` and `answer` templates of a test file, for custom HTTP APIs.

A value in a request may contain placeholders in double braces. A string that consists of a single
placeholder becomes the value itself, of whatever type. An object member without a value yet (the
context at the start of a conversation) is left out.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias
from urllib.parse import quote, unquote

from assay.agents.connections.protocol import ConnectionFailed, Message
from assay.documents import KeyPath
from assay.errors import InputError

Method: TypeAlias = Literal["POST", "PUT", "PATCH", "GET"]
PLACEHOLDERS: Final = ("text", "agent", "sly_data", "history", "messages", "conversation")
_CONTEXT = "context."
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}")
_KINDS: dict[str, type] = {"text": str, "structure": dict, "sly_data": dict}


@dataclass(frozen=True)
class Template:
    """The `request` and the `answer` of a test file."""

    method: Method = "POST"
    path: str = ""
    """Below the address that the user gives; a file cannot name another server."""
    body: Any = field(default=None, repr=False)
    parts: Mapping[str, KeyPath] = field(default_factory=dict)
    """Where text, structure and sly_data are in an answer."""
    context: Mapping[str, KeyPath] = field(default_factory=dict)
    """What of an answer goes into the next request, by the name of its placeholder."""
    error: KeyPath = ()
    """Where an answer reports an error."""

    def fill_path(self, values: Mapping[str, Any]) -> str:
        """Return the path of a request; values never add a path segment."""
        path = _PLACEHOLDER.sub(lambda found: _quote(found[1], values), self.path)
        if has_dots(path):
            raise InputError("a value changes the path of the request")
        return path

    def fill_body(self, values: Mapping[str, Any]) -> Any:
        """Return the body of a request; None if it has none."""
        return _fill(self.body, values)

    def read_answer(self, reply: Any) -> dict[str, Any]:
        """Return the parts of an answer that the reply contains."""
        if self.error and (said := find_value(reply, self.error)):
            raise ConnectionFailed("the server reports an error", said=str(said))
        found = {name: find_value(reply, path) for name, path in self.parts.items()}
        for name, value in found.items():
            if value is not None and not isinstance(value, _KINDS[name]):
                where = write_path(self.parts[name])
                raise ConnectionFailed(f"{name} of the answer, at {where}, has the wrong kind")
        if found.get("text") is None and found.get("structure") is None:
            where = " and ".join(write_path(self.parts[name]) for name in found)
            raise ConnectionFailed(f"the answer has nothing at {where}")
        return found

    def read_context(self, reply: Any, before: Mapping[str, Any]) -> dict[str, Any]:
        """Return the state for the next request; missing values keep the previous ones."""
        found = {name: find_value(reply, path) for name, path in self.context.items()}
        return {**before, **{name: value for name, value in found.items() if value is not None}}


def list_placeholders(value: Any) -> Iterator[str]:
    """Yield the name of every placeholder in a value."""
    if isinstance(value, str):
        yield from (found[1] for found in _PLACEHOLDER.finditer(value))
    for inner in value.values() if isinstance(value, dict) else ():
        yield from list_placeholders(inner)
    for inner in value if isinstance(value, list) else ():
        yield from list_placeholders(inner)


def is_known(placeholder: str, context: Mapping[str, Any]) -> bool:
    """Return whether a placeholder is defined."""
    name = placeholder.removeprefix(_CONTEXT)
    return placeholder in PLACEHOLDERS or (name != placeholder and name in context)


def parse_path(text: str) -> KeyPath:
    """Return the keys of a path like `choices.0.message.content`."""
    return tuple(
        int(step) if re.fullmatch(r"-?[0-9]+", step) else step for step in text.strip().split(".")
    )


def write_path(path: KeyPath) -> str:
    """Return a path in the notation of test files."""
    return ".".join(map(str, path))


def find_value(value: Any, path: KeyPath) -> Any:
    """Return the value at a path; None if there is none."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(str(step))
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def has_dots(path: str) -> bool:
    """Return whether a path contains a `..` step, in any notation."""
    steps = re.split(r"[/\\]", unquote(path.partition("?")[0]))
    return any(step in (".", "..") for step in steps)


def _fill(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        if alone := _PLACEHOLDER.fullmatch(value):
            return values.get(alone[1])
        return _PLACEHOLDER.sub(lambda found: _write(found[1], values), value)
    if isinstance(value, list):
        return [_fill(inner, values) for inner in value]
    if isinstance(value, dict):
        filled = {key: (inner, _fill(inner, values)) for key, inner in value.items()}
        return {key: new for key, (old, new) in filled.items() if new is not None or old is None}
    return value


def _write(name: str, values: Mapping[str, Any]) -> str:
    value = values.get(name)
    if isinstance(value, dict | list):
        raise InputError(
            f"{{{{{name}}}}} is not text and cannot be part of one",
            advice="make it the whole value",
        )
    return "" if value is None else str(value)


def _quote(name: str, values: Mapping[str, Any]) -> str:
    written = _write(name, values)
    if not written:
        raise InputError(
            f"{{{{{name}}}}} in the path of the request has no value yet",
            advice="use {{conversation}}, or send it in the body",
        )
    return quote(written, safe="")


_ACCEPTED = (200, 201, 202)


@dataclass(frozen=True)
class TemplateState:
    """State for the next request of a conversation."""

    identifier: str = field(default_factory=lambda: uuid.uuid4().hex)
    history: tuple[dict[str, str], ...] = ()
    context: dict[str, Any] = field(default_factory=dict)

    def list_values(self, agent: str, message: Message) -> dict[str, Any]:
        """Return the value of every placeholder."""
        said = {"role": "user", "content": message.text or ""}
        return {
            "text": message.text,
            "agent": agent,
            "sly_data": message.sly_data or None,
            "history": list(self.history),
            "messages": [*self.history, said],
            "conversation": self.identifier,
            **{f"context.{name}": value for name, value in self.context.items()},
        }

    def continue_with(self, message: Message, text: str | None, context: dict[str, Any]) -> Any:
        """Return the conversation after an answer."""
        said = {"role": "user", "content": message.text or ""}
        reply = {"role": "assistant", "content": text or ""}
        return TemplateState(self.identifier, (*self.history, said, reply), context)
