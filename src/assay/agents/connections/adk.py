"""Talks to an agent, App or Workflow of google-adk in this process; its state is the sly_data."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass, field
from typing import Any

from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    ConnectionFailed,
    Message,
    Session,
)
from assay.agents.connections.structures import structure_in, write_text
from assay.agents.connections.threads import Loop
from assay.agents.secrets import credentials_in
from assay.errors import InputError
from assay.tracebacks import describe

_APP = "assay"
_USER = "assay"
# Of the codes with which Google's services refuse: those that say nothing about the request.
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
    """Whether something is an agent, App or node of google-adk, which is already imported."""
    from google.adk.apps import App
    from google.adk.workflow import BaseNode

    return isinstance(found, App | BaseNode)


@dataclass(frozen=True)
class SentState:
    """The keys of a state that were sent and not made by the agent, and those taken back."""

    sent: set[str] = field(default_factory=set)
    taken_back: set[str] = field(default_factory=set)

    def change(self, sly_data: dict[str, Any], state: dict[str, Any]) -> dict[str, Any]:
        """Return what to change in the state, so that of what was sent only `sly_data` is left.

        A key cannot be removed from a state; None is what an agent gets for one that is not there.
        """
        self.taken_back.update(self.sent - sly_data.keys())
        self.taken_back.difference_update(sly_data)
        self.sent.intersection_update(sly_data)
        self.sent.update(sly_data.keys() - state.keys())
        return {**dict.fromkeys(self.taken_back), **sly_data}

    def read(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return a state without what was taken back."""
        removed = {key for key in self.taken_back if state.get(key) is None}
        return {key: state[key] for key in state.keys() - removed}


@dataclass(frozen=True)
class _Place:
    """Where a conversation goes on. Each has a runner of its own, because in google-adk what
    belongs to an app or to a user outlives the session."""

    runner: Any
    session_id: str
    sent: SentState = field(default_factory=SentState)


class AdkSession:
    """One sample's conversation with an agent of google-adk."""

    def __init__(self, agent: Any, loop: Loop) -> None:
        self._agent = agent
        self._loop = loop

    async def ask(self, message: Message) -> Answer:
        return await self._loop.run(self._ask(message))

    async def close(self) -> None:
        """What the agent opened belongs to all samples."""

    async def _ask(self, message: Message) -> Answer:
        if message.text is None:
            raise InputError(
                "an agent of google-adk cannot be asked without a text",
                advice="give the interaction a text",
            )
        place = message.chat_context or await self._begin()
        text = await _run(place, message)
        state = await _state(place)
        return Answer(text, structure_in(text), state or None, place)

    async def _begin(self) -> _Place:
        from google.adk.runners import InMemoryRunner

        try:
            runner = InMemoryRunner(app_name=_APP, **{_name_kind(self._agent): self._agent})
            session = await runner.session_service.create_session(app_name=_APP, user_id=_USER)
        except Exception as error:
            # It is the library that refuses, before the agent has been asked anything.
            what = "google-adk has no session for this agent"
            raise ConnectionFailed(what, said=describe(error), lasting=True) from None
        return _Place(runner, session.id)


def _name_kind(agent: Any) -> str:
    """Return which of the runner's arguments takes the agent."""
    from google.adk.agents import BaseAgent
    from google.adk.apps import App

    return "app" if isinstance(agent, App) else "agent" if isinstance(agent, BaseAgent) else "node"


async def _run(place: _Place, message: Message) -> str:
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
                text, failure = write_text(event.output), None
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


def make_failure(code: Any, said: str) -> AgentFailed | ConnectionFailed:
    """Return an outage if a code says that the model's service is out, else the agent's failure.

    Other codes are the names of exceptions, and the reasons for which a model declined to go on.
    """
    if str(getattr(code, "value", code)) in _OUTAGES:
        return ConnectionFailed("the service of the agent's model is out", said=said)
    return AgentFailed("the agent raised an error", said=said)


async def _state(place: _Place) -> dict[str, Any]:
    session = await place.runner.session_service.get_session(
        app_name=_APP, user_id=_USER, session_id=place.session_id
    )
    return copy.deepcopy(place.sent.read(dict(session.state) if session else {}))


class AdkConnection:
    """One agent, run for every sample in one event loop beside Assay's own."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._loop = Loop()
        self.secrets = credentials_in(os.environ)

    async def session(self) -> Session:
        return AdkSession(self._agent, self._loop)

    async def close(self) -> None:
        await self._loop.close()
