"""Pass ratios: how many of how many samples must pass, and the confidence of a sampled share."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Self

from assay.errors import InputError
from assay.model.cases import Outcome

_Z_95 = 1.959963984540054


class Ratio(NamedTuple):
    """`needed` of `samples` must pass."""

    needed: int
    samples: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "N/M" with 1 ≤ N ≤ M."""
        found = isinstance(text, str) and re.fullmatch(
            r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text, re.ASCII
        )
        ratio = cls(int(found[1]), int(found[2])) if found else None
        if ratio is None or not 1 <= ratio.needed <= ratio.samples:
            raise InputError(
                f"{text!r} is not a success ratio",
                advice="write N/M with 1 ≤ N ≤ M, for example 8/10",
            )
        return ratio

    def __str__(self) -> str:
        return f"{self.needed}/{self.samples}"

    def outcome(self, samples: Sequence[Outcome]) -> tuple[Outcome, str]:
        """Return the outcome of a case whose samples have all been taken, and why.

        An error is neither a pass nor a failure: if the ratio was missed only because of errors,
        nothing is known about the subject.
        """
        counts = Counter(samples)
        passed, errors = counts[Outcome.PASSED], counts[Outcome.ERROR]
        open_samples = counts[Outcome.UNVERIFIED]
        reason = f"{passed} of {len(samples)} samples passed, {self} needed"
        if passed >= self.needed:
            return Outcome.PASSED, reason
        if passed + open_samples + errors < self.needed:
            return Outcome.FAILED, reason
        if passed + open_samples < self.needed:
            return Outcome.ERROR, f"{reason}, {errors} ended in an error"
        return Outcome.UNVERIFIED, f"{reason}, {open_samples} could not be verified"


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
