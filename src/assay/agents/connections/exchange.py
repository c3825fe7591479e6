"""What a connection notices about a message and its answer, beside the answer itself.

Whoever asks an agent opens an `Exchange` around the call; the code that talks to the agent notes
what it happens to know: the first byte, tokens, who spoke. Without an exchange nothing is noted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_MOST_STEPS = 50
_current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)


class Step(NamedTuple):
    """What one of several agents said on the way to the answer."""

    origin: str
    text: str


@dataclass
class Exchange:
    """The times, the tokens and the speakers of one answer."""

    started: float = field(default_factory=time.perf_counter)
    seconds: float = 0.0
    first_byte: float | None = None
    """Seconds until the first byte of the answer arrived, where it arrives in bytes."""
    tokens: dict[str, int] = field(default_factory=dict)
    """`input` and `output`, where the agent or its server tells."""
    origin: str = ""
    """Which of several agents gave the answer."""
    steps: list[Step] = field(default_factory=list)
    steps_left_out: int = 0


@contextmanager
def open_exchange() -> Iterator[Exchange]:
    """Collect what is noted in this context, also by threads and loops that are called from it."""
    exchange = Exchange()
    token = _current.set(exchange)
    try:
        yield exchange
    finally:
        exchange.seconds = time.perf_counter() - exchange.started
        _current.reset(token)


def note_first_byte() -> None:
    """Note that the answer begins to arrive."""
    exchange = _current.get()
    if exchange is not None and exchange.first_byte is None:
        exchange.first_byte = time.perf_counter() - exchange.started


def note_tokens(sent: Any, received: Any) -> None:
    """Add tokens as a server counts them; what is no count is ignored."""
    exchange = _current.get()
    for name, number in (("input", sent), ("output", received)):
        if exchange is not None and isinstance(number, int) and not isinstance(number, bool):
            exchange.tokens[name] = exchange.tokens.get(name, 0) + max(number, 0)


def note_origin(origin: str) -> None:
    """Note which agent gave the answer; the last one counts."""
    if (exchange := _current.get()) is not None:
        exchange.origin = origin


def note_step(origin: str, text: str) -> None:
    """Note what an agent said on the way to the answer."""
    if (exchange := _current.get()) is None:
        return
    if len(exchange.steps) < _MOST_STEPS:
        exchange.steps.append(Step(origin, text))
    else:
        exchange.steps_left_out += 1
