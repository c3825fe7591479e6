"""Validation of server addresses and request headers, before anything is sent."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from assay.agents.connections.protocol import Settings
from assay.errors import InputError

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")
# These headers delimit the message; setting them from metadata would break the protocol.
_RESERVED_HEADERS = frozenset(
    {"connection", "content-length", "host", "te", "trailer", "transfer-encoding"}
)


def make_address(scheme: str, host: str, port: int) -> str:
    """Return scheme://host:port of a server named by a person."""
    is_name = bool(host) and not any(letter in host for letter in "/?#@ ")
    if not is_name or (":" in host and not _is_ipv6(host.strip("[]"))):
        # A run keeps the host, and a message shows it: neither may hold a password.
        named = "what is given" if "@" in host or "?" in host else repr(host)
        raise InputError(
            f"{named} is not the name of a host",
            advice="leave out scheme, user, port and path; pass the port with --port",
        )
    if not 0 < port < 65536:
        raise InputError(f"{port} is not a port", advice="name one from 1 to 65535")
    return f"{scheme}://{f'[{host}]' if ':' in host and host[0] != '[' else host}:{port}"


def check_url(url: str) -> str:
    """Return a valid address without secrets, because a run stores it."""
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
    """Return the address given by the user, or else that of a local server."""
    if settings.url:
        return check_url(settings.url).rstrip("/")
    return make_address("http", settings.host or "localhost", settings.port or port) + path


def is_local(host: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _is_ipv6(host: str) -> bool:
    try:
        # A zone may follow the address.
        return ipaddress.ip_address(host.partition("%")[0]).version == 6
    except ValueError:
        return False


def make_headers(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the HTTP headers for metadata; errors show names, never values."""
    return {
        _check_header_name(name): _format_header(name, value)
        for name, value in metadata.items()
        if value is not None
    }


def _check_header_name(name: str) -> str:
    if not _HEADER_NAME.fullmatch(name):
        raise InputError(
            f"metadata key {name!r} cannot be the name of an HTTP header",
            advice="use letters, digits and dashes",
        )
    if name.lower() in _RESERVED_HEADERS:
        raise InputError(
            f"metadata key {name!r} is a header that the connection sets itself",
            advice="remove it from metadata",
        )
    return name


def _format_header(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)) and _HEADER_VALUE.fullmatch(str(value)):
        # Spaces around a value mean nothing in HTTP, and a client may refuse them.
        return str(value).strip(" \t")
    raise InputError(
        f"the value of metadata key {name!r} cannot be an HTTP header",
        advice="use one line of text or a number",
    )
