"""Token usage and cost of model calls, summed per case and per run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from assay.errors import BudgetExceeded
from assay.models.settings import Price

# For providers that do not report usage; English text has slightly more characters per token.
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Usage:
    """Tokens and US dollars; the cost is None as soon as one call has no known price."""

    calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = 0.0
    repeated_calls: int = 0
    """Calls that failed and were made again."""

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.calls + other.calls,
            self.cached_calls + other.cached_calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
            self.repeated_calls + other.repeated_calls,
        )

    def as_record(self) -> dict[str, float]:
        """Return the values for `CaseRecord.usage`, by name."""
        amounts = {
            "calls": self.calls,
            "cached calls": self.cached_calls,
            "repeated calls": self.repeated_calls,
            "input tokens": self.input_tokens,
            "output tokens": self.output_tokens,
            "US dollars": self.cost or 0.0,
        }
        return {name: float(amount) for name, amount in amounts.items() if amount}


CACHED = Usage(cached_calls=1)
REPEATED = Usage(repeated_calls=1)


def count_usage(said: Any, request: Any, answer: str, price: Price | None) -> Usage:
    """Return the usage of one call, from the provider's `usage` object or the text lengths."""
    counts = said if isinstance(said, dict) else {}
    received = _count(counts, "prompt_tokens")
    if received == 0:
        # Some servers report zeros; no request is without a token.
        counts, received = {}, None
    if received is None:
        received = len(json.dumps(request)) // CHARACTERS_PER_TOKEN + 1
    sent = _count(counts, "completion_tokens")
    if sent is None:
        sent = len(answer) // CHARACTERS_PER_TOKEN + 1
    # Thinking is paid as output; some providers count it in the total alone.
    sent = max(sent, (_count(counts, "total_tokens") or 0) - received)
    return Usage(1, 0, received, sent, price.cost(received, sent) if price else None)


def _count(counts: dict[str, Any], name: str) -> int | None:
    value = counts.get(name)
    return value if type(value) is int and value >= 0 else None


class Meter:
    """Sums up usage while it is open."""

    def __init__(self) -> None:
        self.usage = Usage()


_meters: ContextVar[tuple[Meter, ...]] = ContextVar("assay_model_meters", default=())


@contextmanager
def open_meter() -> Iterator[Meter]:
    """Sum up the usage of a case and the tasks it starts, in `usage` of the meter."""
    meter = Meter()
    token = _meters.set((*_meters.get(), meter))
    try:
        yield meter
    finally:
        _meters.reset(token)


def meter_usage(usage: Usage) -> None:
    """Add usage to every meter that is open around the caller."""
    for meter in _meters.get():
        meter.usage += usage


@dataclass
class Budget:
    """Spending limits and the amount spent; without limits it only counts.

    Call `check` before every call and `spend` after it. Calls in progress when the limit is reached
    are still paid.
    """

    max_cost: float | None = None
    max_tokens: int | None = None
    spent: Usage = field(default_factory=Usage)

    def check(self) -> None:
        """Raise BudgetExceeded if nothing more may be spent."""
        used, cost = self.spent.tokens, self.spent.cost
        if self.max_tokens is not None and used >= self.max_tokens:
            raise BudgetExceeded(
                f"the model has used {used:,} of the {self.max_tokens:,} tokens it may use"
            )
        if self.max_cost is not None and (cost is None or cost >= self.max_cost):
            # A call without a known price may have cost anything.
            amount = "an unknown part" if cost is None else f"{cost:.4f}"
            raise BudgetExceeded(
                f"the model has cost {amount} of the {self.max_cost:g} US dollars it may cost"
            )

    def spend(self, usage: Usage) -> None:
        self.spent += usage
