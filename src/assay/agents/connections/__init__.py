"""The ways to talk to an agent; a new one is a small class and a line in the registry."""

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
    credentials_of,
)
from assay.agents.connections.registry import KINDS, Kind, kind_of, open_connection, register

__all__ = [
    "KINDS",
    "AgentFailed",
    "Answer",
    "Connection",
    "ConnectionFailed",
    "Kind",
    "Message",
    "Part",
    "Session",
    "Settings",
    "TooSlow",
    "credentials_of",
    "kind_of",
    "open_connection",
    "register",
]
