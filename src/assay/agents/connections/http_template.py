"""Talks to any HTTP API that takes and gives JSON, as the test file describes it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from typing import Any

from assay.agents.connections.headers import headers_from
from assay.agents.connections.protocol import Answer, Message, Session, Settings
from assay.agents.connections.structures import structure_in
from assay.agents.connections.template import Template
from assay.agents.connections.web import Web, encode_json, find_root, read_json
from assay.errors import InputError

_ACCEPTED = (200, 201, 202)


@dataclass(frozen=True)
class Conversation:
    """What the next request of a conversation may need."""

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
        heard = {"role": "assistant", "content": text or ""}
        return Conversation(self.identifier, (*self.history, said, heard), context)


class TemplateSession:
    """One sample's side of the pool; what it remembers is in the context."""

    def __init__(self, web: Web, agent: str, template: Template) -> None:
        self._web = web
        self._agent = agent
        self._template = template

    async def ask(self, message: Message) -> Answer:
        conversation: Conversation = message.chat_context or Conversation()
        values = conversation.list_values(self._agent, message)
        template = self._template
        body = template.fill_body(values)
        async with self._web.send(
            template.method,
            template.fill_path(values),
            None if body is None else encode_json(body),
            limit=message.timeout,
            accepted=_ACCEPTED,
        ) as response:
            reply = await read_json(response)
            parts = template.read_answer(reply)
        if parts.get("structure") is None and parts.get("text"):
            parts["structure"] = structure_in(parts["text"])
        context = template.read_context(reply, conversation.context)
        after = conversation.continue_with(message, parts.get("text"), context)
        return Answer(**parts, chat_context=after)

    async def close(self) -> None:
        """There is nothing of one sample to close."""


class TemplateConnection:
    """One pool of sockets to one server."""

    def __init__(self, settings: Settings) -> None:
        if settings.template is None:
            raise InputError(
                "http-template needs a `request` and an `answer` in the test file",
                advice="docs/connections.md has an example",
            )
        self._agent, self._template = settings.agent, settings.template
        self._web = Web(find_root(settings), headers_from(settings.metadata), settings)

    async def session(self) -> Session:
        return TemplateSession(self._web, self._agent, self._template)

    async def close(self) -> None:
        await self._web.close()
