"""A pool of sockets whose cost per request does not grow with their number.

The pool of httpx looks at every connection whenever a request begins or ends. Here each request
takes a free lane, with a connection of its own, and gives it back when its answer is read.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable

import httpx


class Lanes(httpx.AsyncBaseTransport):
    """As many lanes as there ever were requests at the same time; the last one used comes first."""

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._trust = trust
        self._free: list[httpx.AsyncHTTPTransport] = []
        self._all: list[httpx.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        lane = self._free.pop() if self._free else self._new()
        try:
            response = await lane.handle_async_request(request)
        except BaseException:
            # A connection that broke is already closed; the lane opens another.
            self._free.append(lane)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Borrowed(response.stream, lambda: self._free.append(lane))
        return response

    async def aclose(self) -> None:
        for lane in self._all:
            await lane.aclose()

    def _new(self) -> httpx.AsyncHTTPTransport:
        lane = httpx.AsyncHTTPTransport(verify=self._trust)
        self._all.append(lane)
        return lane


class _Borrowed(httpx.AsyncByteStream):
    """The body of an answer; closing it frees its lane, once."""

    def __init__(self, stream: httpx.AsyncByteStream, give_back: Callable[[], None]) -> None:
        self._stream = stream
        self._give_back: Callable[[], None] | None = give_back

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            if self._give_back is not None:
                self._give_back()
                self._give_back = None
