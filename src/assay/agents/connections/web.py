"""The pooled HTTP client of a connection, and the mapping of its errors."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Container, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, TypeVar
from urllib.request import getproxies

import httpx

from assay.agents.connections.addresses import is_local, make_headers
from assay.agents.connections.exchange import note_first_byte
from assay.agents.connections.protocol import Connection, ConnectionFailed, Settings
from assay.documents import MEGABYTE, MOST_PARTS, has_too_many_parts
from assay.errors import InputError
from assay.http_client import ACCEPTED, BodyTooLongError, read_body, refuse_wrong_proxy

T = TypeVar("T")

_LONGEST_ANSWER = 16 * MEGABYTE
_LONGEST_LINE = 16 * MEGABYTE
# How much of an error response is read, and for how long: an incomplete one is not quoted.
_LONGEST_REFUSAL = MEGABYTE
_PATIENCE = 2.0
# Reaching the server must end before the limit does, so that the two can be told apart.
_RESERVE = 0.05
_BEGINNING = 30.0
_FAREWELL = 2.0
_REFUSED_CERTIFICATE = re.compile(r"verify failed: (.*?)(?: \(_ssl|$)")


class WebConnection(Connection):
    """One connection pool for one server; metadata is sent as headers."""

    def __init__(
        self, settings: Settings, url: str, headers: Mapping[str, str] | None = None
    ) -> None:
        self._settings = settings
        self._web = Web(url, {**(headers or {}), **make_headers(settings.metadata)}, settings)
        self._farewells = Farewells()

    async def close(self) -> None:
        await self._farewells.close()
        await self._web.close()


class Web:
    """Sends JSON to one address and streams the response."""

    def __init__(self, url: str, headers: Mapping[str, str], settings: Settings) -> None:
        self._url = httpx.URL(url)
        if self._url.scheme not in ("http", "https") or not self._url.host:
            raise InputError(f"{url!r} is not an http or https address")
        self._settings = settings
        trust = _make_trust(self._url.scheme, settings)
        # Proxies from the environment are for remote servers, not for this machine.
        is_proxied = not is_local(self._url.host) and bool(getproxies())
        with refuse_wrong_proxy():
            self._client = httpx.AsyncClient(
                headers={
                    "Accept-Encoding": ACCEPTED,
                    **headers,
                    "Content-Type": "application/json",
                },
                verify=trust,
                transport=None if is_proxied else ConnectionPool(trust),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
                trust_env=is_proxied,
                # Cookies of one sample must not reach the next.
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            )

    @property
    def where(self) -> str:
        """The address, without the parts that must not be shown."""
        return f"{self._url.scheme}://{self._url.netloc.decode()}{self._url.path}"

    async def fetch(
        self,
        method: str,
        path: str = "",
        value: Any = None,
        *,
        limit: float | None = None,
        accepted: Container[int] = (200,),
    ) -> Any:
        """Return the JSON that answers a request with a JSON value; None sends no body."""
        body = None if value is None else encode_json(value)
        async with self.send(method, path, body, limit=limit, accepted=accepted) as response:
            return await read_json(response)

    @asynccontextmanager
    async def send(
        self,
        method: str,
        path: str = "",
        body: bytes | None = None,
        *,
        limit: float | None = None,
        headers: Mapping[str, str] | None = None,
        accepted: Container[int] = (200,),
    ) -> AsyncIterator[httpx.Response]:
        """Send a request below the address and yield the response as it arrives.

        The path is appended to the address unchanged, so that it never leads to a different server.
        Any error before the last byte of the response is an outage.
        """
        try:
            url = httpx.URL(str(self._url).rstrip("/") + path) if path else self._url
        except httpx.InvalidURL:
            # Paths are made of ids and addresses that servers give.
            raise ConnectionFailed(
                "the server returned an invalid address", where=self.where
            ) from None
        if (url.scheme, url.netloc) != (self._url.scheme, self._url.netloc):
            raise InputError(f"{path!r} points to another server than {self._url.netloc.decode()}")
        try:
            request = self._client.build_request(
                method, url, content=body, headers=headers, timeout=self._make_timeout(limit)
            )
            response = await self._client.send(request, stream=True)
            try:
                if response.status_code not in accepted:
                    await self._refuse(response)
                yield response
            finally:
                await response.aclose()
        except ConnectionFailed as failed:
            failed.where = failed.where or self.where
            raise
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            raise self._explain(error) from None

    async def close(self) -> None:
        await self._client.aclose()

    def _make_timeout(self, limit: float | None) -> httpx.Timeout:
        connect = self._settings.connect_timeout
        if limit is None:
            return httpx.Timeout(self._settings.silence, connect=connect)
        return httpx.Timeout(None, connect=min(connect, max(limit - _RESERVE, limit / 2)))

    async def _refuse(self, response: httpx.Response) -> None:
        """Raise the error for an unaccepted status."""
        status = response.status_code
        said = "" if status == 404 else await _read_refusal(response)
        advice = {
            401: "the server requires credentials",
            403: "the server does not let these credentials in",
            404: "the server has no such agent: check its name and whether it is served",
        }.get(status)
        raise ConnectionFailed(
            f"the server answered with status {status}",
            said=said,
            where=self.where,
            advice=advice,
            lasting=status in (400, 401, 403, 404, 405, 422),
        )

    def _explain(self, error: Exception) -> ConnectionFailed:
        """Return the outage for an error of the client."""
        if isinstance(error, httpx.ConnectError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
            found = _REFUSED_CERTIFICATE.search(str(error))
            reason = f": {found[1]}" if found else ""
            return ConnectionFailed(
                f"the server's certificate is not trusted{reason}",
                where=self.where,
                advice=_advise_on_certificate(reason),
                lasting=True,
            )
        if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
            return ConnectionFailed(
                "the server cannot be reached", where=self.where, advice="is it running there?"
            )
        if isinstance(error, httpx.ReadTimeout):
            return ConnectionFailed(
                f"the server sent nothing for {self._settings.silence:g} s", where=self.where
            )
        # The text of other errors may quote what was sent.
        return ConnectionFailed(f"the stream broke ({type(error).__name__})", where=self.where)


def _advise_on_certificate(reason: str) -> str:
    """Return advice: trusting another CA does not fix an expired or mismatched certificate."""
    if "expired" in reason or "not yet valid" in reason:
        advice = "have it renewed, and look at the clock of this machine"
    elif "mismatch" in reason:
        advice = "name the server with --host (or --url) as its certificate does"
    else:
        advice = "name a PEM file with the certificate of the CA that signed it: --ca-file FILE"
    return f"{advice}; or do not check it, with --no-verify"


def _make_trust(scheme: str, settings: Settings) -> ssl.SSLContext:
    if scheme == "http" or not settings.verify:
        # Plain http needs no certificates, and loading them is the most expensive part of a client.
        return httpx.create_ssl_context(verify=False)
    if settings.ca_file is None:
        return httpx.create_ssl_context()
    try:
        return ssl.create_default_context(cafile=str(settings.ca_file))
    except (OSError, ssl.SSLError) as error:
        raise InputError(
            f"is not a file of certificates: {error.strerror or error}",
            where=str(settings.ca_file),
            advice="name a PEM file with the certificate of the CA: --ca-file FILE",
        ) from None


class ConnectionPool(httpx.AsyncBaseTransport):
    """Sockets whose cost per request does not grow with their number.

    The pool of httpx looks at every connection whenever a request begins or ends. Here each request
    takes a free transport with one connection, the last one used first, and gives it back when its
    answer is read.
    """

    def __init__(self, trust: ssl.SSLContext) -> None:
        self._trust = trust
        self._free: list[httpx.AsyncHTTPTransport] = []
        self._all: list[httpx.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        transport = self._free.pop() if self._free else self._add()
        try:
            response = await transport.handle_async_request(request)
        except BaseException:
            # A connection that broke is already closed; the transport opens another.
            self._free.append(transport)
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _PooledStream(response.stream, lambda: self._free.append(transport))
        return response

    async def aclose(self) -> None:
        for transport in self._all:
            await transport.aclose()

    def _add(self) -> httpx.AsyncHTTPTransport:
        transport = httpx.AsyncHTTPTransport(verify=self._trust)
        self._all.append(transport)
        return transport


class _PooledStream(httpx.AsyncByteStream):
    """The body of a response; closing it returns its connection to the pool, once."""

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


def encode_json(value: Any) -> bytes:
    """Return the request body; a value that JSON cannot represent is a mistake in the test file."""
    try:
        return json.dumps(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        # The values themselves may be private; their type is enough to find them.
        raise InputError(
            f"the message cannot be sent as JSON ({type(error).__name__})",
            advice="use text, numbers, booleans, null, lists and dictionaries",
        ) from None


class LineSplitter:
    """Splits a stream of bytes into lines, in linear time."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that this piece completes."""
        *complete, rest = chunk.split(b"\n")
        for line in complete:
            self._pending.append(line)
            yield self.take_rest()
        if rest:
            self._pending.append(rest)
            self._size += len(rest)
            if self._size > _LONGEST_LINE:
                raise ConnectionFailed("the stream has a line of more than 16 MB")

    def take_rest(self) -> bytes:
        """Return the bytes since the last line; at the end of a stream, its last line."""
        line = b"".join(self._pending)
        self._pending.clear()
        self._size = 0
        return line


