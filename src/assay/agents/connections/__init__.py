"""Connections to agents. To add one, write a small class and register it in `registry`."""

from assay.agents.connections.exchange import Exchange, open_exchange
from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    Connection,
    ConnectionFailed,
    Message,
    Part,
    Session,
    Settings,
    TooSlow,
    describe_failure,
    get_credentials,
)
from assay.agents.connections.registry import KINDS, Kind, get_kind, open_connection, register

__all__ = [
    "KINDS",
    "AgentFailed",
    "Answer",
    "Connection",
    "ConnectionFailed",
    "Exchange",
    "Kind",
    "Message",
    "Part",
    "Session",
    "Settings",
    "TooSlow",
    "describe_failure",
    "get_credentials",
    "get_kind",
    "open_connection",
    "open_exchange",
    "register",
]
