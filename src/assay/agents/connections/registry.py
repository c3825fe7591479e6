"""Registry of connections by name: what each can send and return, and how it is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

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
    # Whether an interaction requires a text.
    needs_text: bool = False
    # Whether metadata goes as headers of HTTP: then its values are texts and numbers.
    sends_headers: bool = False
    # Whether a server gets the API key of the environment.
    sends_key: bool = False
    # Whether no server is asked: what is sent stays on this machine.
    is_local: bool = False
    # Whether a file has to describe the server's API in `request` and `answer`.
    needs_template: bool = False


def _import_later(module: str, name: str) -> Callable[[Settings], Connection]:
    """Return an opener that imports its module when a connection is opened."""

    def open_it(settings: Settings) -> Connection:
        opener = getattr(import_module(f"assay.agents.connections.{module}"), name)
        connection: Connection = opener(settings)
        return connection

    return open_it


_TEXT_AND_STRUCTURE: frozenset[Part] = frozenset({"text", "structure"})

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "direct",
            "the neuro-san library in this process, no server",
            _import_later("neuro_san", "DirectConnection"),
            is_local=True,
        ),
        Kind(
            "http",
            "a neuro-san server",
            _import_later("neuro_san", "HttpConnection"),
            sends_headers=True,
        ),
        Kind(
            "https",
            "a neuro-san server over TLS",
            _import_later("neuro_san", "HttpsConnection"),
            sends_headers=True,
        ),
        Kind(
            "openai",
            "any OpenAI-compatible chat endpoint",
            _import_later("openai", "OpenAIConnection"),
            returns=_TEXT_AND_STRUCTURE,
            takes_sly_data=False,
            needs_text=True,
            sends_headers=True,
            sends_key=True,
        ),
        Kind(
            "responses",
            "a server of OpenAI's Responses API",
            _import_later("openai", "ResponsesConnection"),
            returns=_TEXT_AND_STRUCTURE,
            takes_sly_data=False,
            needs_text=True,
            sends_headers=True,
            sends_key=True,
        ),
        Kind(
            "mcp",
            "a tool of an MCP server",
            _import_later("mcp", "McpConnection"),
            returns=_TEXT_AND_STRUCTURE,
            needs_text=True,
            sends_headers=True,
        ),
        Kind(
            "a2a",
            "an A2A agent",
            _import_later("a2a", "A2AConnection"),
            returns=_TEXT_AND_STRUCTURE,
            takes_sly_data=False,
            needs_text=True,
            sends_headers=True,
        ),
        Kind(
            "adk",
            "an agent behind google-adk's API server",
            _import_later("adk", "AdkServerConnection"),
            needs_text=True,
            sends_headers=True,
        ),
        Kind(
            "http-template",
            "an HTTP API that the file describes",
            _import_later("http_template", "TemplateConnection"),
            sends_headers=True,
            needs_template=True,
        ),
        Kind(
            "python",
            "a function or an agent of a library in this process",
            _import_later("python", "open_python"),
        ),
        Kind(
            "command",
            "a program that speaks JSON lines",
            _import_later("command", "CommandConnection"),
            is_local=True,
        ),
    )
}


def register(kind: Kind) -> None:
    """Register your own connection under its name."""
    if kind.name in KINDS:
        raise InputError(f"there is a connection {kind.name!r} already")
    KINDS[kind.name] = kind


def get_kind(name: str) -> Kind:
    """Return a kind by name: built in, or from an installed package."""
    kind = KINDS.get(name) or _find_plugin(name)
    if kind is None:
        raise InputError(f"there is no connection {name!r}", advice=nearest(name, KINDS))
    return kind


def _find_plugin(name: str) -> Kind | None:
    # Searched only for an unknown name, because it means reading many small files.
    kind = plugins.find("connections", name)
    if kind is None:
        return None
    if not isinstance(kind, Kind) or kind.name != name:
        raise InputError(f"what a plugin adds is not a connection named {name!r}")
    register(kind)
    return kind


def open_connection(name: str, settings: Settings) -> Connection:
    """Return a connection that is ready for sessions; the caller closes it."""
    return get_kind(name).opener(settings)
