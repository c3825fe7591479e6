"""Who gets an answer from the viewer: the browser that has opened its first address, nobody else.

Other users of the machine can reach the port, and any web page can make a browser send requests
to it. So every request needs the secret cookie, the viewer's own address in `Host`, and no other
origin.
"""

from __future__ import annotations

import hmac
import html
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias
from urllib.parse import parse_qs

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

LONGEST_PATH = 1_000
LONGEST_QUERY = 4_000
LONGEST_HEADERS = 16_384
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
# Letters, digits and little else: an address is looked up, never decoded twice or joined to a path.
_PATH = re.compile(r"/[A-Za-z0-9._~/-]*")


class Guard:
    """An ASGI application around another: it answers every request that may not pass itself."""

    def __init__(self, app: App, *, port: int, token: str) -> None:
        self._app = app
        self._host = f"127.0.0.1:{port}"
        self._token = token
        # Browsers send cookies to every port of a host: each viewer needs a name of its own.
        self._cookie = f"assay-view-{port}"

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        headers = list(scope["headers"])
        if (refusal := self._refuse(scope, headers)) is not None:
            await _answer(send, *refusal)
        elif self._has_cookie(headers):
            await self._app(scope, receive, _with_headers(send))
        elif self._has_token(scope):
            await self._let_in(scope, send)
        else:
            await _answer(send, 403, "Open the address that `assay view` has printed.")

    def _refuse(self, scope: Message, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return the answer to a request that nobody may make, with a cookie or without."""
        if sum(len(name) + len(value) for name, value in headers) > LONGEST_HEADERS:
            return 431, "The headers are too long."
        if _values(headers, b"host") != [self._host]:
            return 421, "This server is not the one you have asked for."
        if any(origin != f"http://{self._host}" for origin in _values(headers, b"origin")):
            return 403, "Other pages get nothing from here."
        # A page of another port sends the cookie too, and only this tells them apart.
        is_elsewhere = bool({"same-site", "cross-site"} & set(_values(headers, b"sec-fetch-site")))
        if is_elsewhere and not (_is_navigation(headers) and self._has_token(scope)):
            return 403, "Other pages get nothing from here."
        if scope["method"] not in ("GET", "HEAD"):
            return 405, "Nothing here can be changed."
        raw = scope.get("raw_path") or b""
        if len(raw) > LONGEST_PATH or len(scope["query_string"]) > LONGEST_QUERY:
            return 414, "The address is too long."
        if not _PATH.fullmatch(raw.decode("latin-1")) or b"/." in raw:
            return 404, "There is no such page."
        return None

    def _has_cookie(self, headers: list[tuple[bytes, bytes]]) -> bool:
        cookies = (one.strip() for line in _values(headers, b"cookie") for one in line.split(";"))
        return any(
            hmac.compare_digest(one.encode("latin-1"), f"{self._cookie}={self._token}".encode())
            for one in cookies
        )

    def _has_token(self, scope: Message) -> bool:
        try:
            given = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=20)
        except ValueError:
            return False
        token = given.get("token", [""])[0]
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())

    async def _let_in(self, scope: Message, send: Send) -> None:
        """Give the cookie, and lead on to the address without the token.

        A page that leads on, not a redirect: after a click on a link of another site the browser
        would follow a redirect without the cookie.
        """
        path = html.escape(scope["path"])
        text = (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Assay</title>'
            f'<meta http-equiv="refresh" content="0; url={path}"><a href="{path}">Go on</a></html>'
        )
        cookie = f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
        more = [(b"set-cookie", cookie.encode())]
        await _answer(send, 200, text, kind="text/html; charset=utf-8", more=more)


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def _is_navigation(headers: list[tuple[bytes, bytes]]) -> bool:
    return _values(headers, b"sec-fetch-mode") == ["navigate"] and _values(
        headers, b"sec-fetch-dest"
    ) == ["document"]


async def _answer(
    send: Send,
    status: int,
    text: str,
    *,
    kind: str = "text/plain; charset=utf-8",
    more: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    body = text.encode()
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        *more,
    ]
    await _with_headers(send)({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    """Add the headers that every answer has."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), *HEADERS]
        await send(message)

    return send_with_headers
