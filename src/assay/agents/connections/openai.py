"""Talks to any OpenAI-compatible chat endpoint, as if the model behind it were the agent."""

from __future__ import annotations

import json
import os
from typing import Any

from assay.agents.connections.headers import headers_from
from assay.agents.connections.protocol import (
    Answer,
    ConnectionFailed,
    Message,
    Session,
    Settings,
)
from assay.agents.connections.structures import structure_in
from assay.agents.connections.web import Web, address, plain_url, read_json
from assay.errors import InputError

_PUBLIC = "https://api.openai.com/v1"
_BASE_VARIABLE = "OPENAI_BASE_URL"


class OpenAISession:
    """One sample's conversation; its context is the list of messages so far."""

    def __init__(self, web: Web, model: str) -> None:
        self._web = web
        self._model = model

    async def ask(self, message: Message) -> Answer:
        refuse_sly_data(message)
        if message.text is None:
            raise InputError(
                "an OpenAI-compatible endpoint cannot be asked without a text",
                advice="give the interaction a text, or use another connection",
            )
        messages = [*(message.chat_context or ()), {"role": "user", "content": message.text}]
        body = json.dumps({"model": self._model, "messages": messages}).encode()
        text = _text_in(await self._reply(body, message))
        return Answer(
            text=text,
            structure=structure_in(text),
            chat_context=[*messages, {"role": "assistant", "content": text}],
        )

    async def close(self) -> None:
        """There is nothing of one sample to close."""

    async def _reply(self, body: bytes, message: Message) -> Any:
        async with self._web.post(body, message) as response:
            return await read_json(response)


class OpenAIConnection:
    """One pool of sockets to one model."""

    def __init__(self, settings: Settings) -> None:
        self._model = settings.agent
        self._web, self.secrets = make_web(settings, "/chat/completions")

    async def session(self) -> Session:
        return OpenAISession(self._web, self._model)

    async def close(self) -> None:
        await self._web.close()


def make_web(settings: Settings, path: str) -> tuple[Web, dict[str, str]]:
    """Return a client of one endpoint of an OpenAI-compatible API, and the key that it sends."""
    url = plain_url(_root(settings)).rstrip("/") + path
    key = _key(settings.key_variable)
    authorization = {"Authorization": f"Bearer {key}"} if key else {}
    secrets = {key: f"<{settings.key_variable}>"} if key else {}
    return Web(url, {**authorization, **_headers(settings)}, settings), secrets


def refuse_sly_data(message: Message) -> None:
    """Refuse to send private data to a model: it would end up in a prompt."""
    if message.sly_data:
        raise InputError(
            "an OpenAI-compatible endpoint has no place for sly_data",
            advice="remove it from the interaction, or use another connection",
        )


def _root(settings: Settings) -> str:
    if settings.url:
        return settings.url
    if settings.host or settings.port:
        return address("http", settings.host or "localhost", settings.port or 8080) + "/v1"
    return os.environ.get(_BASE_VARIABLE) or _PUBLIC


def _headers(settings: Settings) -> dict[str, str]:
    headers = headers_from(settings.metadata)
    # Header names differ only in writing; a metadata key of the same name has the last word.
    return {
        "Authorization" if name.lower() == "authorization" else name: value
        for name, value in headers.items()
    }


def _key(variable: str) -> str:
    """The key, or nothing: servers of one's own often need none, and others will say so."""
    key = os.environ.get(variable, "").strip()
    if not key.isascii() or not key.isprintable():
        raise InputError(f"the value of {variable} cannot be a key", advice="set it again")
    return key


def _text_in(reply: Any) -> str:
    """The text of the first choice, however a server writes it."""
    if isinstance(reply, dict) and reply.get("error"):
        raise ConnectionFailed("the server reports an error", said=describe_error(reply["error"]))
    try:
        message = reply["choices"][0]["message"]
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text") or "" for part in content)
        # A refusal is an answer like any other: the checks decide what it is worth.
        content = message.get("refusal") if content is None else content
    except (AttributeError, IndexError, KeyError, TypeError):
        raise ConnectionFailed("the answer has no message") from None
    if not isinstance(content, str):
        raise ConnectionFailed("the answer has no text")
    return content


def describe_error(error: Any) -> str:
    """Return what an error of an OpenAI-compatible API says."""
    return str(error.get("message", error) if isinstance(error, dict) else error)
