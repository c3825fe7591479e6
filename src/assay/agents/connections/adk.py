"""Talks to an agent, App or Workflow of google-adk in this process; its state is the sly_data."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from typing import Any

from assay.agents.connections.protocol import (
    Answer,
    ConnectionFailed,
    Message,
    Session,
)
from assay.agents.connections.structures import structure_in, write_text
from assay.agents.connections.threads import Loop
from assay.agents.secrets import credentials_in
from assay.failures import describe

_APP = "assay"
_USER = "assay"


def is_adk_agent(found: Any) -> bool:
    """Whether something is an agent, App or node of google-adk, which is already imported."""
    from google.adk.apps import App
    from google.adk.workflow import BaseNode

    return isinstance(found, App | BaseNode)


@dataclass(frozen=True)
class _Place:
    """Where a conversation goes on. Each has a runner of its own, because in google-adk what
    belongs to an app or to a user outlives the session."""

    runner: Any
    session_id: str


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
        try:
            place = message.chat_context or await self._begin()
            text = await _run(place, message)
            state = await _state(place)
        except ConnectionFailed:
            raise
        except Exception as error:
            raise ConnectionFailed("the agent raised an error", said=describe(error)) from None
        return Answer(text, structure_in(text), state or None, place)

    async def _begin(self) -> _Place:
        from google.adk.runners import InMemoryRunner

        runner = InMemoryRunner(app_name=_APP, **{_name_kind(self._agent): self._agent})
        session = await runner.session_service.create_session(app_name=_APP, user_id=_USER)
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
    async for event in place.runner.run_async(
        user_id=_USER,
        session_id=place.session_id,
        new_message=said,
        state_delta=message.sly_data or None,
    ):
        # What a node raises comes as an event too, and is raised after it.
        is_failure = event.error_code and not event.content
        failure = str(event.error_message or event.error_code) if is_failure else None
        if event.is_final_response() and event.content and event.content.parts:
            parts = event.content.parts
            text = "".join(part.text for part in parts if part.text and not part.thought)
        elif not event.partial and event.output is not None:
            text = write_text(event.output)
    if failure is not None:
        raise ConnectionFailed("the model failed", said=failure)
    if text is None:
        raise ConnectionFailed("the agent ended without an answer")
    return text


async def _state(place: _Place) -> dict[str, Any]:
    session = await place.runner.session_service.get_session(
        app_name=_APP, user_id=_USER, session_id=place.session_id
    )
    return copy.deepcopy(dict(session.state)) if session else {}


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
