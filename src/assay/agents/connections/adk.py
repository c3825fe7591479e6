"""Connection to google-adk agents, in this process or through the ADK API server."""

from __future__ import annotations

import copy
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from assay.agents.connections.addresses import find_root
from assay.agents.connections.exchange import note_origin, note_step, note_tokens
from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    Connection,
    ConnectionFailed,
    Message,
    Session,
    Settings,
    find_structure,
    format_text,
)
from assay.agents.connections.threads import Loop
from assay.agents.connections.web import (
    Farewells,
    Web,
    WebConnection,
    begin,
    encode_json,
    read_events,
)
from assay.agents.secrets import find_credentials
from assay.errors import InputError
from assay.tracebacks import describe

_APP = "assay"
_USER = "assay"
# Error codes of Google's services that do not concern the request itself.
_OUTAGES = frozenset(
    {
        "UNAVAILABLE",
        "RESOURCE_EXHAUSTED",
        "DEADLINE_EXCEEDED",
        "INTERNAL",
        "UNAUTHENTICATED",
        "PERMISSION_DENIED",
    }
)


def is_adk_agent(found: Any) -> bool:
    """Return whether an object is an agent, App or node of google-adk."""
    from google.adk.apps import App
    from google.adk.workflow import BaseNode

    return isinstance(found, App | BaseNode)


