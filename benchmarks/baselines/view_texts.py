"""The same cases for both viewers: an id, a question, an answer, and whether it is right."""

from __future__ import annotations

import random
from collections.abc import Iterator

_LETTERS = "etaoinshrdlucmfwyp"
RARE = "zugzwang"


def make_cases(number: int) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the cases; one in 10,000 has a rare word in its question."""
    chance = random.Random(2)
    words = ["".join(chance.choices(_LETTERS, k=chance.randint(3, 9))) for _ in range(20_000)]
    for at in range(number):
        rare = f" {RARE}" if at % 10_000 == 7 else ""
        question = " ".join(chance.choices(words, k=40)) + rare
        is_right = at % 7 != 0
        yield (
            f"suite/{at % 97}/case-{at:06}",
            question,
            question[: 200 if is_right else 150],
            is_right,
        )
