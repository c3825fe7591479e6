"""What models cost: US dollars per million tokens, as their providers published it."""

from __future__ import annotations

import re
from typing import NamedTuple

MILLION = 1_000_000


class Price(NamedTuple):
    """US dollars per million tokens of input and of output."""

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        return (self.input * input_tokens + self.output * output_tokens) / MILLION


FREE = Price(0.0, 0.0)

# As of January 2026, for prompts of ordinary length; a discount for repeated prompts is not taken.
PRICES = {
    "gemini-3-pro-preview": Price(2.0, 12.0),
    "gemini-3-flash-preview": Price(0.5, 3.0),
    "gemini-2.5-pro": Price(1.25, 10.0),
    "gemini-2.5-flash": Price(0.3, 2.5),
    "gemini-2.5-flash-lite": Price(0.1, 0.4),
    "gpt-5.2": Price(1.75, 14.0),
    "gpt-5": Price(1.25, 10.0),
    "gpt-5-mini": Price(0.25, 2.0),
    "gpt-5-nano": Price(0.05, 0.4),
    "gpt-4.1": Price(2.0, 8.0),
    "gpt-4.1-mini": Price(0.4, 1.6),
    "gpt-4o": Price(2.5, 10.0),
    "gpt-4o-mini": Price(0.15, 0.6),
}
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def price_of(model: str) -> Price | None:
    """The published price of a model, whatever provider's prefix or date its name has."""
    name = _DATED.sub("", model.rpartition("/")[2])
    return PRICES.get(name)
