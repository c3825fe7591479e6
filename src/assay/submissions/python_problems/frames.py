"""Messages between Assay and a problem's worker: a length, then one value as strict JSON text."""

from __future__ import annotations

import socket
import struct
from typing import Any

from assay.model import values

HEADER = struct.Struct("!Q")


def packed(message: Any) -> bytes:
    """A message as it goes over the line; raises TypeError for what is neither JSON nor bytes."""
    body = values.encode_bytes(message)
    return HEADER.pack(len(body)) + body


def receive(connection: socket.socket) -> Any:
    """The next message; None when the other end is gone."""
    header = _exactly(connection, HEADER.size)
    if header is None:
        return None
    body = _exactly(connection, HEADER.unpack(header)[0])
    return None if body is None else values.decode(body)


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    received = bytearray(size)
    rest = memoryview(received)
    while rest:
        count = connection.recv_into(rest)
        if count == 0:
            return None
        rest = rest[count:]
    return bytes(received)
