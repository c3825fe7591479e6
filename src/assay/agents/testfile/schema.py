"""The JSON Schema of a test file, for editors and authors."""

from __future__ import annotations

import json
from typing import Any

from assay.agents.connections.registry import KINDS
from assay.agents.connections.template import METHODS
from assay.agents.model import CHAT_FILTERS, JUDGE_SEES
from assay.agents.testfile.criteria import TESTS
from assay.agents.testfile.fields import PARTS

_SENTENCE = {"type": "string", "pattern": r"\S"}
_WORD = {"type": "string", "minLength": 1}
_SECONDS = {"type": ["number", "null"], "exclusiveMinimum": 0}


def schema_text() -> str:
    """Return the schema as the reader has it."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Assay agent test file",
        **_object(
            {
                "agent": _describe("The name of the agent to test.", _SENTENCE),
                "connections": _describe(
                    "How to reach the agent; several run the test over each. Default: direct.",
                    _one_or_more({"enum": list(KINDS)}, uniqueItems=True),
                ),
                "success_ratio": _describe(
                    'How many of how many samples must pass: "8/10". Default: 1/1.',
                    {"type": "string", "pattern": r"^\s*[0-9]+\s*/\s*[0-9]+\s*$"},
                ),
                "use_direct": _describe(
                    "Whether a direct session reaches other agents without a socket.",
                    {"type": "boolean"},
                ),
                "metadata": _describe(
                    "Sent with every request, as headers over HTTP; never stored.",
                    {"type": ["object", "null"]},
                ),
                "timeout_in_seconds": _describe("For all samples together.", _SECONDS),
                "failure_patterns": _describe(
                    "Parts of an answer that show an outage: such a sample is an error.",
                    _one_or_more(_SENTENCE, minItems=0),
                ),
                "judge_sees": _describe(
                    "What a judge reads: the original text, or the text without private data.",
                    {"enum": list(JUDGE_SEES), "default": JUDGE_SEES[0]},
                ),
                "request": _describe(
                    "How the agent's HTTP API is called, for http-template and mcp.", _REQUEST
                ),
                "answer": _describe("Where an answer of that API has its parts.", _ANSWER),
                "interactions": {
                    "type": "array",
                    "minItems": 1,
                    "items": {"$ref": "#/$defs/interaction"},
                },
            },
            required=["agent", "interactions"],
        ),
        "$defs": _definitions(),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _definitions() -> dict[str, Any]:
    return {
        "interaction": _object(
            {
                "text": _describe("The message to the agent.", {"type": ["string", "null"]}),
                "sly_data": _describe(
                    "Private data sent along with it.", {"type": ["object", "null"]}
                ),
                "timeout_in_seconds": _describe("Until the answer is complete.", _SECONDS),
                "chat_filter": {"enum": list(CHAT_FILTERS), "default": CHAT_FILTERS[0]},
                "continue_conversation": _describe(
                    "Whether the next interaction goes on from this one.",
                    {"type": "boolean", "default": True},
                ),
                "response": _object(
                    {
                        "text": {"$ref": "#/$defs/text"},
                        "sly_data": {"$ref": "#/$defs/keys"},
                        "structure": {"$ref": "#/$defs/keys"},
                    }
                ),
            }
        ),
        "text": _tests(_WORD),
        "values": _tests(
            {"type": ["string", "number", "boolean", "array", "object", "null"]},
            {"type": ["string", "number", "boolean"]},
        ),
        "keys": {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"pattern": r"^[^.]*$"},
            "additionalProperties": {
                "anyOf": [{"$ref": "#/$defs/values"}, {"$ref": "#/$defs/keys"}]
            },
        },
    }


def _tests(item: dict[str, Any], lone: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return an object of tests whose values are of a kind, or lists of such values."""
    given = {
        test: _one_or_more(_SENTENCE) if test.endswith("gist") else _one_or_more(item, lone)
        for test in TESTS
    }
    return {**_object(given), "minProperties": 1}


def _object(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **more,
    }


def _one_or_more(
    item: dict[str, Any], lone: dict[str, Any] | None = None, **limits: Any
) -> dict[str, Any]:
    several = {"type": "array", "minItems": 1, "items": item, **limits}
    return {"anyOf": [lone or item, several]}


def _describe(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, **schema}


_REQUEST = _object(
    {
        "method": {"enum": list(METHODS), "default": METHODS[0]},
        "path": _describe(
            "Below the address of --url or --host.", {"type": "string", "pattern": "^/"}
        ),
        "body": _describe("Any JSON; {{text}} and others are filled in.", {}),
    }
)
_ANSWER = _object(
    {
        **{part: _describe("A path like choices.0.message.content.", _SENTENCE) for part in PARTS},
        "context": _describe(
            "What goes into the next request as {{context.NAME}}: the path of each.",
            {"type": "object", "additionalProperties": _SENTENCE},
        ),
        "error": _describe("Where an answer reports an error.", _SENTENCE),
    }
)
