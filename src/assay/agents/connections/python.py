"""Connection to an agent that is a Python function, sync or async: `package.module:function`.

The function is called with the text (or None) and, as keyword arguments, with those of sly_data,
chat_context, history, metadata and chat_filter that it accepts. It returns a string, or a
dictionary with text, structure, sly_data and chat_context.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from assay.agents.connections.exchange import note_tokens
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
from assay.agents.connections.threads import Loop, Threads
from assay.agents.secrets import find_credentials
from assay.agents.trust import CodeRules, get_attribute, import_module, split_name
from assay.errors import InputError, nearest
from assay.tracebacks import describe

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
    """A compiled LangGraph graph whose state has `messages`; the rest of it is the sly_data."""

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
        _note_messages(state[_MESSAGES])
        answer = _read_message(state[_MESSAGES][-1])
        structure = format_text(_dump(state.get(_STRUCTURE)))
        return {
            "text": answer,
            "structure": find_structure(structure or answer),
            "sly_data": own or None,
            "chat_context": context,
        }

    async def _refuse_interruption(self, state: dict[str, Any], config: dict[str, Any]) -> None:
        """Refuse a state that is not an answer; its last message may be the one that was sent."""
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
        # The graph would silently drop them.
        for key in sly_data:
            if key not in self.graph.channels or key == _MESSAGES:
                raise InputError(f"the state of the graph does not support sly_data {key!r}")


def _note_messages(messages: list[Any]) -> None:
    """Note the tokens of the messages since the last of the user, where the model told them."""
    for message in reversed(messages):
        if message.type == "human":
            return
        usage = getattr(message, "usage_metadata", None) or {}
        note_tokens(usage.get("input_tokens"), usage.get("output_tokens"))


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
            raise InputError("the agent does not support sly_data", advice="give it deps_type=dict")
        more = {"deps": sly_data} if takes_sly_data else {}
        result = await self.agent.run(text, message_history=chat_context, **more)
        _note_usage(result)
        answer = format_text(_dump(result.output)) or ""
        return {
            "text": answer,
            "structure": find_structure(answer),
            "sly_data": sly_data if takes_sly_data and sly_data else None,
            "chat_context": result.all_messages(),
        }


def _note_usage(result: Any) -> None:
    """Note the tokens of a run of pydantic-ai; older releases name them otherwise."""
    usage = getattr(result, "usage", None)
    usage = usage() if callable(usage) else usage
    note_tokens(getattr(usage, "input_tokens", None), getattr(usage, "output_tokens", None))


def _dump(value: Any) -> Any:
    """Return plain data for an agent's output: models, dataclasses, or plain data."""
    if value is None or isinstance(value, str):
        return value
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(value, fallback=str)


_OFFERED = ("sly_data", "chat_context", "history", "metadata", "chat_filter")
_PARTS: dict[str, type] = {"text": str, "structure": dict, "sly_data": dict, "chat_context": object}


@dataclass(frozen=True)
class _Context:
    """Assay's state of a conversation, and the agent's own context to pass back."""

    history: tuple[tuple[str, str], ...] = ()
    own: Any = None

    def turns(self) -> list[dict[str, str]]:
        return [{"role": role, "content": content} for role, content in self.history]

    def after(self, message: Message, text: str | None, own: Any) -> _Context:
        asked = () if message.text is None else (("user", message.text),)
        return _Context((*self.history, *asked, ("assistant", text or "")), own)


@dataclass(frozen=True)
class PythonSession(Session):
    """One sample's conversation with a function."""

    function: Callable[..., Any]
    wanted: frozenset[str]
    metadata: dict[str, Any] = field(repr=False)
    threads: Threads
    loop: Loop

    async def ask(self, message: Message) -> Answer:
        context = message.chat_context or _Context()
        call = partial(self.function, message.text, **self._select(message, context))
        try:
            if is_async(self.function):
                result = await self.loop.run(call())
            else:
                result = await self.threads.call(call)
                if inspect.isawaitable(result):
                    result = await self.loop.run(_await(result))
        except (AgentFailed, ConnectionFailed, InputError):
            raise
        except Exception as error:
            raise AgentFailed("the agent raised an error", said=describe(error)) from None
        parts = read_parts(result)
        own = parts.pop("chat_context", None)
        return Answer(**parts, chat_context=context.after(message, parts.get("text"), own))

    def _select(self, message: Message, context: _Context) -> dict[str, Any]:
        offered = {
            "sly_data": message.sly_data,
            "chat_context": context.own,
            "history": context.turns(),
            "metadata": copy.deepcopy(self.metadata),
            "chat_filter": message.chat_filter,
        }
        return {name: offered[name] for name in self.wanted}


