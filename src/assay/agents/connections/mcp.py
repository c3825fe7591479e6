"""Connection to an agent that is a tool of an MCP server, over streamable HTTP.

neuro-san servers offer their agents this way too. Their tools take `user_message`, `chat_context`
and `sly_data`, and return the context beside the structure. Other tools get the text as their text
argument, or the arguments given by `request` in the test file.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay._version import __version__
from assay.agents.connections.addresses import find_root
from assay.agents.connections.jsonrpc import JsonRpc
from assay.agents.connections.neuro_san import make_request
from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    ConnectionFailed,
    Message,
    Session,
    Settings,
    find_structure,
)
from assay.agents.connections.template import TemplateState, find_value
from assay.agents.connections.web import Farewells, Web, WebConnection, begin
from assay.errors import InputError, nearest

# The revision that neuro-san insists on; every server with a handshake knows it.
_VERSION = "2025-06-18"
_UNDERSTOOD = ("2025-03-26", _VERSION, "2025-11-25")
_NEURO_SAN = "Neuro-san-MCPServer"
_SESSION_HEADER = "mcp-session-id"
_ACCEPT = {"Accept": "application/json, text/event-stream"}
_MOST_PAGES = 100
# Common names of the argument for the user's message.
_TEXT_ARGUMENTS = ("text", "message", "prompt", "query", "question", "input", "request", "task")


@dataclass(frozen=True)
class _Place:
    """Where a conversation continues: a session of the server, and what the agent returned."""

    headers: Mapping[str, str]
    tool: Mapping[str, Any]
    is_neuro_san: bool = False
    chat_context: Any = field(default=None, repr=False)
    conversation: TemplateState = field(default_factory=TemplateState, repr=False)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments that the tool takes."""
        found = self._schema.get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> list[str]:
        found = self._schema.get("required")
        return [str(name) for name in found] if isinstance(found, list) else []

    @property
    def _schema(self) -> Mapping[str, Any]:
        """The schema of the arguments; neuro-san's is a reference to a part of itself."""
        whole = self.tool.get("inputSchema")
        found, seen = whole, set[str]()
        while isinstance(found, dict) and (name := str(found.get("$ref", ""))) not in seen:
            seen.add(name)
            if name.startswith("#/"):
                found = find_value(whole, tuple(name[2:].split("/")))
        return found if isinstance(found, dict) else {}


