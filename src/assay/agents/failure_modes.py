"""Failure modes: groups of related failed checks, with their share of the samples. Pure functions.

Failures are grouped first by check and by its failing values (such as the missing keyword). Only
failures with the same check and values are then compared by the words of their answers. Failures
that resemble no others are listed as various. The grouping does not depend on the order of the
samples.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from assay.agents.sampling.tally import compute_pass_chance
from assay.model import Interval, Ratio, wilson


class FailedCheck(NamedTuple):
    """One check that one sample failed."""

    sample: int
    interaction: int
    check: str
    """Which check, without the position of a value in a list: `text.keywords`."""
    expected: str
    answer: str
    """What was looked at, as text; empty if there was nothing."""
    reason: str
    is_disputed: bool = False
    """Whether the votes of the judge differ."""


@dataclass(frozen=True)
class Cause:
    """A failed check and its failing values: the first criterion of a mode."""

    interaction: int
    check: str
    values: tuple[str, ...]

    @property
    def is_gist(self) -> bool:
        """Whether a judge decided it."""
        return self.check.endswith("gist")


@dataclass(frozen=True)
class JudgeErrors:
    """The effect that wrong judge decisions alone would have on a check that every answer meets."""

    rate: float
    """How often the judge is wrong, as far as it is known."""
    total: int
    failed: int
    """How many samples did fail the check."""

    @property
    def samples(self) -> float:
        """How many samples would fail on average."""
        return self.rate * self.total

    @property
    def share(self) -> float:
        """The share of the failures that they would explain."""
        return min(1.0, self.samples / self.failed)

    @property
    def chance(self) -> float:
        """How likely so many failures, or more, would be."""
        return compute_pass_chance(Ratio(self.failed, self.total), self.rate)


@dataclass(frozen=True)
class Mode:
    """A way in which the agent fails a check, and how often."""

    cause: Cause
    common: tuple[str, ...]
    """Words that all its answers share and no other mode of the check has."""
    samples: tuple[int, ...]
    total: int
    examples: tuple[FailedCheck, ...]
    culprit: Culprit
    why: str
    judge_errors: JudgeErrors | None = None
    """For a check that a judge decides, if it is known how often the judge is wrong."""
    is_various: bool = False
    """Whether these are the failures that are like no other, and no mode."""
    title: str = ""
    description: str = ""
    """Words of a model, if one was asked."""

    @property
    def interaction(self) -> int:
        return self.cause.interaction

    @property
    def check(self) -> str:
        return self.cause.check

    @property
    def share(self) -> float:
        return len(self.samples) / self.total

    @property
    def interval(self) -> Interval:
        return wilson(len(self.samples), self.total)


class FailureGroup(NamedTuple):
    """Related failures of one cause; it has a title only if a model gave one."""

    members: list[FailedCheck]
    title: str = ""
    description: str = ""
    is_various: bool = False


CheckName: TypeAlias = tuple[int, str]
"""A check by its interaction and its name."""
Passing: TypeAlias = Mapping[CheckName, Collection[str]]
"""The answers that pass a check."""
Culprit: TypeAlias = Literal["agent", "test", "judge"]
Divide: TypeAlias = Callable[[Cause, list[FailedCheck]], Iterable[FailureGroup]]

# Answers are alike if they share at least this weighted part of their words. Without a passing
# answer it is unknown which words occur in every answer, so the threshold is higher.
_ALIKE = 0.3
_ALIKE_WITHOUT_PASSING = 0.5
# Below this probability, failures are not attributed to the judge.
_UNLIKELY = 0.05
_EXAMPLES = 3
_ENOUGH_TO_BLAME_THE_TEST = 3
_WORD = re.compile(r"[^\W\d_]+|\d+")


def find_modes(
    failures: Iterable[FailedCheck],
    total: int,
    *,
    passing: Passing | None = None,
    divide: Divide | None = None,
    judge_error_rate: float | None = None,
) -> list[Mode]:
    """Return the failure modes among `total` samples, the most frequent first.

    `divide` splits the failures of one cause; by default by the words of the answers, without those
    that also occur in answers which pass the check.
    """
    failures = set(failures)
    by_check: dict[CheckName, set[FailedCheck]] = defaultdict(set)
    for failure in failures:
        by_check[failure.interaction, failure.check].add(failure)
    divide = divide or _ByWords(by_check, passing or {})
    modes = []
    for cause, members in group_by_cause(failures).items():
        groups = list(divide(cause, members))
        of_check = by_check[cause.interaction, cause.check]
        errors = None
        if cause.is_gist and judge_error_rate is not None:
            errors = JudgeErrors(judge_error_rate, total, len(members))
        for group in groups:
            others = [one for one in groups if one is not group]
            culprit = _culprit(cause, group.members, of_check, total, errors)
            modes.append(_mode(cause, group, others, total, culprit, errors))
    return sorted(modes, key=_rank)


def group_by_cause(failures: Iterable[FailedCheck]) -> dict[Cause, list[FailedCheck]]:
    """Return the failures by check and by the set of failing values.

    A sample counts once per failed check, whatever the number of values.
    """
    by_sample: dict[tuple[int, str, int], list[FailedCheck]] = defaultdict(list)
    for one in failures:
        by_sample[one.interaction, one.check, one.sample].append(one)
    causes: dict[Cause, list[FailedCheck]] = defaultdict(list)
    for (interaction, check, _), several in by_sample.items():
        cause = Cause(interaction, check, tuple(sorted({one.expected for one in several})))
        causes[cause].append(min(several))
    return {cause: sorted(members) for cause, members in causes.items()}


def _rank(mode: Mode) -> tuple[bool, int, int, str, tuple[int, ...], tuple[str, ...]]:
    """Return a sort key: most frequent first, various last."""
    cause = mode.cause
    return (
        mode.is_various, -len(mode.samples), cause.interaction, cause.check, mode.samples,
        cause.values,
    )  # fmt: skip


def _mode(
    cause: Cause,
    group: FailureGroup,
    others: Sequence[FailureGroup],
    total: int,
    culprit: tuple[Culprit, str],
    errors: JudgeErrors | None,
) -> Mode:
    return Mode(
        cause=cause,
        common=() if group.is_various else _in_common(group, others),
        samples=tuple(sorted({one.sample for one in group.members})),
        total=total,
        examples=_examples(group.members),
        culprit=culprit[0],
        why=culprit[1],
        judge_errors=errors,
        is_various=group.is_various,
        title=group.title,
        description=group.description,
    )


def _culprit(
    cause: Cause,
    members: list[FailedCheck],
    of_check: set[FailedCheck],
    total: int,
    errors: JudgeErrors | None,
) -> tuple[Culprit, str]:
    if all(one.is_disputed for one in members):
        return "test", "the judge disagrees with itself about each of these answers"
    failed = {one.sample for one in of_check}
    by_value = Counter(value for value, _ in {(one.expected, one.sample) for one in of_check})
    is_never_met = any(by_value[value] == total for value in cause.values)
    if is_never_met and total >= _ENOUGH_TO_BLAME_THE_TEST:
        return "test", "every sample fails this check"
    if errors is not None and errors.chance >= _UNLIKELY:
        return "judge", "its known errors alone would explain as many failures"
    return "agent", f"{total - len(failed)} of {total} samples pass this check"


def _examples(members: list[FailedCheck]) -> tuple[FailedCheck, ...]:
    """Return a few that differ, each answer once."""
    different = {one.answer: one for one in reversed(members)}
    return tuple(sorted(different.values())[:_EXAMPLES])


class _ByWords:
    """Divides failures by the words of their answers."""

    def __init__(self, by_check: Mapping[CheckName, set[FailedCheck]], passing: Passing) -> None:
        self._passing = passing
        self._weights = {
            name: _weigh(
                {_words(one.answer) for one in failures},
                {_words(answer) for answer in passing.get(name, ())},
            )
            for name, failures in by_check.items()
        }

    def __call__(self, cause: Cause, members: list[FailedCheck]) -> Iterator[FailureGroup]:
        """Yield groups of similar answers, then the remaining ones as various."""
        by_words: dict[frozenset[str], list[FailedCheck]] = defaultdict(list)
        for failure in members:
            by_words[_words(failure.answer)].append(failure)
        lonely: list[FailedCheck] = []
        name = cause.interaction, cause.check
        least = _ALIKE if self._passing.get(name) else _ALIKE_WITHOUT_PASSING
        for cluster in _clusters(sorted(by_words, key=sorted), self._weights[name], least):
            alike = [one for words in cluster for one in by_words[words]]
            if len({one.sample for one in alike}) > 1:
                yield FailureGroup(sorted(alike))
            else:
                lonely += alike
        if lonely:
            yield FailureGroup(sorted(lonely), is_various=True)


def _weigh(failing: set[frozenset[str]], passing: set[frozenset[str]]) -> dict[str, float]:
    """Return the weight of each word for telling failures apart.

    Low if most failing answers contain it; zero if all passing answers contain it too.
    """
    counts = Counter(word for words in failing for word in words)
    elsewhere = Counter(word for words in passing for word in words)
    return {
        word: math.log(1 + len(failing) / count) * (1 - elsewhere[word] / max(1, len(passing)))
        for word, count in counts.items()
    }


def _clusters(
    several: list[frozenset[str]], weights: Mapping[str, float], least: float
) -> list[list[frozenset[str]]]:
    """Merge the two most similar clusters (on average) as long as they are similar enough.

    On average, not by nearest members: a chain of answers, each slightly different from the one
    before, would join answers that have nothing in common.
    """
    clusters = {place: [words] for place, words in enumerate(several)}
    likeness = {
        frozenset((one, other)): _likeness(several[one], several[other], weights)
        for one in clusters
        for other in range(one)
    }
    # The places break ties, so that the order of the samples does not matter.
    queue = [(-value, sorted(pair)) for pair, value in likeness.items() if value >= least]
    heapq.heapify(queue)
    joined = len(several)
    while queue:
        one, other = heapq.heappop(queue)[1]
        if one not in clusters or other not in clusters:
            continue
        first, second = clusters.pop(one), clusters.pop(other)
        for third in clusters:
            parts = likeness[frozenset((one, third))] * len(first)
            parts += likeness[frozenset((other, third))] * len(second)
            value = likeness[frozenset((joined, third))] = parts / (len(first) + len(second))
            if value >= least:
                heapq.heappush(queue, (-value, [third, joined]))
        clusters[joined] = first + second
        joined += 1
    return list(clusters.values())


def _likeness(words: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    shared = math.fsum(weights[word] for word in words & other)
    either = math.fsum(weights[word] for word in words | other)
    return shared / either if either else 1.0


def _words(answer: str) -> frozenset[str]:
    """Return the words of an answer; all numbers are the same word."""
    found = _WORD.findall(answer.casefold())
    return frozenset("#" if word.isdigit() else word for word in found)


def _in_common(group: FailureGroup, others: Sequence[FailureGroup]) -> tuple[str, ...]:
    shared = frozenset.intersection(*(_words(one.answer) for one in group.members))
    elsewhere = frozenset(
        word for other in others for one in other.members for word in _words(one.answer)
    )
    return tuple(sorted(shared - elsewhere - {"#"}))