@dataclass(frozen=True)
class SentState:
    """The state keys that were sent (not made by the agent), and those withdrawn."""

    sent: set[str] = field(default_factory=set)
    taken_back: set[str] = field(default_factory=set)

    def change(self, sly_data: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Return the state changes that leave only `sly_data` of what was sent.

        A key cannot be removed from a state; an agent gets None for a missing one.
        """
        self.taken_back.update(self.sent - sly_data.keys())
        self.taken_back.difference_update(sly_data)
        self.sent.intersection_update(sly_data)
        self.sent.update(sly_data.keys() - state.keys())
        return {**dict.fromkeys(self.taken_back), **sly_data}

    def read(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return a state without the withdrawn keys."""
        removed = {key for key in self.taken_back if state.get(key) is None}
        return {key: state[key] for key in state.keys() - removed}


@dataclass(frozen=True)
class _LocalPlace:
    """Where a conversation goes on. Each has a runner of its own, because in google-adk what
    belongs to an app or to a user outlives the session."""

    runner: Any
    session_id: str
    sent: SentState = field(default_factory=SentState)


class AdkLocalSession(Session):
    """One sample's conversation with an agent of google-adk."""

    def __init__(self, agent: Any, loop: Loop) -> None:
        self._agent = agent
        self._loop = loop

    async def ask(self, message: Message) -> Answer:
        return await self._loop.run(self._ask(message))

    async def _ask(self, message: Message) -> Answer:
        if message.text is None:
            raise InputError(
                "an agent of google-adk needs a text",
                advice="give the interaction a text",
            )
        place = message.chat_context or await self._begin()
        text = await _run(place, message)
        state = await _state(place)
        return Answer(text, find_structure(text), state or None, place)

    async def _begin(self) -> _LocalPlace:
        from google.adk.runners import InMemoryRunner

        try:
            runner = InMemoryRunner(app_name=_APP, **{_name_kind(self._agent): self._agent})
            session = await runner.session_service.create_session(app_name=_APP, user_id=_USER)
        except Exception as error:
            # The library refuses before the agent is asked.
            what = "google-adk has no session for this agent"
            raise ConnectionFailed(what, said=describe(error), lasting=True) from None
        return _LocalPlace(runner, session.id)


def _name_kind(agent: Any) -> str:
    """Return which of the runner's arguments takes the agent."""
    from google.adk.agents import BaseAgent
    from google.adk.apps import App

    return "app" if isinstance(agent, App) else "agent" if isinstance(agent, BaseAgent) else "node"


async def _run(place: _LocalPlace, message: Message) -> str:
    from google.genai import types

    said = types.Content(role="user", parts=[types.Part(text=message.text)])
    text, failure = None, None
    try:
        async for event in place.runner.run_async(
            user_id=_USER,
            session_id=place.session_id,
            new_message=said,
            state_delta=place.sent.change(message.sly_data, await _state(place)) or None,
        ):
            _note_event(event)
            if event.error_code and not event.content:
                # Not the end: an agent may try again by itself.
                failure = make_failure(
                    event.error_code, str(event.error_message or event.error_code)
                )
            elif event.is_final_response() and event.content and event.content.parts:
                parts = event.content.parts
                text = "".join(part.text for part in parts if part.text and not part.thought)
                failure = None
            elif not event.partial and event.output is not None:
                text, failure = format_text(event.output), None
    except Exception as error:
        # What is raised says more than the event before it, unless that names an outage.
        if isinstance(failure, ConnectionFailed):
            raise failure from None
        raise make_failure(getattr(error, "status", None), describe(error)) from None
    if failure is not None:
        raise failure
    if text is None:
        raise AgentFailed("the agent ended without an answer")
    return text


def _note_event(event: Any) -> None:
    """Note who speaks in an event, and the tokens of the call of a model that it is."""
    usage = getattr(event, "usage_metadata", None)
    if usage is not None and not event.partial:
        note_tokens(usage.prompt_token_count, usage.candidates_token_count)
    parts = (event.content.parts if event.content else None) or ()
    text = "".join(part.text for part in parts if part.text and not part.thought)
    if event.partial or not text:
        return
    note_step(event.author or "", text)
    if event.is_final_response():
        note_origin(event.author or "")


def make_failure(code: Any, said: str) -> AgentFailed | ConnectionFailed:
    """Return an outage if the code says that the model service is down, else the agent's failure.

    Other codes are exception names, and the reasons for which a model declined to continue.
    """
    if str(getattr(code, "value", code)) in _OUTAGES:
        return ConnectionFailed("the service of the agent's model is out", said=said)
    return AgentFailed("the agent raised an error", said=said)


async def _state(place: _LocalPlace) -> dict[str, Any]:
    session = await place.runner.session_service.get_session(
        app_name=_APP, user_id=_USER, session_id=place.session_id
    )
    return copy.deepcopy(place.sent.read(dict(session.state) if session else {}))


class AdkLocalConnection(Connection):
    """One agent, run for all samples in one event loop separate from Assay's own."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._loop = Loop()
        self.secrets = find_credentials(os.environ)

    async def session(self) -> Session:
        return AdkLocalSession(self._agent, self._loop)

    async def close(self) -> None:
        await self._loop.close()


_PORT = 8000
# Events of a model's turn that goes on: with these, the answer is still to come.
_STEPS = ("functionCall", "functionResponse", "codeExecutionResult")


@dataclass(frozen=True)
class _ServerPlace:
    """A session on the server with its own user, because a user's state outlives the session."""

    user: str
    session: str
    sent: SentState = field(default_factory=SentState)
    state: dict[str, Any] = field(default_factory=dict, repr=False)


class AdkServerSession(Session):
    """One sample's conversations, each with its own session on the server."""

    def __init__(self, web: Web, app: str, farewells: Farewells) -> None:
        self._web, self._app, self._farewells = web, app, farewells
        self._ready: _ServerPlace | None = None
        self._opened: list[_ServerPlace] = []

    async def prepare(self) -> None:
        """Start the first conversation before the agent's clock runs."""
        self._ready = await begin(self._begin())

    async def ask(self, message: Message) -> Answer:
        place: _ServerPlace | None = message.chat_context or self._ready
        self._ready = None
        if place is None:
            place = await self._begin()
        text = await self._run(place, message)
        reply = await self._web.fetch("GET", self._path(place), limit=message.timeout)
        found = _read_object(reply).get("state")
        state = place.sent.read(_read_object(found or {}))
        return Answer(text, find_structure(text), state or None, replace(place, state=state))

    async def close(self) -> None:
        for place in self._opened:
            self._farewells.start(self._end(place))
        self._opened.clear()

    def _path(self, place: _ServerPlace) -> str:
        return f"{self._users_path(place.user)}/{quote(place.session, '', errors='surrogatepass')}"

    def _users_path(self, user: str) -> str:
        return f"/apps/{quote(self._app, safe='')}/users/{user}/sessions"

    async def _begin(self) -> _ServerPlace:
        user = f"assay-{uuid.uuid4().hex}"
        session = _read_object(await self._web.fetch("POST", self._users_path(user), {})).get("id")
        if not isinstance(session, str):
            raise ConnectionFailed("the server made no session")
        place = _ServerPlace(user, session)
        self._opened.append(place)
        return place

    async def _end(self, place: _ServerPlace) -> None:
        async with self._web.send("DELETE", self._path(place), accepted=(200, 204, 404)):
            pass

    async def _run(self, place: _ServerPlace, message: Message) -> str:
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
                _note_server_event(event)
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


class AdkServerConnection(WebConnection):
    """One API server of google-adk."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings, find_root(settings, port=_PORT))

    async def session(self) -> Session:
        session = AdkServerSession(self._web, self._settings.agent, self._farewells)
        await session.prepare()
        return session


def _note_server_event(event: Any) -> None:
    """Note the same of an event that a server sent, whatever its shape."""
    if not isinstance(event, dict) or event.get("partial"):
        return
    if isinstance(usage := event.get("usageMetadata"), dict):
        note_tokens(usage.get("promptTokenCount"), usage.get("candidatesTokenCount"))
    try:
        text = _read_event(event)
    except ConnectionFailed:
        # Whoever reads the answer says so.
        return
    if text:
        note_step(str(event.get("author") or ""), text)
        note_origin(str(event.get("author") or ""))


def _read_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConnectionFailed("the answer is not an object")
    return value


def _read_event(event: Mapping[str, Any]) -> str | None:
    """Return the answer in an event, or None."""
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
        return format_text(event.get("output"))
    return text


def _read_error(said: str) -> AgentFailed | ConnectionFailed:
    """Return the error at the end of a stream; errors of Google's services name a status."""
    status = re.search(r"\b[45][0-9]{2} ([A-Z_]+)\b", said)
    return make_failure(status and status[1], said)
