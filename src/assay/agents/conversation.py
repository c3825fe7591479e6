"""Holds the conversation of one sample: its interactions in order, over one session.

The context and the private data (sly_data) that an answer brings go into the next interaction;
what that interaction sends itself has the last word. Everything is copied on its way, so that no
sample, and no agent in this process, can change what another one sees.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from assay.agents.connections.outages import outage_in
from assay.agents.connections.protocol import (
    AgentFailed,
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
    FAILED = "failed"
    """The agent failed by its own doing instead of answering."""
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
    failure: TooSlow | AgentFailed | ConnectionFailed | None = None
    seconds: float = 0.0
    planned: int = 1
    """How many interactions it would have had."""

    @property
    def lasting(self) -> bool:
        """Whether trying again is of no use: an unknown agent, a refused certificate."""
        return isinstance(self.failure, ConnectionFailed) and self.failure.lasting

    @property
    def answers(self) -> list[Answer]:
        """All that came back, also an answer that only reports a fault."""
        heard = [reply.answer for reply in self.replies]
        last = self.failure.answer if isinstance(self.failure, ConnectionFailed) else None
        return heard if last is None else [*heard, last]

    @property
    def reason(self) -> str | None:
        """Why it ended, as it was said: secrets may be quoted in it."""
        return self.told(str) if self.failure is not None else None

    def told(self, conceal: Callable[[str], str]) -> str:
        """Why it ended before its end, without what is concealed."""
        if self.failure is None:
            return ""
        if isinstance(self.failure, AgentFailed | ConnectionFailed):
            told = self.failure.told(conceal)
        else:
            told = conceal(self.failure.what)
        place = f"interaction {len(self.replies) + 1} of {self.planned}: "
        return place + told if self.planned > 1 else told


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

    def ended(
        ending: Ending, failure: TooSlow | AgentFailed | ConnectionFailed | None = None
    ) -> Conversation:
        seconds = time.perf_counter() - started
        return Conversation(tuple(replies), ending, failure, seconds, len(interactions))

    try:
        session = await connection.session()
        try:
            await _hold(session, interactions, patterns, replies)
        finally:
            await session.close()
    except TooSlow as slow:
        return ended(Ending.TOO_SLOW, slow)
    except AgentFailed as failed:
        return ended(Ending.FAILED, failed)
    except ConnectionFailed as failed:
        return ended(Ending.OUTAGE, failed)
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
            raise outage
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


def _copied(value: Any) -> Any:
    return copy.deepcopy(value) if value else value
