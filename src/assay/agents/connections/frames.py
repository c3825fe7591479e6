"""Reads the stream of a neuro-san agent: which of its messages is the answer, and the context."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from assay.agents.connections.outages import is_retry
from assay.agents.connections.protocol import Answer, ConnectionFailed, Message
from assay.documents import MEGABYTE, MOST_PARTS, has_too_many_parts

# Types come as words over HTTP and as numbers from in-process sessions.
_AI = ("AI", 4)
_FRAMEWORK = ("AGENT_FRAMEWORK", 101)
_MISSHAPEN = "the stream has a message of the wrong shape"
_LONGEST_LINE = 16 * MEGABYTE


def request_for(message: Message) -> dict[str, Any]:
    """The request of one interaction, with only the parts that say something.

    A text that is absent is null, as neuro-san's own driver sends it.
    """
    request: dict[str, Any] = {"user_message": {"type": "HUMAN", "text": message.text}}
    if message.sly_data:
        request["sly_data"] = message.sly_data
    if message.chat_context:
        request["chat_context"] = message.chat_context
    request["chat_filter"] = {"chat_filter_type": message.chat_filter}
    return request


class Lines:
    """Cuts a stream of bytes into lines, in time linear in what arrives."""

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The lines that this piece completes."""
        *complete, rest = chunk.split(b"\n")
        for line in complete:
            self._pending.append(line)
            yield self.rest()
        if rest:
            self._pending.append(rest)
            self._size += len(rest)
            if self._size > _LONGEST_LINE:
                raise ConnectionFailed("the stream has a line of more than 16 MB")

    def rest(self) -> bytes:
        """What came since the last line; at the end of a stream, its last line."""
        line = b"".join(self._pending)
        self._pending.clear()
        self._size = 0
        return line


def frame_in(line: bytes) -> dict[str, Any] | None:
    """The frame that a line holds; None for a line that only keeps the connection alive."""
    if not line.strip():
        return None
    if has_too_many_parts(line):
        raise ConnectionFailed(f"the stream has a line of more than {MOST_PARTS:,} parts")
    try:
        frame = json.loads(line)
    except (ValueError, RecursionError):
        raise ConnectionFailed("the stream has a line that is not JSON") from None
    if not isinstance(frame, dict):
        raise ConnectionFailed("the stream has a line that is not a message")
    return frame


class Reader:
    """Takes the frames of one reply in order; a later answer replaces an earlier one."""

    def __init__(self) -> None:
        self._answer: dict[str, Any] | None = None
        self._context: dict[str, Any] = {}

    def take(self, frame: dict[str, Any]) -> None:
        response = frame.get("response")
        # Errors that come after the status line have no other place than the stream; what stands
        # beside one, or came before it, is no answer.
        if frame.get("error") or ("error" in frame and not isinstance(response, dict)):
            raise ConnectionFailed("the server reports an error", said=_text(frame["error"]))
        if not isinstance(response, dict):
            return
        kind = response.get("type")
        if kind in _FRAMEWORK and response.get("chat_context") is not None:
            self._context = response
        if (kind in _FRAMEWORK or kind in _AI) and _is_from_the_front(response):
            self._answer = response

    def answer(self) -> Answer:
        """The answer, once the stream is complete."""
        if self._answer is None:
            raise ConnectionFailed("the stream ended without an answer")
        text, structure = self._answer.get("text"), self._answer.get("structure")
        sly_data = self._context.get("sly_data")
        if sly_data is not None and not isinstance(sly_data, dict):
            raise ConnectionFailed(_MISSHAPEN)
        if self._answer.get("type") in _FRAMEWORK and is_retry(text):
            raise ConnectionFailed("the stream ended with an attempt", said=str(text))
        return Answer(
            text=text,
            structure=structure,
            sly_data=sly_data,
            chat_context=self._context.get("chat_context"),
        )


def _text(error: Any) -> str:
    return error if isinstance(error, str) else json.dumps(error, ensure_ascii=False, default=str)


def _is_from_the_front(response: dict[str, Any]) -> bool:
    """Only the agent that was asked speaks with an origin of one step, or none."""
    text, structure, origin = (response.get(key) for key in ("text", "structure", "origin"))
    for value, kind in ((text, str), (structure, dict), (origin, list)):
        if value is not None and not isinstance(value, kind):
            raise ConnectionFailed(_MISSHAPEN)
    return len(origin or ()) <= 1 and not (text is None and structure is None)
