"""How many samples a ratio needs, and when its verdict is certain. Pure functions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.model import Interval, Outcome, Ratio, wilson

# How often a sample is retried after an outage, by default.
RETRIES = 2
# Seconds to wait before each retry; the last value applies to all further ones.
RETRY_DELAYS = (0.5, 2.0)


def retry_delay(failed_attempts: int, retries: int = RETRIES) -> float | None:
    """Return the delay after the n-th attempt that met an outage; None to give up."""
    if failed_attempts > retries:
        return None
    return RETRY_DELAYS[min(failed_attempts, len(RETRY_DELAYS)) - 1]


@dataclass(frozen=True)
class Decision:
    """The verdict of a test on one connection, and after how many samples it was certain."""

    outcome: Outcome
    reason: str
    taken: int
    is_early: bool
    """Before all samples were taken: then a rate would be biased, and none is given."""


def decide(ratio: Ratio, samples: Sequence[Outcome]) -> Decision | None:
    """Return the verdict once no further sample can change it, else None.

    Samples count without gaps, in the order they were started: fast ones finish first, and counting
    them first would favour fast answers.
    """
    counts: Counter[Outcome] = Counter()
    for taken, sample in enumerate(samples, 1):
        counts[sample] += 1
        outcome = _find_certain(ratio, counts, ratio.samples - taken)
        if outcome is not None:
            return _make_decision(ratio, outcome, samples[:taken])
    return None


def _make_decision(ratio: Ratio, outcome: Outcome, samples: Sequence[Outcome]) -> Decision:
    taken = len(samples)
    is_early = taken < ratio.samples
    said = f"decided after {taken} of {ratio.samples}: " if is_early else ""
    return Decision(outcome, said + ratio.outcome(samples)[1], taken, is_early)


def _find_certain(ratio: Ratio, counts: Counter[Outcome], left: int) -> Outcome | None:
    """Return the outcome, if the remaining samples cannot change it."""
    passed = counts[Outcome.PASSED]
    undecided = passed + counts[Outcome.UNVERIFIED]
    with_errors = undecided + counts[Outcome.ERROR]
    if passed >= ratio.needed:
        return Outcome.PASSED
    if with_errors + left < ratio.needed:
        return Outcome.FAILED
    if undecided + left < ratio.needed <= with_errors:
        return Outcome.ERROR
    if passed + left < ratio.needed <= undecided:
        return Outcome.UNVERIFIED
    return None


def at_limit(ratio: Ratio, finished: Sequence[Outcome], seconds: float) -> Decision:
    """Return the verdict when the time of the whole test is over: what still runs was not taken."""
    outcome, reason = ratio.outcome(finished)
    reason = f"the limit of {seconds:g} s ended after {len(finished)} of {ratio.samples}: {reason}"
    return Decision(outcome, reason, len(finished), len(finished) < ratio.samples)


@dataclass
class Tally:
    """Tracks which sample to start next, and the results of finished ones."""

    ratio: Ratio
    takes_all: bool = False
    """Take all samples, certain or not; only then there is a rate."""
    decision: Decision | None = field(default=None, init=False)
    counted: list[Outcome] = field(default_factory=list, init=False)
    """The outcomes that count: those before the first sample that is still running."""
    _counts: Counter[Outcome] = field(default_factory=Counter, init=False)
    _started: int = field(default=0, init=False)
    _finished: dict[int, Outcome] = field(default_factory=dict, init=False)

    def start(self) -> int | None:
        """Return the index of the next sample, which counts as started; None if there is none."""
        if self._started == self.ratio.samples or self.decision is not None:
            return None
        self._started += 1
        return self._started - 1

    def finish(self, index: int, outcome: Outcome) -> None:
        self._finished[index] = outcome
        while (following := self._finished.get(len(self.counted))) is not None:
            self.counted.append(following)
            self._counts[following] += 1
            self.decision = self.decision or self._decide()

    def _decide(self) -> Decision | None:
        left = self.ratio.samples - len(self.counted)
        if self.takes_all and left:
            return None
        outcome = _find_certain(self.ratio, self._counts, left)
        return None if outcome is None else _make_decision(self.ratio, outcome, self.counted)

    def at_limit(self, seconds: float) -> Decision:
        """Return the verdict at the time limit; every finished sample counts."""
        finished = [self._finished[index] for index in sorted(self._finished)]
        return at_limit(self.ratio, finished, seconds)


@dataclass(frozen=True)
class Statistics:
    """Statistics of all samples of a test."""

    passes: int
    failures: int
    errors: int
    unverified: int
    rate: float | None
    """The share of passes among the samples that were judged; errors say nothing of the agent."""
    interval: Interval | None
    """The Wilson interval of the rate: 95% of such intervals hold the true one."""
    all_of: dict[int, float]
    """The chance that k samples in a row all pass (pass^k), for some k."""


def statistics(samples: Sequence[Outcome]) -> Statistics:
    """Return the statistics of a test whose samples were all taken."""
    counts = Counter(samples)
    passes, failures = counts[Outcome.PASSED], counts[Outcome.FAILED]
    judged = passes + failures
    return Statistics(
        passes,
        failures,
        counts[Outcome.ERROR],
        counts[Outcome.UNVERIFIED],
        passes / judged if judged else None,
        wilson(passes, judged) if judged else None,
        {size: all_pass(passes, judged, size) for size in _sizes(judged)},
    )


def _sizes(judged: int) -> list[int]:
    """1, 2, 4 and so on, and the number of samples itself."""
    doubled = [2**power for power in range(judged.bit_length())]
    return sorted({*doubled, judged}) if judged else []


def all_pass(passes: int, samples: int, size: int) -> float:
    """Return the share of all sets of `size` samples that only pass: pass^k without bias."""
    return math.comb(passes, size) / math.comb(samples, size)


def compute_pass_chance(ratio: Ratio, rate: float) -> float:
    """Return how likely an agent that is right at this rate reaches the ratio."""
    if rate in (0, 1):
        return float(rate)
    several = range(ratio.needed, ratio.samples + 1)
    return min(1.0, math.fsum(_chance_of(passes, ratio.samples, rate) for passes in several))


def _chance_of(passes: int, samples: int, rate: float) -> float:
    """Return the chance of exactly so many passes; by logarithms, as the factors exceed a float."""
    ways = math.lgamma(samples + 1) - math.lgamma(passes + 1) - math.lgamma(samples - passes + 1)
    return math.exp(ways + passes * math.log(rate) + (samples - passes) * math.log1p(-rate))


def describe_false_pass_rate(ratio: Ratio) -> str:
    """Describe how often an agent passes that is somewhat worse than the ratio requires."""
    rate = _rate_below(ratio)
    right, chance = _percent(rate), _percent(compute_pass_chance(ratio, rate))
    return f"{ratio} lets an agent that is right {right} of the time pass {chance} of the time"


def _rate_below(ratio: Ratio) -> float:
    """Return the next full ten percent below the ratio, or half of a ratio that has none."""
    tenths = (10 * ratio.needed - 1) // ratio.samples
    return tenths / 10 if tenths else ratio.needed / ratio.samples / 2


def _percent(share: float) -> str:
    if 0 < share < 0.01:
        return "less than 1%"
    if 0.99 < share < 1:
        return "more than 99%"
    return f"{share:.0%}"
