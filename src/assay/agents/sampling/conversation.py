"""Runs the conversation of one sample: its interactions in order, over one session.

The context and the private data (sly_data) that were sent or returned are passed to the next
interaction; sly_data that an interaction defines itself, even if empty, replaces them. Everything
is copied, so that no sample and no agent in this process can change what another one sees.
"""

from __future__ import annotations

import asyncio
import copy
import json
import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from assay.agents.connections.exchange import Exchange, open_exchange
from assay.agents.connections.protocol import (
    AgentFailed,
    Answer,
    Connection,
    ConnectionFailed,
    Message,
    Session,
    TooSlow,
    describe_failure,
    find_structure,
)
from assay.agents.model import Interaction
from assay.agents.sampling.stopwatch import Stopwatch

# The time limit for opening a session, which counts towards no other limit.
_SETUP_LIMIT = 300.0
# The limit for an answer if neither the interaction nor the test sets one.
LONGEST_ANSWER = 3600.0


class ConversationEnd(StrEnum):
    """How a conversation ended."""

    COMPLETE = "complete"
    """Every interaction was answered."""
    TOO_SLOW = "too slow"
    """An answer was not complete within its limit: the agent's failure."""
    FAILED = "failed"
    """The agent's own code raised an error or gave no answer: its failure."""
    OUTAGE = "outage"
    """The agent could not be asked, or not answer: an error, nobody's failure."""


@dataclass(frozen=True)
class Reply:
    """The answer to one interaction, and how long it took."""

    answer: Answer
    seconds: float


class Asked(NamedTuple):
    """A message that was sent, and what was noticed until its answer was there or missing."""

    message: Message
    exchange: Exchange


@dataclass(frozen=True)
class Conversation:
    """The answers in order, and the reason for an early end, if any."""

    replies: tuple[Reply, ...]
    ending: ConversationEnd = ConversationEnd.COMPLETE
    failure: TooSlow | AgentFailed | ConnectionFailed | None = None
    seconds: float = 0.0
    planned: int = 1
    """How many interactions it would have had."""
    asked: tuple[Asked, ...] = field(default=(), repr=False)
    """The messages, one for every reply and one for the answer that is missing."""

    @property
    def requests(self) -> int:
        """Return how often the agent was asked, the time that failed included."""
        return len(self.replies) + (self.failure is not None)

    @property
    def lasting(self) -> bool:
        """Whether a retry is useless: an unknown agent, a refused certificate."""
        return isinstance(self.failure, ConnectionFailed) and self.failure.lasting

    @property
    def answers(self) -> list[Answer]:
        """All answers, including one that only reports a fault."""
        answers = [reply.answer for reply in self.replies]
        last = getattr(self.failure, "answer", None)
        return answers if last is None else [*answers, last]

    @property
    def reason(self) -> str | None:
        """Why it ended, verbatim: it may quote secrets."""
        return self.explain(str) if self.failure is not None else None

    def explain(self, redact: Callable[[str], str]) -> str:
        """Return why it ended early, without secrets."""
        if self.failure is None:
            return ""
        place = f"interaction {len(self.replies) + 1} of {self.planned}: "
        return (place if self.planned > 1 else "") + describe_failure(self.failure, redact)


@dataclass
class _Memory:
    """State passed from one interaction to the next."""

    context: Any = None
    sly_data: dict[str, Any] = field(default_factory=dict)

    def message(self, interaction: Interaction) -> Message:
        given = interaction.sly_data
        return Message(
            text=interaction.text,
            sly_data=_copy(self.sly_data if given is None else given),
            chat_context=self.context,
            chat_filter=interaction.chat_filter,
            timeout=interaction.timeout,
        )

    def keep(self, interaction: Interaction, answer: Answer) -> None:
        sent = self.sly_data if interaction.sly_data is None else interaction.sly_data
        self.context = answer.chat_context
        self.sly_data = _copy({**sent, **(answer.sly_data or {})})


async def hold(
    connection: Connection,
    interactions: Sequence[Interaction],
    *,
    failure_patterns: Iterable[str] = (),
    watch: Stopwatch | None = None,
) -> Conversation:
    """Run one sample of a test, up to its last interaction or the first that fails.

    Only the conversation counts towards the time limit, not opening the session. Invalid user input
    and missing libraries are raised: no other sample would do better.
    """
    patterns = tuple(failure_patterns)
    watch = watch or Stopwatch()
    replies: list[Reply] = []
    asked: list[Asked] = []
    started = time.perf_counter()

    def end(
        ending: ConversationEnd, failure: TooSlow | AgentFailed | ConnectionFailed | None = None
    ) -> Conversation:
        seconds = time.perf_counter() - started
        planned = len(interactions)
        return Conversation(tuple(replies), ending, failure, seconds, planned, tuple(asked))

    try:
        session = await _session(connection)
        started = time.perf_counter()
        try:
            async with watch.talking():
                await _hold(session, interactions, patterns, replies, asked, watch)
        finally:
            await session.close()
    except TooSlow as slow:
        return end(ConversationEnd.TOO_SLOW, slow)
    except AgentFailed as failed:
        return end(ConversationEnd.FAILED, failed)
    except ConnectionFailed as failed:
        return end(ConversationEnd.OUTAGE, failed)
    return end(ConversationEnd.COMPLETE)


