"""Connection to an agent over the A2A protocol (JSON-RPC binding, versions 1.0 and 0.3).

The agent card gives the protocol version and the path. It cannot redirect to a different server:
credentials are only sent to the server that the user named.
"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from assay.agents.connections.addresses import find_root
from assay.agents.connections.jsonrpc import JsonRpc
from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    ConnectionFailed,
    Message,
    Session,
    Settings,
    find_structure,
)
from assay.agents.connections.web import WebConnection, begin, read_json
from assay.errors import InputError

_CARD = "/.well-known/agent-card.json"
_BINDING = "JSONRPC"
_PAUSE = 0.3
_UNFINISHED = ("submitted", "working")
# The agent has spoken and waits: for another task, or for what it asked.
_ANSWERED = ("completed", "input-required", "rejected")


@dataclass(frozen=True)
class _Endpoint:
    """The URL and protocol version of an agent."""

    path: str
    is_old: bool = False

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.is_old else {"A2A-Version": "1.0"}

    def name_method(self, method: str) -> str:
        return {"SendMessage": "message/send", "GetTask": "tasks/get"}[
            method
        ] * self.is_old or method

    def write(self, message: Message, place: _Place | None) -> dict[str, Any]:
        """Return the parameters of a call in the format of its version."""
        written: dict[str, Any] = {
            "messageId": uuid.uuid4().hex,
            "role": "user" if self.is_old else "ROLE_USER",
            "parts": [{"text": message.text, **({"kind": "text"} if self.is_old else {})}],
        }
        if self.is_old:
            written["kind"] = "message"
        if place is not None:
            written |= {"contextId": place.context}
            written |= {"taskId": place.task} if place.task else {}
        waiting = {"blocking": True} if self.is_old else {"returnImmediately": False}
        return {"message": written, "configuration": waiting}


@dataclass(frozen=True)
class _Place:
    """Where a conversation continues; within a task, if the agent asked something."""

    context: str | None
    task: str | None = None


class A2ASession(Session):
    """One sample's conversation; the agent remembers it by its context."""

    def __init__(self, rpc: JsonRpc, endpoint: _Endpoint) -> None:
        self._rpc, self._endpoint = rpc, endpoint

    async def ask(self, message: Message) -> Answer:
        if message.sly_data:
            raise InputError(
                "A2A does not support sly_data",
                advice="remove it from the interaction, or use another connection",
            )
        place: _Place | None = message.chat_context
        if place is not None and place.context is None:
            raise ConnectionFailed(
                "the agent gave no contextId, so the conversation cannot continue", lasting=True
            )
        result = await self._call("SendMessage", self._endpoint.write(message, place), message)
        # In 1.0 the result has one member, in 0.3 it says itself what it is.
        if isinstance(result.get("message"), dict) or result.get("kind") == "message":
            said = result if "parts" in result else result["message"]
            return _make_answer([said], _Place(_read_id(said, "contextId")))
        return await self._follow(result.get("task", result), message)

    async def _follow(self, task: Any, message: Message) -> Answer:
        """Return the answer of a task, once it has one."""
        while (state := _read_state(task)) in _UNFINISHED:
            await asyncio.sleep(_PAUSE)
            task = await self._call("GetTask", {"id": _read_id(task, "id")}, message)
        said = task["status"].get("message")
        if state == "failed":
            raise AgentFailed("the agent reports that its task failed", said=_read_text([said]))
        if state not in _ANSWERED:
            raise ConnectionFailed(
                f"the task ended as {state}", said=_read_text([said]), lasting=state != "canceled"
            )
        is_open = state == "input-required"
        place = _Place(_read_id(task, "contextId"), _read_id(task, "id") if is_open else None)
        artifacts = _read_list(task.get("artifacts"))
        if state == "completed" and _has_content(artifacts):
            return _make_answer(artifacts, place)
        messages = [said] if _has_content([said]) else _find_last(task.get("history"))
        return _make_answer(messages, place)

    async def _call(self, method: str, params: Any, message: Message) -> dict[str, Any]:
        result, _ = await self._rpc.call(
            self._endpoint.name_method(method),
            params,
            path=self._endpoint.path,
            limit=message.timeout,
            headers=self._endpoint.headers,
        )
        return result


