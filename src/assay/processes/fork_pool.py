"""Calls a function in forks of this process, with a time limit that kills hanging calls."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable
from typing import Any

from assay.processes.channel import Channel, Codec
from assay.processes.child import Child
from assay.processes.pool import Pool
from assay.tracebacks import format_exception

_BYTES = Codec(bytes, bytes)


class WorkRaisedError(Exception):
    """The function raised; the message describes the exception."""


class ForkPool:
    """Calls one function in forked children with a time limit; hanging calls are killed.

    A fork needs no function that can be imported, and dies with the process that made it.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self._pool = Pool(self._fork)

    async def call(self, argument: Any, limit: float) -> Any:
        """Return the function's result; raise WorkRaisedError or ChildLostError."""
        payload = pickle.dumps(argument)
        async with self._pool.take() as child:
            answer = await child.ask(payload, limit)
        has_raised, value = pickle.loads(answer)  # noqa: S301 - our own fork
        if has_raised:
            raise WorkRaisedError(f"raised {value}")
        return value

    def close(self) -> None:
        """Kill all children, whatever they are doing."""
        for child in (*self._pool.idle, *self._pool.busy):
            child.kill()
        self._pool.idle.clear()

    async def _fork(self) -> Child:
        return Child.fork(self._serve, _BYTES)

    def _serve(self, channel: Channel) -> None:
        with contextlib.suppress(EOFError):
            while True:
                payload, _ = channel.receive()
                channel.send(self._answer(payload))

    def _answer(self, payload: bytes) -> bytes:
        try:
            argument = pickle.loads(payload)  # noqa: S301 - the process that this is a fork of
            return pickle.dumps((False, self._function(argument)))
        except BaseException as error:
            return pickle.dumps((True, format_exception(error)))
