"""Talks to an agent behind the API server of google-adk (`adk api_server`, `adk web`)."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from assay.agents.connections.adk import SentState, make_failure
from assay.agents.connections.background import Farewells, begin
from assay.agents.connections.headers import headers_from
from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    ConnectionFailed,
    Message,
    Session,
    Settings,
)
from assay.agents.connections.structures import structure_in, write_text
from assay.agents.connections.web import Web, encode_json, find_root, read_events, read_json

_PORT = 8000
# Events of a model's turn that goes on: with these, the answer is still to come.
_STEPS = ("functionCall", "functionResponse", "codeExecutionResult")


@dataclass(frozen=True)
class _Place:
    """A session on the server, of a user of its own: a user's state outlives the session."""

    user: str
    session: str
    sent: SentState = field(default_factory=SentState)
    state: dict[str, Any] = field(default_factory=dict, repr=False)


class AdkServerSession:
    """One sample's conversations, each with a session of its own on the server."""

    def __init__(self, web: Web, app: str, farewells: Farewells) -> None:
        self._web, self._app, self._farewells = web, app, farewells
        self._ready: _Place | None = None
        self._opened: list[_Place] = []

    async def prepare(self) -> None:
        """Begin the first conversation before the clock of the agent runs."""
        self._ready = await begin(self._begin())

    async def ask(self, message: Message) -> Answer:
        place: _Place | None = message.chat_context or self._ready
        self._ready = None
        if place is None:
            place = await self._begin()
        text = await self._run(place, message)
        async with self._web.send("GET", self._path(place), limit=message.timeout) as response:
            found = _read_object(await read_json(response)).get("state")
        state = place.sent.read(_read_object(found or {}))
        return Answer(text, structure_in(text), state or None, replace(place, state=state))

    async def close(self) -> None:
        for place in self._opened:
            self._farewells.start(self._end(place))
        self._opened.clear()

    def _path(self, place: _Place) -> str:
        return f"{self._users_path(place.user)}/{quote(place.session, '', errors='surrogatepass')}"

    def _users_path(self, user: str) -> str:
        return f"/apps/{quote(self._app, safe='')}/users/{user}/sessions"

    async def _begin(self) -> _Place:
        user = f"assay-{uuid.uuid4().hex}"
        async with self._web.send("POST", self._users_path(user), b"{}") as response:
            session = _read_object(await read_json(response)).get("id")
        if not isinstance(session, str):
            raise ConnectionFailed("the server made no session")
        place = _Place(user, session)
        self._opened.append(place)
        return place

    async def _end(self, place: _Place) -> None:
        async with self._web.send("DELETE", self._path(place), accepted=(200, 204, 404)):
            pass

    async def _run(self, place: _Place, message: Message) -> str:
        # A stream, although only its end is used: `/run` answers what the agent raises with the
        # same status as a fault of the server.
        request: dict[str, Any] = {
            "appName": self._app,
            "userId": place.user,
            "sessionId": place.session,
            "newMessage": {"role": "user", "parts": [{"text": message.text}]},
            "streaming": False,
        }
        if changes := place.sent.change(message.sly_data, place.state):
            request["stateDelta"] = changes
        text: str | None = None
        failure: AgentFailed | ConnectionFailed | None = None
        async with self._web.send(
            "POST", "/run_sse", encode_json(request), limit=message.timeout
        ) as response:
            async for event in read_events(response):
                if "error" in _read_object(event):
                    if isinstance(failure, ConnectionFailed):
                        raise failure
                    # What is raised says more than the event before it.
                    raise _read_error(str(event["error"]))
                if event.get("errorCode") and not event.get("content"):
                    # Not the end: an agent may try again by itself.
                    said = str(event.get("errorMessage") or event["errorCode"])
                    failure = make_failure(event["errorCode"], said)
                elif (found := _read_event(event)) is not None:
                    text, failure = found, None
        if failure is not None:
            raise failure
        if text is None:
            raise AgentFailed("the agent ended without an answer")
        return text


class AdkServerConnection:
    """One pool of sockets to one server."""

    def __init__(self, settings: Settings) -> None:
        self._app = settings.agent
        root = find_root(settings, port=_PORT)
        self._web = Web(root, headers_from(settings.metadata), settings)
        self._farewells = Farewells()

    async def session(self) -> Session:
        session = AdkServerSession(self._web, self._app, self._farewells)
        await session.prepare()
        return session

    async def close(self) -> None:
        await self._farewells.close()
        await self._web.close()


def _read_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConnectionFailed("the answer is not an object")
    return value


def _read_event(event: Mapping[str, Any]) -> str | None:
    """Return the answer that an event is, or None."""
    if event.get("partial"):
        return None
    try:
        parts = (event.get("content") or {}).get("parts") or []
        if not event.get("longRunningToolIds") and any(
            step in part for part in parts for step in _STEPS
        ):
            return None
        text = "".join(
            part["text"] for part in parts if part.get("text") and not part.get("thought")
        )
    except (AttributeError, KeyError, TypeError):
        raise ConnectionFailed("the stream has an event of the wrong shape") from None
    if not parts:
        return write_text(event.get("output"))
    return text


def _read_error(said: str) -> AgentFailed | ConnectionFailed:
    """Return what an error at the end of a stream is; Google's services name a status in theirs."""
    status = re.search(r"\b[45][0-9]{2} ([A-Z_]+)\b", said)
    return make_failure(status and status[1], said)
