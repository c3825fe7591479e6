"""The one pooled HTTP client of a connection, and what its errors mean."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import ssl
from collections.abc import AsyncIterator, Container, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from assay.agents.connections.frames import Lines
from assay.agents.connections.protocol import ConnectionFailed, Message, Settings
from assay.documents import MEGABYTE, MOST_PARTS, has_too_many_parts
from assay.errors import InputError
from assay.http_client import refuse_wrong_proxy

if TYPE_CHECKING:
    import httpx

_LONGEST_ANSWER = 16 * MEGABYTE
# How much of a refusal is read, and for how long: one that is not whole is not quoted.
_LONGEST_REFUSAL = 1024 * 1024
_PATIENCE = 2.0
# Reaching the server must end before the limit does, so that the two can be told apart.
_RESERVE = 0.05
_REFUSED_CERTIFICATE = re.compile(r"verify failed: (.*?)(?: \(_ssl|$)")


def address(scheme: str, host: str, port: int) -> str:
    """scheme://host:port of a server that a person named."""
    is_name = bool(host) and not any(letter in host for letter in "/?#@ ")
    if not is_name or (":" in host and not _is_ipv6(host.strip("[]"))):
        # A run keeps the host, and a message shows it: neither may hold a password.
        named = "what is given" if "@" in host or "?" in host else repr(host)
        raise InputError(
            f"{named} is not the name of a host",
            advice="leave out scheme, user, port and path; the port is given by itself, --port",
        )
    if not 0 < port < 65536:
        raise InputError(f"{port} is not a port", advice="name one from 1 to 65535")
    return f"{scheme}://{f'[{host}]' if ':' in host and host[0] != '[' else host}:{port}"


def plain_url(url: str) -> str:
    """An address that is one, and that carries no secret into a run, which keeps it."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_open = parts.username is None and not any(letter in url for letter in "?#")
    except ValueError:
        is_address, is_open = False, "@" not in url
    if not is_open or (not is_address and "@" in url):
        raise InputError(
            "the address of an agent must be plain: no user, password, query or fragment",
            advice="put the key into the environment variable OPENAI_API_KEY",
        )
    if not is_address:
        raise InputError(
            f"{url!r} is not an http or https address", advice="write http://localhost:8000/v1"
        )
    return url


def find_root(settings: Settings, path: str = "", port: int = 8080) -> str:
    """Return the address that the user gave, or else that of a server on this machine."""
    if settings.url:
        return plain_url(settings.url).rstrip("/")
    return address("http", settings.host or "localhost", settings.port or port) + path


class Web:
    """Posts JSON to one address and streams what comes back."""

    def __init__(self, url: str, headers: Mapping[str, str], settings: Settings) -> None:
        import httpx

        from assay.agents.connections.lanes import Lanes
        from assay.http_client import ACCEPTED

        self._url = httpx.URL(url)
        if self._url.scheme not in ("http", "https") or not self._url.host:
            raise InputError(f"{url!r} is not an http or https address")
        self._settings = settings
        trust = _trust(self._url.scheme, settings)
        # A proxy of the environment is for the world outside, not for this machine.
        is_proxied = not is_local(self._url.host) and bool(getproxies())
        with refuse_wrong_proxy():
            self._client = httpx.AsyncClient(
                headers={
                    "Accept-Encoding": ACCEPTED,
                    **headers,
                    "Content-Type": "application/json",
                },
                verify=trust,
                transport=None if is_proxied else Lanes(trust),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=None),
                trust_env=is_proxied,
                # What a server remembers of one sample must not reach the next.
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            )

    @property
    def where(self) -> str:
        """The address, as far as it may be shown."""
        return f"{self._url.scheme}://{self._url.netloc.decode()}{self._url.path}"

    def post(self, body: bytes, message: Message) -> AbstractAsyncContextManager[httpx.Response]:
        """The reply, from its first byte on; whatever breaks until its last is an outage."""
        return self.send("POST", "", body, limit=message.timeout)

    @asynccontextmanager
    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        limit: float | None = None,
        headers: Mapping[str, str] | None = None,
        accepted: Container[int] = (200,),
    ) -> AsyncIterator[httpx.Response]:
        """Send a request below the address and yield the reply from its first byte on.

        The path is appended to the address as it is, so that it never leads to another server.
        """
        import httpx

        try:
            url = httpx.URL(str(self._url).rstrip("/") + path) if path else self._url
        except httpx.InvalidURL:
            # Paths are made of ids and addresses that servers give.
            raise ConnectionFailed(
                "the server gave an address that is none", where=self.where
            ) from None
        if (url.scheme, url.netloc) != (self._url.scheme, self._url.netloc):
            raise InputError(f"{path!r} leads away from {self._url.netloc.decode()}")
        try:
            request = self._client.build_request(
                method, url, content=body, headers=headers, timeout=self._patience(limit)
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
            raise self._outage(error) from None

    async def close(self) -> None:
        await self._client.aclose()

    def _patience(self, limit: float | None) -> httpx.Timeout:
        import httpx

        connect = self._settings.connect_timeout
        if limit is None:
            return httpx.Timeout(self._settings.silence, connect=connect)
        return httpx.Timeout(None, connect=min(connect, max(limit - _RESERVE, limit / 2)))

    async def _refuse(self, response: httpx.Response) -> None:
        """Say what a status other than 200 means."""
        status = response.status_code
        said = "" if status == 404 else await _refusal(response)
        advice = {
            401: "the server wants credentials",
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

    def _outage(self, error: Exception) -> ConnectionFailed:
        import httpx

        if isinstance(error, httpx.ConnectError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
            reason = _REFUSED_CERTIFICATE.search(str(error))
            told = f": {reason[1]}" if reason else ""
            return ConnectionFailed(
                f"the server's certificate is not trusted{told}",
                where=self.where,
                advice=_certificate_advice(told),
                lasting=True,
            )
        if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)):
            return ConnectionFailed(
                "the server cannot be reached", where=self.where, advice="is it running there?"
            )
        if isinstance(error, httpx.ReadTimeout):
            return ConnectionFailed(
                f"the server said nothing for {self._settings.silence:g} s", where=self.where
            )
        # The text of other errors may quote what was sent.
        return ConnectionFailed(f"the stream broke ({type(error).__name__})", where=self.where)


def _certificate_advice(told: str) -> str:
    """Say what helps: trusting another CA does not make a certificate younger, or another's."""
    if "expired" in told or "not yet valid" in told:
        advice = "have it renewed, and look at the clock of this machine"
    elif "mismatch" in told:
        advice = "name the server with --host (or --url) as its certificate does"
    else:
        advice = "name a PEM file with the certificate of the CA that signed it: --ca-file FILE"
    return f"{advice}; or do not check it, with --no-verify"


