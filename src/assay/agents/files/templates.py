"""Reads how a test file describes the HTTP API of its agent: `request` and `answer`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from assay.agents.connections.template import (
    METHODS,
    PLACEHOLDERS,
    KeyPath,
    Template,
    has_dots,
    is_known,
    list_placeholders,
    parse_path,
)
from assay.agents.files import fields
from assay.agents.files.fields import Fields, Wrong
from assay.errors import nearest

REQUEST_KEYS = ("method", "path", "body")
PARTS = ("text", "structure", "sly_data")
ANSWER_KEYS = (*PARTS, "context", "error")
_PATH = re.compile(r"/(?!/)[^\s\\#]*")


def read_template(request: Fields, answer: Fields) -> Template:
    """Return the template, with a problem for everything that is wrong with it."""
    request.refuse_unknown(REQUEST_KEYS)
    answer.refuse_unknown(ANSWER_KEYS)
    nowhere: KeyPath = ()
    parts = {name: answer.take(name, _key_path, nowhere) for name in PARTS if name in answer.given}
    template = Template(
        method=request.take("method", fields.one_of(METHODS), METHODS[0]),
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
    path = fields.text(value)
    if not _PATH.fullmatch(path) or has_dots(path):
        # Requests carry credentials, so a file does not choose where they go.
        raise Wrong(
            "must be a path below the address that --url or --host gives, not {}",
            value,
            'write it like "/v1/chat"',
        )
    return path


def _key_path(value: Any) -> KeyPath:
    return parse_path(fields.text(value))


def _context(value: Any) -> dict[str, KeyPath]:
    given = fields.mapping_or_nothing(value) or {}
    return {name: _key_path(path) for name, path in given.items()}
