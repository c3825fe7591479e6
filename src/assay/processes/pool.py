"""Children of one kind, kept for the next who needs one, and forks that call a function."""

from __future__ import annotations

import asyncio
import contextlib
import pickle
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Generic, Protocol, TypeVar

from assay.processes.channel import Channel, Codec
from assay.processes.child import Child
from assay.tracebacks import format_exception

_BYTES = Codec(bytes, bytes)


class _Member(Protocol):
    """What a pool can keep."""

    @property
    def has_ended(self) -> bool: ...

    async def close(self) -> None: ...


M = TypeVar("M", bound=_Member)


class Pool(Generic[M]):
    """As many members as are needed at the same time, each kept for the next who needs one."""

    def __init__(self, start: Callable[[], Awaitable[M]]) -> None:
        self._start = start
        self.idle: list[M] = []
        self.busy: set[M] = set()

    @contextlib.asynccontextmanager
    async def take(self) -> AsyncIterator[M]:
        """Have a member for the length of a block; one whose block raises is ended with it."""
        member = self.idle.pop() if self.idle else await self._start()
        self.busy.add(member)
        try:
            yield member
        except BaseException:
            # Its state is unknown, and what it does for somebody who left must not go on.
            await member.close()
            raise
        finally:
            self.busy.discard(member)
        if member.has_ended:
            await member.close()
        else:
            self.idle.append(member)

    async def close(self) -> None:
        """End the members that nobody has."""
        idle, self.idle = self.idle, []
        await asyncio.gather(*(member.close() for member in idle))


class WorkRaisedError(Exception):
    """The function raised; the message is an account of what."""


class ForkPool:
    """Calls one function in forked children, each call with a limit; what hangs can be killed.

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
