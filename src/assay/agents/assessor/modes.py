"""Modes of failure: failed checks that belong together, with their share. Pure.

Checks are told apart first, then answers by the words they have in common. The grouping does not
depend on the order of the samples: what is near each other is one group, however it was found.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.intervals import Interval, wilson


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
class Mode:
    """A way in which the agent fails a check, and how often."""

    interaction: int
    check: str
    common: tuple[str, ...]
    """Words that all its answers share and no other mode of the check has."""
    samples: tuple[int, ...]
    total: int
    examples: tuple[FailedCheck, ...]
    is_tests_fault: bool
    why: str

    @property
    def share(self) -> float:
        return len(self.samples) / self.total

    @property
    def interval(self) -> Interval:
        return wilson(len(self.samples), self.total)


# Answers with at least this share of their words in common are said to be alike.
_ALIKE = 0.5
_EXAMPLES = 3
_ENOUGH_TO_BLAME_THE_TEST = 3
_WORD = re.compile(r"[^\W\d_]+|\d+")


def find_modes(failures: Iterable[FailedCheck], total: int) -> list[Mode]:
    """The modes of failure among `total` samples, the most frequent first."""
    by_check: dict[tuple[int, str], set[FailedCheck]] = defaultdict(set)
    for failure in failures:
        by_check[failure.interaction, failure.check].add(failure)
    modes = []
    for (interaction, check), several in by_check.items():
        groups = _alike(sorted(several))
        for group in groups:
            others = [one for one in groups if one is not group]
            modes.append(_mode(interaction, check, group, others, several, total))
    return sorted(modes, key=_rank)


def _rank(mode: Mode) -> tuple[int, int, str, tuple[int, ...]]:
    return -len(mode.samples), mode.interaction, mode.check, mode.samples


def _mode(
    interaction: int,
    check: str,
    group: list[FailedCheck],
    others: Sequence[list[FailedCheck]],
    of_check: set[FailedCheck],
    total: int,
) -> Mode:
    is_tests_fault, why = _culprit(group, {one.sample for one in of_check}, total)
    return Mode(
        interaction=interaction,
        check=check,
        common=_in_common(group, others),
        samples=tuple(sorted({one.sample for one in group})),
        total=total,
        examples=_examples(group),
        is_tests_fault=is_tests_fault,
        why=why,
    )


def _culprit(group: list[FailedCheck], failed: set[int], total: int) -> tuple[bool, str]:
    if all(one.is_disputed for one in group):
        return True, "the judge disagrees with itself about each of these answers"
    if len(failed) == total and total >= _ENOUGH_TO_BLAME_THE_TEST:
        return True, "every sample fails this check"
    return False, f"{total - len(failed)} of {total} samples pass this check"


def _examples(group: list[FailedCheck]) -> tuple[FailedCheck, ...]:
    """A few that differ, each answer once."""
    different = {one.answer: one for one in reversed(group)}
    return tuple(sorted(different.values())[:_EXAMPLES])


def _alike(failures: list[FailedCheck]) -> list[list[FailedCheck]]:
    """Failures in groups of similar answers; those like no other are one group of their own."""
    by_words: dict[frozenset[str], list[FailedCheck]] = defaultdict(list)
    for failure in failures:
        by_words[_words(failure.answer)].append(failure)
    components = _components(list(by_words))
    groups, lonely = [], []
    for component in components:
        members = [one for words in component for one in by_words[words]]
        if len({one.sample for one in members}) > 1:
            groups.append(sorted(members))
        else:
            lonely += members
    return [*groups, sorted(lonely)] if lonely else groups


def _components(several: list[frozenset[str]]) -> list[list[frozenset[str]]]:
    """The connected components under likeness: the same whatever the order."""
    left, components = set(several), []
    while left:
        component, waiting = [], [left.pop()]
        while waiting:
            words = waiting.pop()
            component.append(words)
            near = {other for other in left if _are_alike(words, other)}
            left -= near
            waiting += near
        components.append(sorted(component, key=sorted))
    return sorted(components, key=lambda one: [sorted(words) for words in one])


def _are_alike(words: frozenset[str], other: frozenset[str]) -> bool:
    return len(words & other) >= _ALIKE * len(words | other)


def _words(answer: str) -> frozenset[str]:
    """The words of an answer; which numbers are in it does not make it another kind of answer."""
    found = _WORD.findall(answer.casefold())
    return frozenset("#" if word.isdigit() else word for word in found)


def _in_common(group: list[FailedCheck], others: Sequence[list[FailedCheck]]) -> tuple[str, ...]:
    shared = frozenset.intersection(*(_words(one.answer) for one in group))
    elsewhere = frozenset(word for other in others for one in other for word in _words(one.answer))
    return tuple(sorted(shared - elsewhere - {"#"}))