async def _session(connection: Connection) -> Session:
    try:
        async with asyncio.timeout(_SETUP_LIMIT):
            return await connection.session()
    except TimeoutError:
        raise ConnectionFailed("the session could not be set up in time") from None


async def _hold(
    session: Session,
    interactions: Sequence[Interaction],
    patterns: tuple[str, ...],
    replies: list[Reply],
    asked: list[Asked],
    watch: Stopwatch,
) -> None:
    memory = _Memory()
    for interaction in interactions:
        message = memory.message(interaction)
        try:
            with open_exchange() as exchange:
                # A copy is asked: an agent in this process may change what it gets.
                asked.append(Asked(replace(message, sly_data=_copy(message.sly_data)), exchange))
                answer = await ask(session, message, watch.left)
        except AgentFailed as failed:
            if (pattern := find_sign(failed.said, patterns)) is None:
                raise
            what = f"{failed.what} with {pattern!r}, which this test calls an outage"
            raise ConnectionFailed(what, said=failed.said) from None
        fault = find_fault(answer, patterns)
        if fault is not None:
            raise fault
        replies.append(Reply(answer, exchange.seconds))
        if interaction.continue_conversation:
            memory.keep(interaction, answer)
        else:
            memory = _Memory()


async def ask(session: Session, message: Message, left: float | None = None) -> Answer:
    """Return one answer within its limit, even if a server is silent or endlessly slow.

    `left` is the remaining time of the whole test. The caller enforces it; a connection must know
    it to detect an unreachable server before it ends.
    """
    limits = [limit for limit in (message.timeout, left) if limit is not None]
    limited = replace(message, timeout=min(limits, default=None))
    try:
        async with asyncio.timeout(message.timeout if limits else LONGEST_ANSWER) as limit:
            return await session.ask(limited)
    except TimeoutError:
        # A connection may raise the same error for reasons of its own.
        if not limit.expired():
            raise ConnectionFailed("the connection raised TimeoutError") from None
        if not limits:
            # The agent had no limit, so it did not exceed one.
            raise ConnectionFailed(
                f"no complete answer within {LONGEST_ANSWER:g} s",
                advice="give the interaction a timeout_in_seconds",
                lasting=True,
            ) from None
        raise TooSlow(f"no complete answer within {message.timeout:g} s") from None


def _copy(value: Any) -> Any:
    return copy.deepcopy(value) if value else value


# What neuro-san answers, with status 200, when its own model is out of reach or refuses the key.
# `Agent stopped` alone is no sign of it: agents, people among them, stop for many reasons.
_STOPPED = "Agent stopped due to exception"
_KNOWN = (
    re.compile(rf"\s*(?:Error from [^\n]{{1,500}}?: )?{_STOPPED}\b"),
    re.compile(
        r"\s*A value for the [A-Z0-9_, ]+ environment variable must be correctly set in the"
    ),
)
_OWN = "the agent itself reports an outage"
# Messages of two libraries when an agent kept calling tools until it was stopped.
_ENDLESS = re.compile(
    r"\s*(?:Error from [^\n]{1,500}?: )?Agent stopped due to "
    r"(?:exception Recursion limit of \d+ reached\b|iteration limit or time limit\.?\s*\Z)"
)


def find_fault(
    answer: Answer, patterns: Iterable[str] = ()
) -> ConnectionFailed | AgentFailed | None:
    """Return the fault that an answer reports, or None for a real answer.

    `patterns` are the signs of an outage that a test file defines.
    """
    text = answer.text or ""
    structure = answer.structure or (find_structure(text) if _STOPPED in text else None) or {}
    error = str(structure.get("error", ""))
    if _ENDLESS.match(text) or _ENDLESS.match(error):
        return AgentFailed("the agent found no end", said=error or text, answer=answer)
    if any(known.match(text) for known in _KNOWN) or error.startswith(_STOPPED):
        return ConnectionFailed(_OWN, said=error or text, answer=answer)
    said = text or json.dumps(structure, ensure_ascii=False, default=str)
    if (pattern := find_sign(said, patterns)) is not None:
        what = f"the answer contains {pattern!r}, which this test calls an outage"
        return ConnectionFailed(what, answer=answer)
    return None


def find_sign(said: str, patterns: Iterable[str]) -> str | None:
    """Return the first sign of an outage in a text."""
    return next((pattern for pattern in patterns if pattern in said), None)
