"""Connection to a model behind an OpenAI-compatible API (chat or Responses), used as an agent."""

from __future__ import annotations

import os
from typing import Any

from assay.agents.connections.addresses import check_url, make_address, make_headers
from assay.agents.connections.exchange import note_tokens
from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    ConnectionFailed,
    Message,
    Session,
    Settings,
    find_structure,
)
from assay.agents.connections.web import Web, WebConnection
from assay.errors import InputError

_PUBLIC = "https://api.openai.com/v1"
_BASE_VARIABLE = "OPENAI_BASE_URL"


class OpenAISession(Session):
    """One sample's conversation; its context is the list of messages so far."""

    def __init__(self, web: Web, model: str) -> None:
        self._web = web
        self._model = model

    async def ask(self, message: Message) -> Answer:
        _refuse_sly_data(message)
        if message.text is None:
            raise InputError(
                "an OpenAI-compatible endpoint needs a text",
                advice="give the interaction a text, or use another connection",
            )
        messages = [*(message.chat_context or ()), {"role": "user", "content": message.text}]
        request = {"model": self._model, "messages": messages}
        reply = await self._web.fetch("POST", value=request, limit=message.timeout)
        _note_usage(reply, "prompt_tokens", "completion_tokens")
        text = _read_message(reply)
        return Answer(
            text=text,
            structure=find_structure(text),
            chat_context=[*messages, {"role": "assistant", "content": text}],
        )


class OpenAIConnection(WebConnection):
    """The chat endpoint of one model."""

    path = "/chat/completions"

    def __init__(self, settings: Settings) -> None:
        key = _read_key(settings.key_variable)
        self.secrets = {key: f"<{settings.key_variable}>"} if key else {}
        # Header names differ only in writing; a metadata key of the same name has the last word.
        is_given = any(name.lower() == "authorization" for name in make_headers(settings.metadata))
        headers = {"Authorization": f"Bearer {key}"} if key and not is_given else {}
        super().__init__(settings, check_url(_find_root(settings)).rstrip("/") + self.path, headers)

    async def session(self) -> Session:
        return OpenAISession(self._web, self._settings.agent)


def _refuse_sly_data(message: Message) -> None:
    """Refuse to send private data to a model: it would end up in a prompt."""
    if message.sly_data:
        raise InputError(
            "an OpenAI-compatible endpoint does not support sly_data",
            advice="remove it from the interaction, or use another connection",
        )


def _find_root(settings: Settings) -> str:
    if settings.url:
        return settings.url
    if settings.host or settings.port:
        return make_address("http", settings.host or "localhost", settings.port or 8080) + "/v1"
    return os.environ.get(_BASE_VARIABLE) or _PUBLIC


def _read_key(variable: str) -> str:
    """Return the key, or nothing: self-hosted servers often need none, and others report it."""
    key = os.environ.get(variable, "").strip()
    if not key.isascii() or not key.isprintable():
        raise InputError(f"the value of {variable} cannot be a key", advice="set it again")
    return key


def _note_usage(reply: Any, sent: str, received: str) -> None:
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if isinstance(usage, dict):
        note_tokens(usage.get(sent), usage.get(received))


def _read_message(reply: Any) -> str:
    """Return the text of the first choice, in any of the formats servers use."""
    if isinstance(reply, dict) and reply.get("error"):
        raise ConnectionFailed("the server reports an error", said=_describe_error(reply["error"]))
    try:
        message = reply["choices"][0]["message"]
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text") or "" for part in content)
        # A refusal is an answer like any other: the checks decide.
        content = message.get("refusal") if content is None else content
    except (AttributeError, IndexError, KeyError, TypeError):
        raise ConnectionFailed("the answer has no message") from None
    if not isinstance(content, str):
        raise ConnectionFailed("the answer has no text")
    return content


def _describe_error(error: Any) -> str:
    """Return what an error of an OpenAI-compatible API says."""
    return str(error.get("message", error) if isinstance(error, dict) else error)


class ResponsesSession(Session):
    """One sample's conversation; its context is the id of the previous answer."""

    def __init__(self, web: Web, model: str) -> None:
        self._web = web
        self._model = model

    async def ask(self, message: Message) -> Answer:
        _refuse_sly_data(message)
        request: dict[str, Any] = {"model": self._model, "input": message.text}
        if message.chat_context is not None:
            request["previous_response_id"] = message.chat_context
        reply = await self._web.fetch("POST", value=request, limit=message.timeout)
        if not isinstance(reply, dict):
            raise ConnectionFailed("the answer is not a response")
        _note_usage(reply, "input_tokens", "output_tokens")
        _refuse_forgetting(reply, message.chat_context)
        text = _read_text(reply)
        return Answer(text=text, structure=find_structure(text), chat_context=_read_id(reply))


class ResponsesConnection(OpenAIConnection):
    """The Responses endpoint of one model."""

    path = "/responses"

    async def session(self) -> Session:
        return ResponsesSession(self._web, self._settings.agent)


def _read_id(reply: dict[str, Any]) -> str:
    found = reply.get("id")
    if not isinstance(found, str) or not found:
        raise ConnectionFailed("the answer has no id, so the conversation cannot continue")
    return found


def _refuse_forgetting(reply: dict[str, Any], before: str | None) -> None:
    """Refuse an answer to a conversation that the server did not look up.

    Servers without a store accept the id of an answer and ignore it. An answer without its context
    would be counted against the agent. The returned id does not matter: gateways rename ids.
    """
    if before is not None and reply.get("previous_response_id", before) is None:
        raise ConnectionFailed(
            "the server does not continue conversations (previous_response_id is ignored)",
            advice="use the connection openai, which sends all messages each time",
            lasting=True,
        )


def _read_text(reply: dict[str, Any]) -> str:
    status = reply.get("status")
    if reply.get("error") or status in ("failed", "cancelled"):
        said = _describe_error(reply.get("error") or status)
        raise ConnectionFailed("the server reports an error", said=said)
    if status in ("queued", "in_progress"):
        raise ConnectionFailed(f"the server answered before the answer was complete ({status})")
    text = _read_parts(reply.get("output"))
    if not text and status == "incomplete":
        details = reply.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        raise AgentFailed(f"the model ended without an answer ({reason or status})")
    if not text:
        raise ConnectionFailed("the answer has no text")
    return text


def _read_parts(output: Any) -> str:
    """Return the text of all messages; a refusal is text like any other."""
    try:
        return "".join(
            part["text"] if part["type"] == "output_text" else part["refusal"]
            for item in output
            if item["type"] == "message"
            for part in item["content"]
            if part["type"] in ("output_text", "refusal")
        )
    except (AttributeError, KeyError, TypeError):
        raise ConnectionFailed("the answer has no message") from None
