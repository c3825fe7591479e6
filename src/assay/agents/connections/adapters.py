"""Makes functions of agents of libraries: a graph of LangGraph, an Agent of pydantic-ai.

The libraries are not imported here: an object of theirs can only come from a module that did.
"""

from __future__ import annotations

import sys
import uuid
from dataclasses import dataclass
from typing import Any

from assay.agents.connections.protocol import AgentFailed, ConnectionFailed
from assay.agents.connections.structures import structure_in, write_text
from assay.errors import InputError

_MESSAGES = "messages"
_STRUCTURE = "structured_response"
_INTERRUPT = "__interrupt__"
_NOTHING = object()


def adapt(found: Any) -> Any:
    """Return a function for an agent of a known library; anything else as it is."""
    if _is_one_of(found, "langgraph.pregel", "Pregel"):
        return Graph(found)
    if _is_one_of(found, "pydantic_ai", "Agent"):
        return PydanticAgent(found)
    return found


def _is_one_of(found: Any, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(found, kind)


@dataclass(frozen=True)
class Graph:
    """A compiled graph of LangGraph whose state has `messages`; the rest of it is the sly_data."""

    graph: Any

    def __post_init__(self) -> None:
        if _MESSAGES not in self.graph.channels:
            raise InputError(
                "the state of the graph has no `messages`",
                advice="name a function that calls the graph and returns text",
            )

    async def __call__(
        self, text: str, sly_data: dict[str, Any], chat_context: Any
    ) -> dict[str, Any]:
        self._refuse_unknown(sly_data)
        fresh: tuple[str, list[Any], dict[str, Any]] = (uuid.uuid4().hex, [], {})
        thread, before, known = chat_context or fresh
        said = [*before, {"role": "user", "content": text}]
        new = {key: value for key, value in sly_data.items() if known.get(key, _NOTHING) != value}
        config = {"configurable": {"thread_id": thread}}
        state = await self.graph.ainvoke({**new, _MESSAGES: said}, config)
        await self._refuse_interruption(state, config)
        own = {key: value for key, value in state.items() if key not in (_MESSAGES, _STRUCTURE)}
        # With a checkpointer the graph remembers by the thread, and would add what it gets again
        # to what it has; without one it gets everything.
        remembers = bool(self.graph.checkpointer)
        context = (thread, [], own) if remembers else (thread, list(state[_MESSAGES]), {})
        answer = _read_message(state[_MESSAGES][-1])
        structure = write_text(_dump(state.get(_STRUCTURE)))
        return {
            "text": answer,
            "structure": structure_in(structure or answer),
            "sly_data": own or None,
            "chat_context": context,
        }

    async def _refuse_interruption(self, state: dict[str, Any], config: dict[str, Any]) -> None:
        """Refuse a state that is no answer; its last message may be the one that was sent."""
        waiting = state.get(_INTERRUPT)
        if waiting or (self.graph.checkpointer and (await self.graph.aget_state(config)).next):
            raise ConnectionFailed(
                "the graph was interrupted and waits for a person",
                said=" ".join(str(getattr(one, "value", one)) for one in waiting or ()),
                lasting=True,
            )
        if state[_MESSAGES][-1].type == "human":
            raise AgentFailed("the graph ended without an answer")

    def _refuse_unknown(self, sly_data: dict[str, Any]) -> None:
        # The graph would drop them without a word.
        for key in sly_data:
            if key not in self.graph.channels or key == _MESSAGES:
                raise InputError(f"the state of the graph has no place for sly_data {key!r}")


def _read_message(message: Any) -> str:
    """Return the text of a message, which may be in parts."""
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(
        part if isinstance(part, str) else part.get("text") or ""
        for part in content
        if isinstance(part, str) or part.get("type") == "text"
    )


@dataclass(frozen=True)
class PydanticAgent:
    """An Agent of pydantic-ai; one whose dependencies are a dictionary gets the sly_data."""

    agent: Any

    async def __call__(
        self, text: str, sly_data: dict[str, Any], chat_context: Any
    ) -> dict[str, Any]:
        takes_sly_data = self.agent.deps_type is dict
        if sly_data and not takes_sly_data:
            raise InputError("the agent has no place for sly_data", advice="give it deps_type=dict")
        more = {"deps": sly_data} if takes_sly_data else {}
        result = await self.agent.run(text, message_history=chat_context, **more)
        answer = write_text(_dump(result.output)) or ""
        return {
            "text": answer,
            "structure": structure_in(answer),
            "sly_data": sly_data if takes_sly_data and sly_data else None,
            "chat_context": result.all_messages(),
        }


def _dump(value: Any) -> Any:
    """Return plain data for what an agent may give: models, dataclasses, or plain data."""
    if value is None or isinstance(value, str):
        return value
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, fallback=str)
