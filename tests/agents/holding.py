"""What the tests of conversations share: interactions, and a conversation held to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.agents.connections import Settings, open_connection
from assay.agents.model import ChatFilter, Interaction
from assay.agents.sampling.conversation import Conversation, hold
from assay.documents import Place

# How far beyond its limit an interaction may end.
GRACE = 20.0


class Says(Interaction):
    """The least that an interaction can be."""

    def __init__(
        self,
        text: str | None,
        sly_data: dict[str, Any] | None = None,
        chat_filter: ChatFilter = "MINIMAL",
        timeout: float | None = 60.0,
        continue_conversation: bool = True,
    ) -> None:
        place = Place(Path("test.hocon"), 1)
        super().__init__(1, place, text, sly_data, chat_filter, timeout, continue_conversation)


def held(
    name: str,
    settings: Settings,
    *interactions: Says,
    patterns: Sequence[str] = (),
) -> Conversation:
    """One sample on a connection of its own."""
    return held_often(1, name, settings, *interactions, patterns=patterns)[0]


def calmest(name: str, settings: Settings, *interactions: Says) -> Conversation:
    """The fastest of up to three: a machine that is busy elsewhere says nothing about a limit."""
    best = held(name, settings, *interactions)
    for _ in range(2):
        if best.seconds < sum(each.timeout or 0 for each in interactions) + GRACE:
            break
        best = min(best, held(name, settings, *interactions), key=lambda each: each.seconds)
    return best


def held_often(
    samples: int,
    name: str,
    settings: Settings,
    *interactions: Says,
    patterns: Sequence[str] = (),
) -> list[Conversation]:
    """That many samples at the same time, on one connection."""

    async def run() -> list[Conversation]:
        connection = open_connection(name, settings)
        try:
            return await asyncio.gather(
                *(hold(connection, interactions, failure_patterns=patterns) for _ in range(samples))
            )
        finally:
            await connection.close()

    return asyncio.run(run())


def texts(conversation: Conversation) -> list[str | None]:
    return [reply.answer.text for reply in conversation.replies]
