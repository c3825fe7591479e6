"""Holds the conversation of one sample: its interactions in order, over one session.

The context and the private data (sly_data) that an answer brings go into the next interaction;
what that interaction sends itself has the last word. Everything is copied on its way, so that no
sample, and no agent in this process, can change what another one sees.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from assay.agents.connections.outages import outage_in
from assay.agents.connections.protocol import (
    Answer,
    Connection,
    ConnectionFailed,
    Message,
    Session,
    TooSlow,
)


class Interaction(Protocol):
    """What a conversation needs to know of an interaction."""

    @property
    def text(self) -> str | None: ...

    @property
    def sly_data(self) -> dict[str, Any] | None: ...

    @property
    def chat_filter(self) -> str: ...

    @property
    def timeout(self) -> float | None: ...

    @property
    def continue_conversation(self) -> bool: ...


class Ending(StrEnum):
    """How a conversation ended."""

    COMPLETE = "complete"
    """Every interaction was answered."""
    TOO_SLOW = "too slow"
    """An answer was not complete within its limit: the agent's failure."""
    OUTAGE = "outage"
    """The agent could not be asked, or not answer: an error, nobody's failure."""


@dataclass(frozen=True)
class Reply:
    """The answer to one interaction, and how long it took."""

    answer: Answer
    seconds: float


@dataclass(frozen=True)
class Conversation:
    """The answers that came, in order, and what ended it before its end, if anything did."""

    replies: tuple[Reply, ...]
    ending: Ending = Ending.COMPLETE
    reason: str | None = None
    seconds: float = 0.0
    # Whether trying again is of no use: an unknown agent, a refused certificate.
    lasting: bool = False


@dataclass
class _Memory:
    """What one interaction leaves for the next."""

    context: Any = None
    sly_data: dict[str, Any] = field(default_factory=dict)

    def message(self, interaction: Interaction) -> Message:
        return Message(
            text=interaction.text or "",
            sly_data=_copied({**self.sly_data, **(interaction.sly_data or {})}),
            chat_context=self.context,
            chat_filter=interaction.chat_filter,
            timeout=interaction.timeout,
        )

    def keep(self, sent: dict[str, Any] | None, answer: Answer) -> None:
        self.context = answer.chat_context
        self.sly_data |= _copied({**(sent or {}), **(answer.sly_data or {})})


async def hold(
    connection: Connection,
    interactions: Sequence[Interaction],
    *,
    failure_patterns: Iterable[str] = (),
) -> Conversation:
    """One sample of a test, from its first interaction to its last or to the first that fails.

    Mistakes in what the user gave, and a library that is not installed, are raised: no other
    sample would fare better.
    """
    patterns = tuple(failure_patterns)
    replies: list[Reply] = []
    started = time.perf_counter()

    def ended(ending: Ending, reason: str | None = None, lasting: bool = False) -> Conversation:
        return Conversation(tuple(replies), ending, reason, time.perf_counter() - started, lasting)

    try:
        session = await connection.session()
        try:
            await _hold(session, interactions, patterns, replies)
        finally:
            await session.close()
    except TooSlow as slow:
        return ended(Ending.TOO_SLOW, _numbered(slow.what, replies, interactions))
    except ConnectionFailed as failed:
        reason = _numbered(str(failed), replies, interactions)
        return ended(Ending.OUTAGE, reason, failed.lasting)
    return ended(Ending.COMPLETE)


async def _hold(
    session: Session,
    interactions: Sequence[Interaction],
    patterns: tuple[str, ...],
    replies: list[Reply],
) -> None:
    memory = _Memory()
    for interaction in interactions:
        started = time.perf_counter()
        answer = await ask(session, memory.message(interaction))
        outage = outage_in(answer, patterns)
        if outage is not None:
            raise ConnectionFailed(outage)
        replies.append(Reply(answer, time.perf_counter() - started))
        if interaction.continue_conversation:
            memory.keep(interaction.sly_data, answer)
        else:
            memory = _Memory()


async def ask(session: Session, message: Message) -> Answer:
    """One answer within its limit, also from a server that is silent or endlessly slow."""
    try:
        async with asyncio.timeout(message.timeout) as limit:
            return await session.ask(message)
    except TimeoutError:
        # An agent in this process may raise the same error for reasons of its own.
        if not limit.expired():
            raise ConnectionFailed("the agent raised TimeoutError") from None
        raise TooSlow(f"no complete answer within {message.timeout:g} s") from None


def _numbered(reason: str, replies: list[Reply], interactions: Sequence[Interaction]) -> str:
    if len(interactions) == 1:
        return reason
    return f"interaction {len(replies) + 1} of {len(interactions)}: {reason}"


def _copied(value: Any) -> Any:
    return copy.deepcopy(value) if value else value
