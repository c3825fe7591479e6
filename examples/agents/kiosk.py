"""Two small agents that sell train tickets: one that works, and one that gets tired.

They run in this process, over the connection `python`: nothing to start, no network, no model.
"""

from __future__ import annotations

import itertools
from typing import Any

FARES = {"Lyon": 42, "Turin": 61}
COUNTS = {"one": 1, "two": 2, "three": 3}

_conversations = itertools.count()


def answer(text: str, chat_context: dict[str, Any] | None) -> dict[str, Any]:
    """Understands a destination and a number of tickets, and remembers both for the next turn."""
    order: dict[str, Any] = {"tickets": 1, **(chat_context or {})}
    for place in FARES:
        if place in text:
            order["to"] = place
    for word, count in COUNTS.items():
        if word in text.casefold():
            order["tickets"] = count
    if "to" not in order:
        return {"text": "Where would you like to go?", "chat_context": order}
    total = order["tickets"] * FARES[order["to"]]
    return {
        "text": f"{order['tickets']} × {order['to']}: {total} euros.",
        "structure": {"total": total},
        "chat_context": order,
    }


def tired(text: str, chat_context: dict[str, Any] | None) -> dict[str, Any]:
    """The same, but of ten conversations two lose the destination and one is added up wrongly.

    Real agents do so by chance; this one does so by counting, so that the example stays the same.
    """
    context = dict(chat_context or {"number": next(_conversations) % 10})
    number = context.pop("number")
    said = answer(text, context)
    if "two" in text:
        if number in (3, 7):
            said["text"] = "Two tickets, certainly! Anything else?"
        elif number == 5:
            said["structure"]["total"] -= 4
    said["chat_context"]["number"] = number
    return said
