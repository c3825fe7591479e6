"""Messages between two processes over a stream socket: two lengths, a text, and bytes.

Uses the standard library only, supports Python 3.9 and later, and imports nothing from Assay: the
sandbox loads this file by its path. Lengths come first, so that an oversized message is refused
before it is read, no search for its end is needed, and descriptors can follow it at an exact
position.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

HEADER = struct.Struct("=QQ")
PIECE = 1 << 20
LARGEST = 1 << 32


class Codec(NamedTuple):
    """Encodes and decodes the text of a message."""

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


JSON = Codec(lambda message: json.dumps(message).encode(), json.loads)


def pack(text: bytes, data: bytes = b"") -> bytes:
    """Return the wire format of a message."""
    return HEADER.pack(len(text), len(data)) + text + data


def unpack_lengths(header: bytes, largest: int) -> tuple[int, int]:
    """Return the lengths of text and data; raise ValueError if their sum is too large."""
    text, data = HEADER.unpack(header)
    if text + data > largest:
        raise ValueError(f"a message of {text + data} bytes, where {largest} are the most")
    return text, data


def decode(codec: Codec, text: bytes) -> Any:
    """Return the decoded value of a text; raise ValueError if it is invalid."""
    try:
        return codec.decode(text)
    except RecursionError:
        raise ValueError("a message that is nested too deep") from None


class Channel:
    """One end of a line, in calls that wait; the side of a child process.

    `receive` raises EOFError when the other end is gone.
    """

    def __init__(self, descriptor: int, codec: Codec = JSON, largest: int = LARGEST) -> None:
        self.socket = socket.socket(fileno=descriptor)
        # Children of this process must not keep the channel open.
        self.socket.set_inheritable(False)
        self._codec, self._largest = codec, largest

    def fileno(self) -> int:
        return self.socket.fileno()

    def send(self, message: Any, data: bytes = b"") -> None:
        self.socket.sendall(pack(self._codec.encode(message), data))

    def receive(self) -> tuple[Any, bytes]:
        text, data = unpack_lengths(self._read(HEADER.size), self._largest)
        return decode(self._codec, self._read(text)), self._read(data)

    def send_descriptors(self, descriptors: Sequence[int]) -> None:
        """Send open files; the other end has to receive them next."""
        socket.send_fds(self.socket, [b"!"], list(descriptors))

    def receive_descriptors(self, most: int) -> list[int]:
        """Return open files of the other end, which sends them next."""
        message, descriptors, _, _ = socket.recv_fds(self.socket, 1, most)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # recv_fds ignores the flag for that
        if not message:
            raise EOFError
        return descriptors

    def _read(self, count: int) -> bytes:
        # In pieces, so that a length alone allocates no memory.
        parts = []
        while count:
            part = self.socket.recv(min(count, PIECE))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
