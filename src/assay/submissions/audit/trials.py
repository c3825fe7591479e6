"""Everything a case is tried with: two runs of the reference, doing nothing, mutants and more."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from assay.results import CaseResult, Outcome, VerificationResult, outcome_of
from assay.submissions.audit.expectations import Statement, statements
from assay.submissions.audit.idle import idle_result
from assay.submissions.audit.mutants import Mutant, mutants
from assay.submissions.audit.probes import probes
from assay.submissions.seams import Drawn

# A verifier that hangs costs its time limit each time; after so many the rest would say the same.
_MOST_BROKEN = 5
# With how many wrong results an expected value is tried that made no difference to the right one.
_WRONG_RESULTS = 12


@dataclass(frozen=True)
class Judged:
    """What a verifier said of one result, or why it said nothing."""

    results: Mapping[str, VerificationResult] = field(default_factory=dict)
    error: str | None = None

    @property
    def outcome(self) -> Outcome:
        if self.error is not None:
            return Outcome.ERROR
        return outcome_of((one.is_correct, one.weight) for one in self.results.values())

    @property
    def did_pass(self) -> bool:
        return self.outcome is Outcome.PASSED

    def says(self) -> dict[str, bool | None]:
        """Each judgement, without what is told about it."""
        return {name: one.is_correct for name, one in self.results.items()}

    def wrong(self) -> list[str]:
        return [name for name, one in self.results.items() if one.is_correct is not True]


Judge: TypeAlias = Callable[[Drawn, CaseResult], Awaitable[Judged]]


@dataclass(frozen=True)
class Tried:
    """A case that the reference ran on."""

    drawn: Drawn
    actual: CaseResult
    judged: Judged


@dataclass
class Trials:
    """What came of everything a case was tried with."""

    first: Tried
    second: Tried
    idle: Judged = field(default_factory=Judged)
    mutants: list[tuple[Mutant, Judged]] = field(default_factory=list)
    probes: list[Judged] = field(default_factory=list)
    unread: list[Statement] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether the reference is right both times: only then its result can be mutated."""
        return self.first.judged.did_pass and self.second.judged.did_pass

    def wrong_ones(self) -> list[Judged]:
        """Every judgement of a result that is not the reference's."""
        return [self.idle, *(judged for _, judged in self.mutants), *self.probes]


async def try_case(
    first: Tried, second: Tried, judge: Judge, tracked: Iterable[str] = ()
) -> Trials:
    """Try a case with everything there is; `tracked` are the globs of files that are kept."""
    trials = Trials(first, second)
    drawn, right = first.drawn, first.actual
    trials.idle = await judge(drawn, idle_result(drawn.case, right, tracked))
    if not trials.is_sound:
        return trials
    broken = 0
    for mutant in mutants(right, second.actual, also=first.judged.results):
        judged = await judge(drawn, mutant.result)
        trials.mutants.append((mutant, judged))
        broken += judged.error is not None
        if broken >= _MOST_BROKEN:
            return trials
    for _, probe in probes(right, drawn.stated):
        trials.probes.append(await judge(drawn, probe))
        broken += trials.probes[-1].error is not None
        if broken >= _MOST_BROKEN:
            return trials
    if drawn.is_judged_by_expected:
        trials.unread = [
            one
            for one in statements(drawn.expected, right)
            if not await _is_read(one, trials, judge)
        ]
    return trials


async def _is_read(statement: Statement, trials: Trials, judge: Judge) -> bool:
    """Whether another value there changes any judgement, of the right result or of a wrong one.

    A wrong one too, because an option such as a tolerance makes no difference to what is right.
    """
    wrong = trials.mutants[:: max(1, len(trials.mutants) // _WRONG_RESULTS)]
    first = trials.first
    known = [(first.actual, first.judged), *((one.result, judged) for one, judged in wrong)]
    for actual, was in known:
        for other in statement.others:
            drawn = dataclasses.replace(first.drawn, expected=other)
            if _differ(await judge(drawn, actual), was):
                return True
    return False


def _differ(judged: Judged, was: Judged) -> bool:
    return judged.says() != was.says() or (judged.error is None) != (was.error is None)
