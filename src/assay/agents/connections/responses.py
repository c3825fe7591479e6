"""Talks to a model over the Responses API of OpenAI, whose server remembers the conversation."""

from __future__ import annotations

from typing import Any

from assay.agents.connections.openai import describe_error, make_web, refuse_sly_data
from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    ConnectionFailed,
    Message,
    Session,
    Settings,
)
from assay.agents.connections.structures import structure_in
from assay.agents.connections.web import Web, encode_json, read_json


class ResponsesSession:
    """One sample's conversation; its context is the id of the answer before."""

    def __init__(self, web: Web, model: str) -> None:
        self._web = web
        self._model = model

    async def ask(self, message: Message) -> Answer:
        refuse_sly_data(message)
        request: dict[str, Any] = {"model": self._model, "input": message.text}
        if message.chat_context is not None:
            request["previous_response_id"] = message.chat_context
        async with self._web.post(encode_json(request), message) as response:
            reply = await read_json(response)
        if not isinstance(reply, dict):
            raise ConnectionFailed("the answer is not a response")
        _refuse_forgetting(reply, message.chat_context)
        text = _read_text(reply)
        return Answer(text=text, structure=structure_in(text), chat_context=_read_id(reply))

    async def close(self) -> None:
        """There is nothing of one sample to close."""


class ResponsesConnection:
    """One pool of sockets to one model."""

    def __init__(self, settings: Settings) -> None:
        self._model = settings.agent
        self._web, self.secrets = make_web(settings, "/responses")

    async def session(self) -> Session:
        return ResponsesSession(self._web, self._model)

    async def close(self) -> None:
        await self._web.close()


def _read_id(reply: dict[str, Any]) -> str:
    found = reply.get("id")
    if not isinstance(found, str) or not found:
        raise ConnectionFailed("the answer has no id, so the conversation cannot go on")
    return found


def _refuse_forgetting(reply: dict[str, Any], before: str | None) -> None:
    """Refuse an answer to a conversation that the server did not look up.

    Servers without a store take the id of an answer and ignore it. What an agent says without its
    context would be counted against it. Which id comes back does not matter: gateways rename them.
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
        said = describe_error(reply.get("error") or status)
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
