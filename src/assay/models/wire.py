"""The OpenAI-compatible chat endpoint in bytes: what is sent, what comes, what failures say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.errors import AssayError, InputError
from assay.models.retries import OVERLOADED, TRANSIENT, ModelFailed, Transient, asked_wait
from assay.models.settings import ModelSettings
from assay.tracebacks import first_problem

SHOWN_CHARACTERS = 300


class Function(BaseModel):
    """The function of a tool call; its arguments are JSON text that the model wrote."""

    name: str
    arguments: str = "{}"


class ToolCall(BaseModel):
    """A function that the model wants to have called."""

    id: str = ""
    function: Function


class _Message(BaseModel):
    content: str | None = None
    tool_calls: list[ToolCall] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")

    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


class Refused(ModelFailed):
    """The provider does not take the request as it is; another one it may."""


@dataclass(frozen=True)
class Reply:
    """What a model said."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    usage: Any
    is_cut_off: bool


def encode_request(body: dict[str, Any]) -> bytes:
    """Half characters, which JSON from outside may hold, are refused by some; `?` stands there."""
    return json.dumps(body, ensure_ascii=False).encode(errors="replace")


def read_reply(content: bytes) -> Reply:
    """The reply in a body; Transient if there is none in it."""
    try:
        body = _Body.model_validate_json(content)
    except ValidationError as error:
        raise Transient(f"the answer is not a chat completion: {first_problem(error)}") from None
    choice = body.choices[0]
    text, calls = choice.message.content or "", tuple(choice.message.tool_calls or ())
    if not text and not calls and choice.finish_reason != "length":
        raise Transient(f"the answer is empty (finish_reason {choice.finish_reason!r})")
    return Reply(text, calls, body.usage, choice.finish_reason == "length")


def failure(
    status: int, headers: Mapping[str, str], content: bytes, settings: ModelSettings
) -> Transient | AssayError:
    """What an HTTP status that is not 200 means: pass by, the user's mistake, or a refusal."""
    told = f"{status}: {said(content)}"
    if status in TRANSIENT and b"insufficient_quota" not in content:
        return Transient(told, asked_wait(headers, content), overloaded=status in OVERLOADED)
    if status in (401, 403) or (status == 400 and b"API_KEY_INVALID" in content):
        name = settings.key_name
        advice = f"look at the environment variable {name}" if name else "set ASSAY_MODEL_KEY"
        return InputError(f"the key was refused: {told}", where=settings.url, advice=advice)
    if status == 404 or 300 <= status < 400:
        advice = "look at --model and --model-url; the address often ends in /v1"
        return InputError(
            f"there is no model {settings.name!r}: {told}", where=settings.url, advice=advice
        )
    return Refused(f"the request was refused with {told}", where=settings.url)


def said(content: bytes) -> str:
    """The message in the body of a failure, in one line."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, list) and body:
        # Gemini puts its errors into a list.
        body = body[0]
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else content.decode(errors="replace")
    return " ".join(text.split())[:SHOWN_CHARACTERS] or "(no explanation)"
