"""How sure a share is that was counted in samples: pure."""

from __future__ import annotations

import math
from typing import NamedTuple

_Z_95 = 1.959963984540054


class Interval(NamedTuple):
    """From where to where a share may well lie."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.0%} to {self.high:.0%}"


class Share(NamedTuple):
    """`hits` of `trials`; without trials nothing is known."""

    hits: int
    trials: int

    @property
    def value(self) -> float | None:
        return self.hits / self.trials if self.trials else None

    @property
    def interval(self) -> Interval:
        return wilson(self.hits, self.trials)

    def __str__(self) -> str:
        return "–" if self.value is None else f"{self.value:.0%} ({self.interval})"


def wilson(hits: int, total: int) -> Interval:
    """The 95% interval of Wilson for `hits` of `total`; of nothing it is everything."""
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total} is no share")
    if total == 0:
        return Interval(0.0, 1.0)
    share, square = hits / total, _Z_95**2
    centre = share + square / (2 * total)
    spread = _Z_95 * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    scale = 1 + square / total
    low, high = (centre - spread) / scale, (centre + spread) / scale
    # At the ends rounding may leave the limits a hair outside of what is possible.
    return Interval(0.0 if hits == 0 else max(0.0, low), 1.0 if hits == total else min(1.0, high))
