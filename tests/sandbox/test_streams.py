"""What is kept of a program's output."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from assay.sandbox.programs import Capture, Streams


async def _captured(limit: int, chunks: list[bytes]) -> Capture:
    capture = Capture(limit)
    for chunk in chunks:
        capture.data_received(chunk)
    return capture


@given(st.integers(1, 40), st.lists(st.binary(max_size=30), max_size=20))
def test_head_and_tail_are_kept_however_it_arrives(limit: int, chunks: list[bytes]) -> None:
    whole = b"".join(chunks)
    capture = asyncio.run(_captured(limit, chunks))
    if len(whole) <= limit:
        assert capture.cut == 0
        assert capture.content() == whole
    else:
        head, tail = limit - limit // 2, limit // 2
        note = b"\n[... %d bytes cut ...]\n" % (len(whole) - limit)
        assert capture.cut == len(whole) - limit
        assert capture.content() == whole[:head] + note + whole[len(whole) - tail :]


def test_closing_twice_and_unread_input_do_no_harm() -> None:
    async def scenario() -> None:
        streams = Streams(100)
        streams.feed(b"x" * 1_000_000)
        streams.close()
        streams.close()

    asyncio.run(scenario())