class McpSession(Session):
    """One sample's conversations, each in its own session on the server."""

    def __init__(self, rpc: JsonRpc, web: Web, settings: Settings, farewells: Farewells) -> None:
        self._rpc, self._web, self._settings = rpc, web, settings
        self._farewells = farewells
        self._ready: _Place | None = None
        self._opened: list[_Place] = []

    async def prepare(self) -> None:
        """Start the first conversation before the agent's clock runs."""
        self._ready = await begin(self._begin())

    async def ask(self, message: Message) -> Answer:
        place: _Place | None = message.chat_context or self._ready
        self._ready = None
        if place is None:
            place = await self._begin()
        values = place.conversation.list_values(self._settings.agent, message)
        call = {"name": place.tool["name"], "arguments": self._fill(place, message, values)}
        result, _ = await self._rpc.call(
            "tools/call", call, limit=message.timeout, headers=place.headers
        )
        return self._read_answer(place, message, result)

    async def close(self) -> None:
        for place in self._opened:
            if _SESSION_HEADER in place.headers:
                self._farewells.start(self._end(place))
        self._opened.clear()

    async def _begin(self) -> _Place:
        offer = {
            "protocolVersion": _VERSION,
            "capabilities": {},
            "clientInfo": {"name": "assay", "version": __version__},
        }
        result, received = await self._rpc.call("initialize", offer, headers=_ACCEPT)
        version = result.get("protocolVersion")
        if version not in _UNDERSTOOD:
            raise ConnectionFailed(
                "the server speaks another version of MCP", said=str(version), lasting=True
            )
        server = result.get("serverInfo")
        is_neuro_san = isinstance(server, dict) and server.get("name") == _NEURO_SAN
        headers = {**_ACCEPT, "MCP-Protocol-Version": str(version)}
        if session := received.get(_SESSION_HEADER):
            headers[_SESSION_HEADER] = session
        await self._rpc.notify("notifications/initialized", headers)
        place = _Place(headers, await self._find_tool(headers), is_neuro_san)
        self._opened.append(place)
        return place

    async def _end(self, place: _Place) -> None:
        accepted = (200, 202, 204, 404, 405)
        async with self._web.send("DELETE", headers=place.headers, accepted=accepted):
            pass

    async def _find_tool(self, headers: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the tool that is the agent. A nested agent of neuro-san has a tool of another
        name, whose title is the name of the agent."""
        tools: list[dict[str, Any]] = []
        params: dict[str, Any] = {}
        for _ in range(_MOST_PAGES):
            result, _ = await self._rpc.call("tools/list", params, headers=headers)
            listed = result.get("tools")
            if not isinstance(listed, list):
                raise ConnectionFailed("the server's list of tools is not a list")
            tools += [one for one in listed if isinstance(one, dict) and "name" in one]
            if not result.get("nextCursor"):
                break
            params = {"cursor": result["nextCursor"]}
        agent = self._settings.agent
        named = [one for one in tools if one["name"] == agent]
        titled = [one for one in tools if one.get("title") == agent]
        if found := named or titled:
            return found[0]
        raise ConnectionFailed(
            "the server has no tool of the agent's name",
            advice=nearest(agent, (str(one["name"]) for one in tools)),
            lasting=True,
        )

    def _fill(self, place: _Place, message: Message, values: Mapping[str, Any]) -> Any:
        """Return the arguments of a call."""
        template = self._settings.template
        if template is not None and template.body is not None:
            return template.fill_body(values)
        if "user_message" in place.arguments:
            return make_request(replace(message, chat_context=place.chat_context))
        arguments: dict[str, Any] = {_find_text_argument(place): message.text}
        if message.sly_data:
            if "sly_data" not in place.arguments:
                raise InputError(
                    "the tool has no argument for sly_data",
                    where=str(place.tool["name"]),
                    advice="define in `request` where it goes, or remove it",
                )
            arguments["sly_data"] = message.sly_data
        return arguments

    def _read_answer(self, place: _Place, message: Message, result: dict[str, Any]) -> Answer:
        text, structured = _read_text(result), result.get("structuredContent")
        if place.is_neuro_san and text is not None:
            # Its server escapes every text for HTML: an agent that says "don't" is not wrong.
            text = html.unescape(text)
        if result.get("isError"):
            # In MCP this is how a tool reports its own failure; an invalid call is an error.
            raise AgentFailed("the agent reports an error", said=text or "")
        context = place.chat_context
        template = self._settings.template
        if template is not None and template.parts:
            parts = template.read_answer(result)
        elif "user_message" in place.arguments and isinstance(structured, dict):
            context = structured.get("chat_context")
            parts = {"text": text, "structure": structured.get("structure")}
        else:
            # Servers wrap a tool's plain text, because structured content must be an object.
            is_wrapped = structured == {"result": text}
            own = structured if isinstance(structured, dict) and not is_wrapped else None
            parts = {"text": text, "structure": own or find_structure(text or "")}
        if parts.get("text") is None and parts.get("structure") is None:
            raise ConnectionFailed("the answer has neither text nor structure")
        values = template.read_context(result, place.conversation.context) if template else {}
        after = place.conversation.continue_with(message, parts.get("text"), values)
        return Answer(
            **parts, chat_context=replace(place, chat_context=context, conversation=after)
        )


def _find_text_argument(place: _Place) -> str:
    """Return the argument of a tool that takes the user's message."""
    texts = [
        name
        for name, schema in place.arguments.items()
        if isinstance(schema, dict) and schema.get("type") in ("string", None)
    ]
    needed = [name for name in place.required if name != "sly_data"]
    likely = [name for name in _TEXT_ARGUMENTS if name in texts]
    if len(needed) == 1 and needed[0] in texts:
        return needed[0]
    if not needed and (likely or len(texts) == 1):
        return (likely or texts)[0]
    raise InputError(
        "the tool does not have one argument that takes a text",
        where=str(place.tool["name"]),
        advice="define its arguments in the test file: request.body",
    )


def _read_text(result: dict[str, Any]) -> str | None:
    content = result.get("content")
    if not isinstance(content, list):
        raise ConnectionFailed("the answer has no content")
    parts = [part.get("text") for part in content if isinstance(part, dict)]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if texts else None


class McpConnection(WebConnection):
    """One MCP server."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, find_root(settings, "/mcp"))
        self._rpc = JsonRpc(self._web)

    async def session(self) -> Session:
        session = McpSession(self._rpc, self._web, self._settings, self._farewells)
        await session.prepare()
        return session
