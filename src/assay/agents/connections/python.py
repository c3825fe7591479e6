"""Talks to an agent that is Python: a function, sync or async, named `package.module:function`.

It is called with the text, None if there is none, and by name with those of sly_data,
chat_context, history, metadata and chat_filter that it asks for. It returns text, or a dictionary
of text, structure, sly_data and chat_context.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from assay.agents.connections.adapters import adapt
from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    Connection,
    ConnectionFailed,
    Message,
    Session,
    Settings,
)
from assay.agents.connections.threads import Loop, Threads
from assay.agents.secrets import credentials_in
from assay.agents.trust import CodeRules, get_attribute, import_module, split_name
from assay.errors import InputError, nearest
from assay.tracebacks import describe

_OFFERED = ("sly_data", "chat_context", "history", "metadata", "chat_filter")
_PARTS: dict[str, type] = {"text": str, "structure": dict, "sly_data": dict, "chat_context": object}


@dataclass(frozen=True)
class _Context:
    """What Assay keeps of a conversation, and what the agent gave to be handed back."""

    history: tuple[tuple[str, str], ...] = ()
    own: Any = None

    def turns(self) -> list[dict[str, str]]:
        return [{"role": role, "content": content} for role, content in self.history]

    def after(self, message: Message, text: str | None, own: Any) -> _Context:
        asked = () if message.text is None else (("user", message.text),)
        return _Context((*self.history, *asked, ("assistant", text or "")), own)


@dataclass(frozen=True)
class PythonSession:
    """One sample's conversation with a function."""

    function: Callable[..., Any]
    wanted: frozenset[str]
    metadata: dict[str, Any] = field(repr=False)
    threads: Threads
    loop: Loop

    async def ask(self, message: Message) -> Answer:
        context = message.chat_context or _Context()
        call = partial(self.function, message.text, **self._named(message, context))
        try:
            if is_async(self.function):
                result = await self.loop.run(call())
            else:
                result = await self.threads.call(call)
                if inspect.isawaitable(result):
                    result = await self.loop.run(_awaited(result))
        except (AgentFailed, ConnectionFailed, InputError):
            raise
        except Exception as error:
            raise AgentFailed("the agent raised an error", said=describe(error)) from None
        parts = read_parts(result)
        own = parts.pop("chat_context", None)
        return Answer(**parts, chat_context=context.after(message, parts.get("text"), own))

    async def close(self) -> None:
        """There is nothing of one sample to close."""

    def _named(self, message: Message, context: _Context) -> dict[str, Any]:
        offered = {
            "sly_data": message.sly_data,
            "chat_context": context.own,
            "history": context.turns(),
            "metadata": copy.deepcopy(self.metadata),
            "chat_filter": message.chat_filter,
        }
        return {name: offered[name] for name in self.wanted}


class PythonConnection:
    """One function, called for every sample."""

    def __init__(self, function: Callable[..., Any], settings: Settings) -> None:
        self._function = function
        self._wanted = _wanted(function, settings.agent)
        self._metadata = dict(settings.metadata)
        self.secrets = credentials_in(os.environ)
        self._threads = Threads()
        self._loop = Loop()

    async def session(self) -> Session:
        return PythonSession(
            self._function, self._wanted, self._metadata, self._threads, self._loop
        )

    async def close(self) -> None:
        await self._loop.close()


def open_python(settings: Settings) -> Connection:
    """A connection to what `package.module:name` is: a function, or an agent of a library."""
    found = adapt(load(settings.agent, settings.code_rules))
    if "google.adk.workflow" in sys.modules:
        from assay.agents.connections.adk import AdkConnection, is_adk_agent

        if is_adk_agent(found):
            return AdkConnection(found)
    if not callable(found):
        raise InputError(
            f"is a {type(found).__name__}, which cannot be called",
            where=settings.agent,
            advice="name a function, or an agent of google-adk, LangGraph or pydantic-ai",
        )
    return PythonConnection(found, settings)


def import_agent(name: str, rules: CodeRules | None = None) -> None:
    """Import an agent's module before any clock runs; what is wrong is told when it is opened."""
    with suppress(InputError):
        load(name, rules)
    if "google.adk.agents" in sys.modules:
        importlib.import_module("google.adk.runners")


def load(name: str, rules: CodeRules | None = None) -> Any:
    """Return what `package.module:name` means; without rules it is seen from the current folder."""
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
    """Whether calling it only makes a coroutine."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method itself is looked at
    )


async def _awaited(result: Any) -> Any:
    return await result


def _wanted(function: Callable[..., Any], where: str) -> frozenset[str]:
    """Which of what is offered the function asks for by name."""
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
    """The parts of an answer, copied: an agent may go on using what it returned."""
    if isinstance(result, str):
        return {"text": result}
    if not isinstance(result, dict) or not result.keys() <= _PARTS.keys():
        raise AgentFailed(
            f"the agent returned {_shape(result)}",
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


def _shape(result: Any) -> str:
    if isinstance(result, dict):
        unknown = sorted(str(key) for key in result.keys() - _PARTS.keys())
        return f"a dictionary with the unknown key {unknown[0]!r}"
    return f"a {type(result).__name__}"