def encode_json(value: Any) -> bytes:
    """Return what is sent; a value that JSON has no place for is a mistake in the test file."""
    try:
        return json.dumps(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        # The values themselves may be private; their type is enough to find them.
        raise InputError(
            f"the message cannot be sent as JSON ({type(error).__name__})",
            advice="use text, numbers, booleans, null, lists and dictionaries",
        ) from None


async def read_bytes(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the body of a reply, piece by piece, up to the longest answer that is taken."""
    from assay.http_client import BodyTooLongError, read_body

    try:
        async for chunk in read_body(response, _LONGEST_ANSWER):
            yield chunk
    except BodyTooLongError:
        raise ConnectionFailed("the answer is longer than 16 MB") from None


async def read_json(response: httpx.Response) -> Any:
    """Return what the whole body of a reply says."""
    return parse_json(b"".join([chunk async for chunk in read_bytes(response)]))


def parse_json(text: str | bytes) -> Any:
    """Return what a text that a server sent says."""
    if has_too_many_parts(text if isinstance(text, bytes) else text.encode(errors="replace")):
        raise ConnectionFailed(f"the answer has more than {MOST_PARTS:,} parts")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ConnectionFailed("the answer is not JSON") from None


async def read_events(response: httpx.Response) -> AsyncIterator[Any]:
    """Yield the JSON of every server-sent event of a stream."""
    lines, data = Lines(), list[bytes]()
    async for chunk in read_bytes(response):
        for line in lines.feed(chunk):
            if line.startswith(b"data:"):
                data.append(line.removeprefix(b"data:").strip())
            elif not line.strip() and data:
                yield parse_json(b"\n".join(data))
                data = []
    if data:
        raise ConnectionFailed("the stream ended in the middle of an event")


async def _refusal(response: httpx.Response) -> str:
    """What a refusal says; nothing if it does not end soon, as its end might cut a secret."""
    from assay.http_client import BodyTooLongError, read_body

    received = bytearray()
    with suppress(TimeoutError, BodyTooLongError):
        async with asyncio.timeout(_PATIENCE):
            async for chunk in read_body(response, _LONGEST_REFUSAL):
                received += chunk
            return received.decode(errors="replace")
    return ""


def _trust(scheme: str, settings: Settings) -> ssl.SSLContext:
    import httpx

    if scheme == "http" or not settings.verify:
        # Plain http needs no certificates, and loading them is the dearest part of a client.
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


def _is_ipv6(host: str) -> bool:
    try:
        # A zone may follow the address.
        return ipaddress.ip_address(host.partition("%")[0]).version == 6
    except ValueError:
        return False


def is_local(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
