"""Talks to an agent through the neuro-san library, in this process and without a server."""

from __future__ import annotations

import copy
import importlib.util
import os
import threading
from contextlib import suppress
from functools import cache
from typing import Any

from assay.agents.connections.frames import Reader, request_for
from assay.agents.connections.protocol import (
    Answer,
    ConnectionFailed,
    Message,
    Session,
    Settings,
)
from assay.agents.connections.threads import Threads
from assay.agents.secrets import credentials_in
from assay.errors import InfrastructureError
from assay.tracebacks import describe

_INSTALL = (
    "install it beside Assay, on Python 3.12 or newer: pip install neuro-san; or test through a "
    "server, with the connection http"
)
# The library reads its files with a parser that two threads must not use at once. Only reading is
# done under it: sessions are made of what was read, and tests need not wait for each other.
_building = threading.Lock()


class DirectSession:
    """One session of the library; it is reset before every interaction, as the library asks."""

    def __init__(self, session: Any, threads: Threads) -> None:
        self._session = session
        self._threads = threads
        self._is_over = threading.Event()

    async def ask(self, message: Message) -> Answer:
        # The library keeps what it is given and gives what it keeps.
        request = copy.deepcopy(request_for(message))
        return await self._threads.call(lambda: self._ask(request))

    async def close(self) -> None:
        # Closing waits for what still runs, and nobody should wait for that.
        self._is_over.set()
        self._threads.start(lambda: _close(self._session))

    def _ask(self, request: dict[str, Any]) -> Answer:
        reader = Reader()
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
        return copy.deepcopy(reader.answer())


class DirectConnection:
    """One agent of the library."""

    def __init__(self, settings: Settings) -> None:
        if importlib.util.find_spec("neuro_san") is None:
            raise InfrastructureError(
                "the connection direct needs the neuro-san library, which is not installed",
                advice=_INSTALL,
            )
        self._settings = settings
        self._threads = Threads()
        self.secrets = credentials_in(os.environ)

    async def session(self) -> Session:
        return DirectSession(await self._threads.call(self._create), self._threads)

    async def close(self) -> None:
        """What the library has read stays for the next test."""

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
            pattern = _pattern(agent, use_direct)
        try:
            return another_like(pattern, metadata)
        except (AttributeError, ImportError, KeyError, TypeError):
            # A release that is built differently inside: its factory still knows how.
            with _building:
                return factory().create_session(agent, use_direct=use_direct, metadata=metadata)


def _close(session: Any) -> None:
    # What the library cannot tidy up after a sample is of no more use to anyone.
    with suppress(Exception):
        session.close()


def another_like(session: Any, metadata: dict[str, Any] | None) -> Any:
    """A second session for the same agent, sharing what the library's own server shares.

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
        DirectAgentReservationist({factory().network_storage_dict[StorageClass.TEMP]}),
    )
    context.start()
    return type(session)(
        agent_network=session.agent_network, invocation_context=context, metadata=metadata
    )


@cache
def _pattern(agent: str, use_direct: bool) -> Any:
    return factory().create_session(agent, use_direct=use_direct)


@cache
def factory() -> Any:
    """The library's factory, built once: it reads every agent of the manifest."""
    try:
        from neuro_san.client.direct_agent_session_factory import DirectAgentSessionFactory

        return DirectAgentSessionFactory()
    except BaseException as error:
        raise InfrastructureError(
            f"the neuro-san library cannot be used: {describe(error)}", advice=_INSTALL
        ) from None
