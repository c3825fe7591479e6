"""Every connection by its name: what it can send and give back, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from assay import plugins
from assay.agents.connections.protocol import ALL_PARTS, Connection, Part, Settings
from assay.errors import InputError, nearest


@dataclass(frozen=True)
class Kind:
    """One kind of connection."""

    name: str
    summary: str
    opener: Callable[[Settings], Connection]
    # What an answer can hold; a test on anything else could never pass.
    returns: frozenset[Part] = ALL_PARTS
    # Whether private data can be sent at all.
    takes_sly_data: bool = True
    # Whether an interaction without a text makes no sense there.
    needs_text: bool = False
    # Whether metadata goes as headers of HTTP: then its values are texts and numbers.
    sends_headers: bool = False
    # Whether a file has to describe the server's API in `request` and `answer`.
    needs_template: bool = False


def _http(settings: Settings) -> Connection:
    from assay.agents.connections.http import HttpConnection

    return HttpConnection("http", settings)


def _https(settings: Settings) -> Connection:
    from assay.agents.connections.http import HttpConnection

    return HttpConnection("https", settings)


def _direct(settings: Settings) -> Connection:
    from assay.agents.connections.direct import DirectConnection

    return DirectConnection(settings)


def _openai(settings: Settings) -> Connection:
    from assay.agents.connections.openai import OpenAIConnection

    return OpenAIConnection(settings)


def _python(settings: Settings) -> Connection:
    from assay.agents.connections.python import open_python

    return open_python(settings)


def _mcp(settings: Settings) -> Connection:
    from assay.agents.connections.mcp import McpConnection

    return McpConnection(settings)


def _a2a(settings: Settings) -> Connection:
    from assay.agents.connections.a2a import A2AConnection

    return A2AConnection(settings)


def _responses(settings: Settings) -> Connection:
    from assay.agents.connections.responses import ResponsesConnection

    return ResponsesConnection(settings)


def _adk(settings: Settings) -> Connection:
    from assay.agents.connections.adk_server import AdkServerConnection

    return AdkServerConnection(settings)


def _http_template(settings: Settings) -> Connection:
    from assay.agents.connections.http_template import TemplateConnection

    return TemplateConnection(settings)


def _command(settings: Settings) -> Connection:
    from assay.agents.connections.command import CommandConnection

    return CommandConnection(settings)


_TEXT_AND_STRUCTURE: frozenset[Part] = frozenset({"text", "structure"})

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("direct", "the neuro-san library in this process, no server", _direct),
        Kind("http", "a neuro-san server", _http, sends_headers=True),
        Kind("https", "a neuro-san server over TLS", _https, sends_headers=True),
        Kind(
            "openai",
            "any OpenAI-compatible chat endpoint",
            _openai,
            returns=_TEXT_AND_STRUCTURE,
            takes_sly_data=False,
            needs_text=True,
            sends_headers=True,
        ),
        Kind(
            "responses",
            "a server of OpenAI's Responses API",
            _responses,
            returns=_TEXT_AND_STRUCTURE,
            takes_sly_data=False,
            needs_text=True,
            sends_headers=True,
        ),
        Kind(
            "mcp",
            "a tool of an MCP server",
            _mcp,
            returns=_TEXT_AND_STRUCTURE,
            needs_text=True,
            sends_headers=True,
        ),
        Kind(
            "a2a",
            "an A2A agent",
            _a2a,
            returns=_TEXT_AND_STRUCTURE,
            takes_sly_data=False,
            needs_text=True,
            sends_headers=True,
        ),
        Kind(
            "adk",
            "an agent behind google-adk's API server",
            _adk,
            needs_text=True,
            sends_headers=True,
        ),
        Kind(
            "http-template",
            "an HTTP API that the file describes",
            _http_template,
            sends_headers=True,
            needs_template=True,
        ),
        Kind("python", "a function or an agent of a library in this process", _python),
        Kind("command", "a program that speaks JSON lines", _command),
    )
}


def register(kind: Kind) -> None:
    """Make a connection of your own known by its name."""
    if kind.name in KINDS:
        raise InputError(f"there is a connection {kind.name!r} already")
    KINDS[kind.name] = kind


def kind_of(name: str) -> Kind:
    """The kind of that name: one of ours, or one that an installed package offers."""
    kind = KINDS.get(name) or _installed(name)
    if kind is None:
        raise InputError(f"there is no connection {name!r}", advice=nearest(name, KINDS))
    return kind


def _installed(name: str) -> Kind | None:
    # Looked for only when a name is not known, because it means reading many small files.
    kind = plugins.find("connections", name)
    if kind is None:
        return None
    if not isinstance(kind, Kind) or kind.name != name:
        raise InputError(f"what a plugin adds is not a connection named {name!r}")
    register(kind)
    return kind


def open_connection(name: str, settings: Settings) -> Connection:
    """A connection that is ready for sessions; the caller closes it."""
    return kind_of(name).opener(settings)
