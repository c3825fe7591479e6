"""Connection to neuro-san agents, over HTTP(S) or through the library in this process."""

from __future__ import annotations

import copy
import importlib.util
import json
import os
import re
import threading
from contextlib import suppress
from functools import cache
from typing import Any
from urllib.parse import quote

from assay.agents.connections.addresses import make_address
from assay.agents.connections.exchange import note_origin, note_step, note_tokens
from assay.agents.connections.protocol import (
    Answer,
    Connection,
    ConnectionFailed,
    Message,
    Session,
    Settings,
    format_text,
)
from assay.agents.connections.threads import Threads
from assay.agents.connections.web import LineSplitter, Web, WebConnection, encode_json, read_bytes
from assay.agents.secrets import find_credentials
from assay.documents import MOST_PARTS, has_too_many_parts
from assay.errors import InfrastructureError
from assay.tracebacks import describe

# Types come as words over HTTP and as numbers from in-process sessions.
_AI = ("AI", 4)
_FRAMEWORK = ("AGENT_FRAMEWORK", 101)
_AGENT = ("AGENT", 100)
_MISSHAPEN = "the stream has a message of the wrong shape"
_RETRYING = re.compile(r"\s*Retrying(?::|…|\.\.\.)")


def make_request(message: Message) -> dict[str, Any]:
    """Return the request of one interaction, without empty parts.

    A missing text is null, as neuro-san's own driver sends it.
    """
    request: dict[str, Any] = {"user_message": {"type": "HUMAN", "text": message.text}}
    if message.sly_data:
        request["sly_data"] = message.sly_data
    if message.chat_context:
        request["chat_context"] = message.chat_context
    request["chat_filter"] = {"chat_filter_type": message.chat_filter}
    return request


def parse_frame(line: bytes) -> dict[str, Any] | None:
    """Return the frame that a line holds; None for a line that only keeps the connection alive."""
    if not line.strip():
        return None
    if has_too_many_parts(line):
        raise ConnectionFailed(f"the stream has a line of more than {MOST_PARTS:,} parts")
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError):
        raise ConnectionFailed("the stream has a line that is not JSON") from None
    if not isinstance(frame, dict):
        raise ConnectionFailed("the stream has a line that is not a message")
    return frame


class FrameReader:
    """Reads the frames of one reply in order; a later answer replaces an earlier one."""

    def __init__(self) -> None:
        self._answer: dict[str, Any] | None = None
        self._context: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}

    def take_line(self, line: bytes) -> None:
        frame = parse_frame(line)
        if frame is not None:
            self.take(frame)

    def take(self, frame: dict[str, Any]) -> None:
        response = frame.get("response")
        # Errors after the status line can only appear in the stream; content beside or before one
        # is not an answer.
        if frame.get("error") or ("error" in frame and not isinstance(response, dict)):
            raise ConnectionFailed(
                "the server reports an error", said=format_text(frame["error"]) or ""
            )
        if not isinstance(response, dict):
            return
        kind = response.get("type")
        if kind in _FRAMEWORK and response.get("chat_context") is not None:
            self._context = response
        if kind in _FRAMEWORK or kind in _AI:
            if _is_from_front_agent(response):
                self._answer = response
            elif response.get("text"):
                note_step(_describe_origin(response), response["text"])
        elif kind in _AGENT:
            self._take_usage(response.get("structure"))

    def _take_usage(self, usage: Any) -> None:
        # The front agent reports its own tokens, and then those of all by model.
        is_usage = isinstance(usage, dict) and "prompt_tokens" in usage
        if is_usage and ("models" in usage or "models" not in self._usage):
            self._usage = usage

    def make_answer(self) -> Answer:
        """Return the answer, once the stream is complete."""
        if self._answer is None:
            raise ConnectionFailed("the stream ended without an answer")
        text, structure = self._answer.get("text"), self._answer.get("structure")
        sly_data = self._context.get("sly_data")
        if sly_data is not None and not isinstance(sly_data, dict):
            raise ConnectionFailed(_MISSHAPEN)
        if self._answer.get("type") in _FRAMEWORK and _RETRYING.match(text or ""):
            raise ConnectionFailed("the stream ended with an attempt", said=str(text))
        note_origin(_describe_origin(self._answer))
        note_tokens(self._usage.get("prompt_tokens"), self._usage.get("completion_tokens"))
        return Answer(
            text=text,
            structure=structure,
            sly_data=sly_data,
            chat_context=self._context.get("chat_context"),
        )


def _is_from_front_agent(response: dict[str, Any]) -> bool:
    """Return whether a frame is from the agent that was asked: its origin has at most one step."""
    text, structure, origin = (response.get(key) for key in ("text", "structure", "origin"))
    for value, kind in ((text, str), (structure, dict), (origin, list)):
        if value is not None and not isinstance(value, kind):
            raise ConnectionFailed(_MISSHAPEN)
    return len(origin or ()) <= 1 and not (text is None and structure is None)


def _describe_origin(response: dict[str, Any]) -> str:
    """Return the agents through which a frame came, from the front one on."""
    steps = (step for step in response.get("origin") or () if isinstance(step, dict))
    return ".".join(str(step.get("tool", "")) for step in steps)


