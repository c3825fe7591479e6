"""Talks to a neuro-san server over http or https: JSON out, a stream of JSON lines back."""

from __future__ import annotations

import json
from urllib.parse import quote

from assay.agents.connections.frames import Lines, Reader, frame_in, request_for
from assay.agents.connections.headers import headers_from
from assay.agents.connections.protocol import Answer, Message, Session, Settings
from assay.agents.connections.web import Web, address, read_bytes
from assay.errors import InputError

HOST = "localhost"
PORT = 8080


class HttpSession:
    """One sample's side of the pool. It keeps nothing: the server gets all it needs each time."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def ask(self, message: Message) -> Answer:
        reader, lines = Reader(), Lines()
        async with self._web.post(_body(message), message) as response:
            async for chunk in read_bytes(response):
                for line in lines.feed(chunk):
                    _take(reader, line)
            _take(reader, lines.rest())
            return reader.answer()

    async def close(self) -> None:
        """There is nothing of one sample to close."""


class HttpConnection:
    """One pool of sockets to one agent."""

    def __init__(self, scheme: str, settings: Settings) -> None:
        root = address(scheme, settings.host or HOST, settings.port or PORT)
        # Servers route by the slashes in an agent's name, so they stay as they are.
        url = f"{root}/api/v1/{quote(settings.agent, safe='/')}/streaming_chat"
        self._web = Web(url, headers_from(settings.metadata), settings)

    async def session(self) -> Session:
        return HttpSession(self._web)

    async def close(self) -> None:
        await self._web.close()


def _take(reader: Reader, line: bytes) -> None:
    frame = frame_in(line)
    if frame is not None:
        reader.take(frame)


def _body(message: Message) -> bytes:
    try:
        return json.dumps(request_for(message)).encode()
    except (TypeError, ValueError, RecursionError) as error:
        # The values themselves are private; their type is enough to find them.
        raise InputError(
            f"sly_data cannot be sent as JSON ({type(error).__name__})",
            advice="use text, numbers, booleans, null, lists and dictionaries",
        ) from None