async def read_bytes(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the body of a response in pieces, up to the maximum answer size."""
    try:
        async for chunk in read_body(response, _LONGEST_ANSWER):
            note_first_byte()
            yield chunk
    except BodyTooLongError:
        raise ConnectionFailed("the answer is longer than 16 MB") from None


async def read_json(response: httpx.Response) -> Any:
    """Return the parsed body of a response."""
    return parse_json(b"".join([chunk async for chunk in read_bytes(response)]))


def parse_json(text: bytes) -> Any:
    """Return the parsed text from a server."""
    if has_too_many_parts(text):
        raise ConnectionFailed(f"the answer has more than {MOST_PARTS:,} parts")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ConnectionFailed("the answer is not JSON") from None


async def read_events(response: httpx.Response) -> AsyncIterator[Any]:
    """Yield the JSON of every server-sent event of a stream."""
    lines, data = LineSplitter(), list[bytes]()
    async for chunk in read_bytes(response):
        for line in lines.feed(chunk):
            if line.startswith(b"data:"):
                data.append(line.removeprefix(b"data:").strip())
            elif not line.strip() and data:
                yield parse_json(b"\n".join(data))
                data = []
    if data:
        raise ConnectionFailed("the stream ended in the middle of an event")


async def _read_refusal(response: httpx.Response) -> str:
    """Return the text of an error response; nothing if it is slow: a cut could split a secret."""
    received = bytearray()
    with suppress(TimeoutError, BodyTooLongError):
        async with asyncio.timeout(_PATIENCE):
            async for chunk in read_body(response, _LONGEST_REFUSAL):
                received += chunk
            return received.decode(errors="replace")
    return ""


async def begin(work: Coroutine[Any, Any, T]) -> T:
    """Start a conversation; a server that takes too long for it is an outage."""
    try:
        async with asyncio.timeout(_BEGINNING) as limit:
            return await work
    except TimeoutError:
        if not limit.expired():
            raise
        raise ConnectionFailed(
            f"the server did not begin a conversation within {_BEGINNING:g} s"
        ) from None


class Farewells:
    """Tells servers in the background that conversations are over."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, farewell: Coroutine[Any, Any, None]) -> None:
        """Send it in the background; the result does not matter."""
        task = asyncio.create_task(_send_farewell(farewell))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait a moment for requests still being sent."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_FAREWELL)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)


async def _send_farewell(farewell: Coroutine[Any, Any, None]) -> None:
    with suppress(ConnectionFailed, TimeoutError):
        async with asyncio.timeout(_FAREWELL):
            await farewell
