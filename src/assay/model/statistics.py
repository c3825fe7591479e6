"""Statistics of shares: intervals, exact tests and differences. Pure functions.

Intervals are at 95% and tests are two-sided.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

_Z_95 = 1.959963984540054

SIGNIFICANT = 0.05
"""A probability below this is called significant."""


class Interval(NamedTuple):
    """The limits between which a share may well lie."""

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

    def to_values(self) -> dict[str, Any]:
        """Return the share as JSON has it: counts, rate and the limits of the interval."""
        known = self.interval if self.trials else None
        return {
            "passed": self.hits,
            "of": self.trials,
            "rate": self.value,
            "low": known and known.low,
            "high": known and known.high,
        }


class Difference(NamedTuple):
    """How much larger the second of two shares is; without trials `value` is None."""

    value: float | None
    interval: Interval

    def to_values(self) -> dict[str, Any]:
        """Return the difference as JSON has it."""
        known = None if self.value is None else self.interval
        return {"value": self.value, "low": known and known.low, "high": known and known.high}


class PairedTable(NamedTuple):
    """How many cases passed before and after, only before, only after, or neither time."""

    both: int = 0
    lost: int = 0
    gained: int = 0
    neither: int = 0

    @property
    def before(self) -> Share:
        return Share(self.both + self.lost, sum(self))

    @property
    def after(self) -> Share:
        return Share(self.both + self.gained, sum(self))


def wilson(hits: int, total: int) -> Interval:
    """Return the 95% interval of Wilson for `hits` of `total`; of nothing it is everything."""
    if not 0 <= hits <= total:
        raise ValueError(f"{hits} of {total} is not a share")
    if total == 0:
        return Interval(0.0, 1.0)
    share, square = hits / total, _Z_95**2
    centre = share + square / (2 * total)
    spread = _Z_95 * math.sqrt(share * (1 - share) / total + square / (4 * total**2))
    scale = 1 + square / total
    low, high = (centre - spread) / scale, (centre + spread) / scale
    # At the ends rounding may leave the limits a hair outside of what is possible.
    return Interval(0.0 if hits == 0 else max(0.0, low), 1.0 if hits == total else min(1.0, high))


def compute_mcnemar(lost: int, gained: int) -> float:
    """Return the probability of such a table of pairs, or a more uneven one, by chance alone.

    McNemar's exact test: only the pairs that differ count, and each is a toss of a coin.
    """
    _check_counts(lost, gained)
    pairs = lost + gained
    return min(1.0, 2.0 * math.fsum(_coin_terms(min(lost, gained), pairs)))


def _coin_terms(hits: int, total: int) -> Iterator[float]:
    """Yield the chances of `hits`, `hits - 1`, … of `total` tosses, until they no longer matter."""
    term = largest = math.exp(_log_choose(total, hits) - total * math.log(2.0))
    while hits >= 0 and term > largest * 1e-17:
        yield term
        term *= hits / (total - hits + 1)
        hits -= 1


def compute_fisher(before: Share, after: Share) -> float:
    """Return the probability of two shares that differ so much, or more, by chance alone.

    Fisher's exact test: all tables with the same totals are compared, and those that are no more
    likely than this one are added up.
    """
    _check_counts(*_failures(before), *_failures(after))
    hits, total = before.hits + after.hits, before.trials + after.trials
    low, high = max(0, hits - after.trials), min(hits, before.trials)
    ways = _log_choose(total, hits)

    def chance(number: int) -> float:
        inside = _log_choose(before.trials, number)
        return math.exp(inside + _log_choose(after.trials, hits - number) - ways)

    # Equally likely tables differ by rounding.
    limit = chance(before.hits) * (1 + 1e-7)
    chances = (chance(number) for number in range(low, high + 1))
    return min(1.0, math.fsum(each for each in chances if each <= limit))


def _failures(share: Share) -> tuple[int, int]:
    return share.hits, share.trials - share.hits


def _check_counts(*counts: int) -> None:
    if any(count < 0 for count in counts):
        raise ValueError(f"{counts} are not counts")


def _log_choose(total: int, number: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(number + 1) - math.lgamma(total - number + 1)


def compare_shares(before: Share, after: Share) -> Difference:
    """Return the difference of two independent shares with the interval of Newcombe."""
    if before.value is None or after.value is None:
        return Difference(None, Interval(-1.0, 1.0))
    value = after.value - before.value
    first, second = before.interval, after.interval
    down = math.hypot(after.value - second.low, first.high - before.value)
    up = math.hypot(second.high - after.value, before.value - first.low)
    return Difference(value, Interval(max(-1.0, value - down), min(1.0, value + up)))


def compare_pairs(table: PairedTable) -> Difference:
    """Return the difference of two shares of the same cases, with the score interval of Tango.

    It holds every difference that the score test does not reject.
    """
    _check_counts(*table)
    pairs = sum(table)
    if pairs == 0:
        return Difference(None, Interval(-1.0, 1.0))
    value = (table.gained - table.lost) / pairs

    def score(difference: float) -> float:
        return _score_pairs(table.gained, table.lost, pairs, difference)

    low = _find_root(lambda each: score(each) - _Z_95, -1.0, value)
    high = _find_root(lambda each: score(each) + _Z_95, value, 1.0)
    return Difference(value, Interval(low, high))


def _score_pairs(gained: int, lost: int, pairs: int, difference: float) -> float:
    """Return how many standard errors the table is away from a difference.

    The error is that of the most likely table with this difference, whose chance of a lost case is
    the root of a quadratic equation.
    """
    b = (2 * pairs - gained + lost) * difference - gained - lost
    c = -lost * difference * (1 - difference)
    chance = (math.sqrt(max(0.0, b * b - 8 * pairs * c)) - b) / (4 * pairs)
    distance = gained - lost - pairs * difference
    variance = pairs * (2 * chance + difference * (1 - difference))
    if variance <= 0:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / math.sqrt(variance)


def _find_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function crosses zero; an end, if it does so beyond."""
    if function(low) <= 0:
        return low
    if function(high) >= 0:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2


def adjust_chances(chances: Sequence[float], tests: int | None = None) -> list[float]:
    """Return the probabilities of several tests, adjusted by Holm for how many there are.

    `tests` is their number if only the smallest are given.
    """
    count = len(chances) if tests is None else tests
    adjusted, largest = [0.0] * len(chances), 0.0
    for rank, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        largest = max(largest, min(1.0, (count - rank) * chances[place]))
        adjusted[place] = largest
    return adjusted