class PythonConnection(Connection):
    """One function, called for every sample."""

    def __init__(self, function: Callable[..., Any], settings: Settings) -> None:
        self._function = function
        self._wanted = _find_wanted(function, settings.agent)
        self._metadata = dict(settings.metadata)
        self.secrets = find_credentials(os.environ)
        self._threads = Threads()
        self._loop = Loop()

    async def session(self) -> Session:
        return PythonSession(
            self._function, self._wanted, self._metadata, self._threads, self._loop
        )

    async def close(self) -> None:
        await self._loop.close()


def open_python(settings: Settings) -> Connection:
    """Return a connection to the function or agent named by `package.module:name`."""
    found = adapt(load(settings.agent, settings.code_rules))
    if "google.adk.workflow" in sys.modules:
        from assay.agents.connections.adk import AdkLocalConnection, is_adk_agent

        if is_adk_agent(found):
            return AdkLocalConnection(found)
    if not callable(found):
        raise InputError(
            f"is a {type(found).__name__}, which cannot be called",
            where=settings.agent,
            advice="name a function, or an agent of google-adk, LangGraph or pydantic-ai",
        )
    return PythonConnection(found, settings)


def import_agent(name: str, rules: CodeRules | None = None) -> None:
    """Import an agent's module before any clock runs; errors are reported when it is opened."""
    with suppress(InputError):
        load(name, rules)
    if "google.adk.agents" in sys.modules:
        importlib.import_module("google.adk.runners")


def load(name: str, rules: CodeRules | None = None) -> Any:
    """Return the object `package.module:name`; without rules, from the current directory."""
    if rules is not None:
        return rules.load(name)
    module_name, path = split_name(name)
    if (folder := str(Path.cwd())) not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    found: Any = import_module(module_name)
    for part in path.split("."):
        found = get_attribute(found, part, module_name)
    return found


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether a call returns a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method itself is looked at
    )


async def _await(result: Any) -> Any:
    return await result


def _find_wanted(function: Callable[..., Any], where: str) -> frozenset[str]:
    """Return which of the offered keyword arguments the function accepts."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return frozenset()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return frozenset(_OFFERED)
    named = [
        each for each in parameters if each.kind not in (each.POSITIONAL_ONLY, each.VAR_POSITIONAL)
    ]
    first = parameters[0].name if parameters else None
    for each in named:
        if each.default is each.empty and each.name not in (*_OFFERED, first):
            raise InputError(
                f"asks for {each.name!r}, which no interaction has",
                where=where,
                advice=nearest(each.name, _OFFERED),
            )
    return frozenset(each.name for each in named) & frozenset(_OFFERED)


def read_parts(result: Any) -> dict[str, Any]:
    """Return the parts of an answer, copied: an agent may go on using what it returned."""
    if isinstance(result, str):
        return {"text": result}
    if not isinstance(result, dict) or not result.keys() <= _PARTS.keys():
        raise AgentFailed(
            f"the agent returned {_describe_shape(result)}",
            advice=f"return text, or a dictionary of {', '.join(_PARTS)}",
        )
    parts = {key: value for key, value in result.items() if value is not None}
    for key, value in parts.items():
        if not isinstance(value, _PARTS[key]):
            raise AgentFailed(f"the agent returned {type(value).__name__} as its {key}")
    if not {"text", "structure"} & parts.keys():
        raise AgentFailed("the agent returned neither text nor structure")
    try:
        return {k: v if k == "chat_context" else copy.deepcopy(v) for k, v in parts.items()}
    except Exception as error:
        raise AgentFailed(
            "what the agent returned cannot be copied", said=describe(error)
        ) from None


def _describe_shape(result: Any) -> str:
    if isinstance(result, dict):
        unknown = sorted(str(key) for key in result.keys() - _PARTS.keys())
        return f"a dictionary with the unknown key {unknown[0]!r}"
    return f"a {type(result).__name__}"
