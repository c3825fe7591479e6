"""Connection to an HTTP API that the test file describes in `request` and `answer`."""

from __future__ import annotations

from assay.agents.connections.addresses import find_root
from assay.agents.connections.protocol import Answer, Message, Session, Settings, find_structure
from assay.agents.connections.template import Template, TemplateState
from assay.agents.connections.web import Web, WebConnection, encode_json, read_json
from assay.errors import InputError

_ACCEPTED = (200, 201, 202)


class TemplateSession(Session):
    """One sample's share of the pool; its state is in the context."""

    def __init__(self, web: Web, agent: str, template: Template) -> None:
        self._web, self._agent, self._template = web, agent, template

    async def ask(self, message: Message) -> Answer:
        state: TemplateState = message.chat_context or TemplateState()
        values = state.list_values(self._agent, message)
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
            parts["structure"] = find_structure(parts["text"])
        context = template.read_context(reply, state.context)
        return Answer(
            **parts, chat_context=state.continue_with(message, parts.get("text"), context)
        )


class TemplateConnection(WebConnection):
    """One server, called as the test file says."""

    def __init__(self, settings: Settings) -> None:
        if settings.template is None:
            raise InputError(
                "http-template needs a `request` and an `answer` in the test file",
                advice="docs/connections.md has an example",
            )
        self._template = settings.template
        super().__init__(settings, find_root(settings))

    async def session(self) -> Session:
        return TemplateSession(self._web, self._settings.agent, self._template)