class A2AConnection(WebConnection):
    """The server of one agent."""

    def __init__(self, settings: Settings) -> None:
        root = urlsplit(find_root(settings))
        self._origin, self._path = f"{root.scheme}://{root.netloc}", root.path.rstrip("/")
        super().__init__(settings, self._origin)
        self._rpc = JsonRpc(self._web)
        self._endpoint: _Endpoint | None = None

    async def session(self) -> Session:
        if self._endpoint is None:
            self._endpoint = await begin(self._find_endpoint())
        return A2ASession(self._rpc, self._endpoint)

    async def _find_endpoint(self) -> _Endpoint:
        path = self._path + _CARD
        async with self._web.send("GET", path, accepted=(200, 404)) as response:
            if response.status_code == 404:
                raise ConnectionFailed(
                    "the server has no agent card",
                    where=self._origin + path,
                    advice="name the address below which /.well-known/agent-card.json is: --url",
                    lasting=True,
                )
            card = await read_json(response)
        if not isinstance(card, dict):
            raise ConnectionFailed("the agent card is not an object")
        if card.get("name") != self._settings.agent:
            raise ConnectionFailed(
                "another agent is served there",
                said=str(card.get("name")),
                advice="`agent` is the name on the agent's card",
                lasting=True,
            )
        return self._choose(_list_interfaces(card))

    def _choose(self, interfaces: list[dict[str, Any]]) -> _Endpoint:
        """Return the newest supported interface."""
        spoken = [one for one in interfaces if one["binding"].upper() == _BINDING]
        for major, is_old in (("1", False), ("0", True)):
            for one in spoken:
                if one["version"].split(".")[0] == major:
                    return _Endpoint(self._place_url(one["url"]), is_old)
        raise ConnectionFailed(
            "the agent offers no JSON-RPC interface of A2A 1.0 or 0.3", lasting=True
        )

    def _place_url(self, url: str) -> str:
        """Return the path of an interface on the server that the user named.

        Behind a gateway a card has an address of its own; then its path is below the gateway's.
        """
        try:
            parts = urlsplit(url)
        except ValueError:
            raise ConnectionFailed("the agent card has an invalid address") from None
        # After the name of the server anything but a slash would make it another server.
        if parts.path and not parts.path.startswith("/"):
            raise ConnectionFailed("the agent card has an invalid address", said=url)
        is_same = f"{parts.scheme}://{parts.netloc}" == self._origin
        return (parts.path if is_same else self._path + parts.path) or "/"


def _list_interfaces(card: dict[str, Any]) -> list[dict[str, str]]:
    """Return the interfaces of a card of either version."""
    try:
        listed = [
            (one["url"], one["protocolBinding"], one["protocolVersion"])
            for one in card.get("supportedInterfaces") or []
        ]
        if "url" in card:
            version = card.get("protocolVersion", "0.3")
            listed.append((card["url"], card.get("preferredTransport", _BINDING), version))
            listed += [
                (one["url"], one["transport"], version)
                for one in card.get("additionalInterfaces") or []
            ]
        return [
            {"url": str(url), "binding": str(binding), "version": str(version)}
            for url, binding, version in listed
        ]
    except (KeyError, TypeError):
        raise ConnectionFailed("the agent card is of the wrong shape") from None


def _read_state(task: Any) -> str:
    try:
        state: str = task["status"]["state"]
        return state.lower().removeprefix("task_state_").replace("_", "-")
    except (AttributeError, KeyError, TypeError):
        raise ConnectionFailed("the answer is neither a message nor a task") from None


def _read_id(value: dict[str, Any], key: str) -> str | None:
    found = value.get(key)
    return found if isinstance(found, str) and found else None


def _read_list(value: Any) -> list[Any]:
    """Return an optional list."""
    if value is not None and not isinstance(value, list):
        raise ConnectionFailed("the answer has something else in the place of a list")
    return value or []


def _find_last(history: Any) -> list[Any]:
    """Return the last message of the agent, in a list."""
    messages = [one for one in _read_list(history) if isinstance(one, dict)]
    answers = [one for one in messages if one.get("role") in ("agent", "ROLE_AGENT")]
    return answers[-1:]


def _make_answer(messages: list[Any], place: _Place) -> Answer:
    if not _has_content(messages):
        raise ConnectionFailed("the agent answered without text and data")
    text = _read_text(messages)
    data = [part["data"] for part in _list_parts(messages) if isinstance(part.get("data"), dict)]
    return Answer(
        text=text or None,
        structure=data[0] if data else find_structure(text),
        chat_context=place,
    )


def _has_content(messages: list[Any]) -> bool:
    parts = _list_parts(messages)
    return bool(_read_text(messages)) or any(isinstance(part.get("data"), dict) for part in parts)


def _read_text(messages: list[Any]) -> str:
    texts = [part.get("text") for part in _list_parts(messages)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _list_parts(messages: list[Any]) -> list[dict[str, Any]]:
    """Return the parts of messages or artifacts."""
    return [
        part
        for message in messages
        if isinstance(message, dict)
        for part in _read_list(message.get("parts"))
        if isinstance(part, dict)
    ]
