"""Answers of a given shape: how they are asked for, and how what came is checked by ourselves."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.tracebacks import first_problem

Shape = TypeVar("Shape", bound=BaseModel)
Message = dict[str, Any]

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)


class MalformedAnswer(ValueError):  # noqa: N818 - the name says what is the case
    """An answer does not have the shape that was asked for."""


def response_format(schema: type[BaseModel]) -> dict[str, Any]:
    """The parameter by which providers that know it keep a model to a schema."""
    return {
        "type": "json_schema",
        "json_schema": {
            "name": schema.__name__,
            "schema": schema.model_json_schema(),
            "strict": True,
        },
    }


def with_shape(messages: list[Message], schema: type[BaseModel]) -> list[Message]:
    """The messages, with the schema in the system message for providers that ignore the other."""
    told = (
        "Answer with exactly one JSON object that satisfies this JSON Schema, and with nothing "
        f"before or after it:\n{json.dumps(schema.model_json_schema())}"
    )
    if messages and messages[0]["role"] == "system":
        first = {**messages[0], "content": f"{messages[0]['content']}\n\n{told}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": told}, *messages]


def parse(text: str, schema: type[Shape]) -> Shape:
    """The object that an answer is.

    Only an answer that is the object as a whole counts, alone or in one code fence. An object found
    somewhere in prose may be a quotation of what somebody else wants to be the answer.
    """
    bare = _THOUGHTS.sub("", text).strip()
    fenced = _FENCED.match(bare)
    try:
        return schema.model_validate_json(fenced[1] if fenced else bare)
    except ValidationError as error:
        raise MalformedAnswer(first_problem(error)) from None


def sent_back(text: str, problem: MalformedAnswer) -> list[Message]:
    """The messages by which a malformed answer goes back to the model."""
    told = f"That is not the JSON object that was asked for ({problem}). Answer with it alone."
    return [{"role": "assistant", "content": text}, {"role": "user", "content": told}]
