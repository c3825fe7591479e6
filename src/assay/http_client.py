"""Helpers shared by all HTTP clients: size-limited bodies and validated proxy settings."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import httpx

from assay.errors import InputError

ACCEPTED = "gzip, deflate"
"""For the header Accept-Encoding; what other encodings unpack to cannot be limited."""
_PIECE = 1 << 18


class BodyTooLongError(Exception):
    """The body exceeds its limit; nothing of it was kept."""


async def read_body(response: httpx.Response, limit: int) -> AsyncIterator[bytes]:
    """Yield the body of a streamed answer in pieces; raise httpx.DecodingError if it is damaged.

    Not with httpx's own decoders, which unpack whatever has arrived at once, in several layers.
    """
    decoder = _decoder(response)
    received = unpacked = 0
    async for raw in response.aiter_raw():
        received += len(raw)
        for piece in (raw,) if decoder is None else _unpack(decoder, raw):
            unpacked += len(piece)
            if max(received, unpacked) > limit:
                raise BodyTooLongError
            yield piece
        if received > limit:
            raise BodyTooLongError
    if decoder is not None and received and not decoder.eof:
        raise httpx.DecodingError("the compressed answer is cut off")


def _decoder(response: httpx.Response) -> zlib._Decompress | None:
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return None
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise httpx.DecodingError("the answer has an encoding that was not asked for")
    # Gzip and zlib, told apart by their first bytes.
    return zlib.decompressobj(zlib.MAX_WBITS | 32)


def _unpack(decoder: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    try:
        while data and not decoder.eof:
            if piece := decoder.decompress(data, _PIECE):
                yield piece
            data = decoder.unconsumed_tail
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from None


@contextmanager
def refuse_wrong_proxy() -> Iterator[None]:
    """Raise an InputError if httpx cannot parse the proxy in a variable.

    The value is not shown: it may hold a password.
    """
    try:
        yield
    except (httpx.InvalidURL, ValueError):
        raise InputError(
            "a proxy that the environment names (HTTPS_PROXY and so on) is not an address",
            advice="correct the variable, or unset it",
        ) from None
