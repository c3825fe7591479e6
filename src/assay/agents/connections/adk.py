"""Talks to an agent of google-adk in this process; its session state is the sly_data."""

from __future__ import annotations

import copy
from typing import Any

from assay.agents.connections.protocol import (
    Answer,
    ConnectionFailed,
    Message,
    Session,
)
from assay.agents.connections.structures import structure_in
from assay.agents.connections.threads import Loop
from assay.failures import describe

_APP = "assay"
_USER = "assay"


def is_adk_agent(found: Any) -> bool:
    """Whether something is an agent of google-adk, whose module is already imported."""
    from google.adk.agents import BaseAgent

    return isinstance(found, BaseAgent)


class AdkSession:
    """One sample: a runner of its own, because state of an app or a user outlives a session."""

    def __init__(self, agent: Any, loop: Loop) -> None:
        from google.adk.runners import InMemoryRunner

        self._runner = InMemoryRunner(agent=agent, app_name=_APP)
        self._loop = loop

    async def ask(self, message: Message) -> Answer:
        return await self._loop.run(self._ask(message))

    async def close(self) -> None:
        """What the agent opened belongs to all samples; the connection closes it."""

    async def _ask(self, message: Message) -> Answer:
        try:
            session_id = message.chat_context or await self._begin()
            text = await self._run(session_id, message)
            state = await self._state(session_id)
        except ConnectionFailed:
            raise
        except Exception as error:
            raise ConnectionFailed(f"the agent raised {describe(error)[:200]}") from None
        return Answer(text, structure_in(text), state or None, session_id)

    async def _begin(self) -> str:
        service = self._runner.session_service
        session = await service.create_session(app_name=_APP, user_id=_USER)
        return str(session.id)

    async def _run(self, session_id: str, message: Message) -> str:
        from google.genai import types

        said = types.Content(role="user", parts=[types.Part(text=message.text)])
        text = None
        async for event in self._runner.run_async(
            user_id=_USER,
            session_id=session_id,
            new_message=said,
            state_delta=message.sly_data or None,
        ):
            if event.error_code and not event.content:
                raise ConnectionFailed(
                    f"the model failed: {event.error_message or event.error_code}"
                )
            if event.is_final_response() and event.content and event.content.parts:
                text = "".join(
                    part.text for part in event.content.parts if part.text and not part.thought
                )
        if text is None:
            raise ConnectionFailed("the agent ended without an answer")
        return text

    async def _state(self, session_id: str) -> dict[str, Any]:
        session = await self._runner.session_service.get_session(
            app_name=_APP, user_id=_USER, session_id=session_id
        )
        return copy.deepcopy(dict(session.state)) if session else {}


class AdkConnection:
    """One agent, run for every sample in one event loop beside Assay's own."""

    def __init__(self, agent: Any) -> None:
        self._agent = agent
        self._loop = Loop()

    async def session(self) -> Session:
        return AdkSession(self._agent, self._loop)

    async def close(self) -> None:
        await self._loop.close()