class HttpSession(Session):
    """One sample's share of the pool. It is stateless: every request is complete."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def ask(self, message: Message) -> Answer:
        reader, lines = FrameReader(), LineSplitter()
        body = encode_json(make_request(message))
        async with self._web.send("POST", body=body, limit=message.timeout) as response:
            async for chunk in read_bytes(response):
                for line in lines.feed(chunk):
                    reader.take_line(line)
            reader.take_line(lines.take_rest())
            return reader.make_answer()


class HttpConnection(WebConnection):
    """A neuro-san server."""

    scheme = "http"

    def __init__(self, settings: Settings) -> None:
        root = make_address(self.scheme, settings.host or "localhost", settings.port or 8080)
        # Servers route by the slashes in an agent's name, so they stay as they are.
        agent = quote(settings.agent, safe="/")
        super().__init__(settings, f"{root}/api/v1/{agent}/streaming_chat")

    async def session(self) -> Session:
        return HttpSession(self._web)


class HttpsConnection(HttpConnection):
    """A neuro-san server over TLS."""

    scheme = "https"


_INSTALL = (
    "install it beside Assay, on Python 3.12 or newer: pip install neuro-san; or test through a "
    "server, with the connection http"
)
# The library reads its files with a parser that two threads must not use at once. Only reading is
# done under it: sessions are made of what was read, and tests need not wait for each other.
_building = threading.Lock()


class DirectSession(Session):
    """One session of the library; it is reset before every interaction, as the library requires."""

    def __init__(self, session: Any, threads: Threads) -> None:
        self._session = session
        self._threads = threads
        self._is_over = threading.Event()

    async def ask(self, message: Message) -> Answer:
        # The library shares objects with its callers in both directions.
        request = copy.deepcopy(make_request(message))
        return await self._threads.call(lambda: self._ask(request))

    async def close(self) -> None:
        # Closing waits for running calls, so it is not awaited.
        self._is_over.set()
        self._threads.start(lambda: _close(self._session))

    def _ask(self, request: dict[str, Any]) -> Answer:
        reader = FrameReader()
        try:
            self._session.reset()
            for frame in self._session.streaming_chat(request):
                if self._is_over.is_set():
                    break
                reader.take(frame)
        except ConnectionFailed:
            raise
        except BaseException as error:
            raise ConnectionFailed("the library failed", said=describe(error)) from None
        return copy.deepcopy(reader.make_answer())


class DirectConnection(Connection):
    """One agent of the library."""

    def __init__(self, settings: Settings) -> None:
        if importlib.util.find_spec("neuro_san") is None:
            raise InfrastructureError(
                "the connection direct needs the neuro-san library, which is not installed",
                advice=_INSTALL,
            )
        self._settings = settings
        self._threads = Threads()
        self.secrets = find_credentials(os.environ)

    async def session(self) -> Session:
        return DirectSession(await self._threads.call(self._create), self._threads)

    def _create(self) -> Any:
        try:
            return self._session()
        except InfrastructureError:
            raise
        except BaseException as error:
            raise ConnectionFailed(
                "the library has no session for this agent",
                said=describe(error),
                where=self._settings.agent,
                advice="check the agent's name, and AGENT_MANIFEST_FILE and AGENT_TOOL_PATH",
                lasting=True,
            ) from None

    def _session(self) -> Any:
        agent, use_direct = self._settings.agent, self._settings.use_direct
        metadata = copy.deepcopy(dict(self._settings.metadata)) or None
        with _building:
            pattern = _load_session(agent, use_direct)
        try:
            return _copy_session(pattern, metadata)
        except (AttributeError, ImportError, KeyError, TypeError):
            # A release with a different internal structure: its factory still works.
            with _building:
                return load_factory().create_session(
                    agent, use_direct=use_direct, metadata=metadata
                )


def _close(session: Any) -> None:
    # Cleanup errors of the library after a sample do not matter.
    with suppress(Exception):
        session.close()


def _copy_session(session: Any, metadata: dict[str, Any] | None) -> Any:
    """Return another session for the agent, sharing what the library's own server shares.

    The factory would read the library's list of models again, for two seconds each time.
    """
    from leaf_common.asyncio.asyncio_executor_pool import AsyncioExecutorPool
    from neuro_san.internals.interfaces.storage_class import StorageClass
    from neuro_san.internals.reservations.direct_agent_reservationist import (
        DirectAgentReservationist,
    )

    pattern = session.invocation_context
    context = type(pattern)(
        pattern.get_agent_name(),
        pattern.get_async_session_factory(),
        AsyncioExecutorPool(),
        pattern.get_llm_factory(),
        pattern.get_toolbox_factory(),
        metadata,
        DirectAgentReservationist({load_factory().network_storage_dict[StorageClass.TEMP]}),
    )
    context.start()
    return type(session)(
        agent_network=session.agent_network, invocation_context=context, metadata=metadata
    )


@cache
def _load_session(agent: str, use_direct: bool) -> Any:
    return load_factory().create_session(agent, use_direct=use_direct)


@cache
def load_factory() -> Any:
    """Return the library's factory, built once: it reads every agent of the manifest."""
    try:
        from neuro_san.client.direct_agent_session_factory import DirectAgentSessionFactory

        return DirectAgentSessionFactory()
    except BaseException as error:
        raise InfrastructureError(
            f"the neuro-san library cannot be used: {describe(error)}", advice=_INSTALL
        ) from None
