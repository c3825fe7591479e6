"""Agents in Python for the tests: remembering, private, slow, broken in every way."""

from __future__ import annotations

import asyncio
import itertools
import os
import threading
from typing import Any

from assay.agents.connections import ConnectionFailed
from tests.waiting import PATIENCE

RELEASE = threading.Event()
MEETING = threading.Barrier(20)
SHARED: dict[str, Any] = {"orders": []}
NOT_AN_AGENT = 42


def plain(text: str) -> str:
    return f"you said {text}"


def remembering(text: str, history: list[dict[str, str]]) -> dict[str, Any]:
    """The same agent as the scripted echo: all turns so far, and how many they are."""
    turns = [turn["content"] for turn in history if turn["role"] == "user"] + [text]
    return {"text": " | ".join(turns), "structure": {"turns": len(turns)}}


async def counting(text: str, *, chat_context: Any, sly_data: dict[str, Any]) -> dict[str, Any]:
    """Keeps its own context, and changes the private data it is given."""
    await asyncio.sleep(0)
    count = (chat_context or 0) + 1
    seen = dict(sly_data)
    sly_data["planted"] = True
    return {"text": str(count), "sly_data": {**seen, "count": count}, "chat_context": count}


def sharing(text: str, sly_data: dict[str, Any]) -> dict[str, Any]:
    """Returns an object of its own, and goes on writing to it."""
    SHARED["orders"].append(text)
    return {"text": "ok", "sly_data": SHARED}


def everything(text: str, **more: Any) -> str:
    return " ".join(sorted(more)) + f" {more['metadata']} {more['chat_filter']}"


class Polite:
    """An agent with state: an object that is called."""

    async def __call__(self, text: str) -> str:
        return f"please: {text}"


polite = Polite()


def promising(text: str) -> Any:
    """Not a coroutine function, but what it returns has to be awaited."""
    return polite(text)


def hanging(text: str) -> str:
    RELEASE.wait(PATIENCE)
    return "at last"


def meeting(text: str) -> str:
    """Return only when as many calls as the barrier is for are under way together."""
    MEETING.wait(PATIENCE)
    return "all here"


async def blocking(text: str) -> str:
    """Wrong, and common: it sleeps without awaiting, and with it the loop it runs in."""
    RELEASE.wait(PATIENCE)
    return "at last"


async def endless(text: str) -> str:
    await asyncio.sleep(PATIENCE)
    return "never"


def raising(text: str) -> str:
    raise ValueError("no such song")


def unreachable(text: str) -> str:
    raise ConnectionFailed("the shop is closed")


CALLS = itertools.count()


def tired(text: str) -> str:
    """Raises in every second call."""
    if next(CALLS) % 2:
        raise ValueError("too tired")
    return "right"


async def raising_later(text: str) -> str:
    raise TimeoutError("of my own")


def leaving(text: str) -> str:
    raise SystemExit(3)


async def leaving_later(text: str) -> str:
    raise SystemExit(3)


def exhausted(text: str) -> str:
    return str(next(iter(())))


async def cancelling(text: str) -> str:
    raise asyncio.CancelledError


def silent(text: str) -> None:
    return None


def misspelling(text: str) -> dict[str, Any]:
    return {"text": "ok", "sly-data": {}}


def mistyping(text: str) -> dict[str, Any]:
    return {"text": 3}


def empty(text: str) -> dict[str, Any]:
    return {"sly_data": {}}


def uncopyable(text: str) -> dict[str, Any]:
    return {"text": "ok", "sly_data": {"lock": threading.Lock()}}


def demanding(text: str, temperature: float) -> str:
    return text


def quoting(text: str) -> str:
    """Tells what it found in its environment where a message is cut."""
    raise ValueError("x" * 180 + os.environ["SOME_API_KEY"])


async def quoting_later(text: str) -> str:
    return quoting(text)


def heard(text: str | None, history: list[dict[str, str]]) -> dict[str, Any]:
    """Tells what it was called with."""
    before = [turn["content"] for turn in history]
    return {"text": "ok", "structure": {"heard": [text, before]}}
