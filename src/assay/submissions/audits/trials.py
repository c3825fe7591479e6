"""All trials of a case: two runs of the reference, an empty result, mutants and probes."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

from assay.model import CaseResult, Outcome, VerificationResult, outcome_of
from assay.submissions.audits.changes import MutationKind
from assay.submissions.audits.mutants import ResultMutant, mutants
from assay.submissions.audits.probes import fill_with, place_in, probes
from assay.submissions.audits.statements import Statement, list_statements
from assay.submissions.cases import APIResult, BaseCase, CLIResult
from assay.submissions.protocols import ExpectedCase
from assay.submissions.result_files import decode_files, encode_inputs

# A hanging verifier costs its time limit each time; after this many the rest is skipped.
_MOST_BROKEN = 5
# With how many wrong results an expected value is tried that made no difference to the right one.
_WRONG_RESULTS = 12
# With how many other values it is tried on results that have the value in some place.
_MOST_OTHERS = 3


@dataclass(frozen=True)
class VerifierJudgement:
    """A verifier's judgement of one result, or why there is none."""

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
        """Return each judgement without its diff."""
        return {name: one.is_correct for name, one in self.results.items()}

    def wrong(self) -> list[str]:
        return [name for name, one in self.results.items() if one.is_correct is not True]


Judge: TypeAlias = Callable[[ExpectedCase, CaseResult], Awaitable[VerifierJudgement]]


@dataclass(frozen=True)
class ReferenceTrial:
    """A case that the reference ran on."""

    drawn: ExpectedCase
    actual: CaseResult
    judged: VerifierJudgement


@dataclass
class CaseTrials:
    """The results of all trials of a case."""

    first: ReferenceTrial
    second: ReferenceTrial
    idle: VerifierJudgement = field(default_factory=VerifierJudgement)
    mutants: list[tuple[ResultMutant, VerifierJudgement]] = field(default_factory=list)
    probes: list[VerifierJudgement] = field(default_factory=list)
    is_probed: bool = False
    """Whether all results that are wrong all over were judged."""
    unread: list[Statement] = field(default_factory=list)
    read: list[Statement] = field(default_factory=list)

    @property
    def is_sound(self) -> bool:
        """Whether the reference is correct both times; only then can its result be mutated."""
        return self.first.judged.did_pass and self.second.judged.did_pass

    def wrong_ones(self) -> list[VerifierJudgement]:
        """Return every judgement of a result other than the reference's."""
        return [self.idle, *(judged for _, judged in self.mutants), *self.probes]


async def try_case(
    first: ReferenceTrial,
    second: ReferenceTrial,
    judge: Judge,
    tracked: Iterable[str] = (),
    vocabulary: Collection[str] = (),
) -> CaseTrials:
    """Run all trials of a case.

    `tracked` are the globs of files that are kept, `vocabulary` the words in the verifier's code.
    """
    trials = CaseTrials(first, second)
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
    broken = 0
    for _, probe in probes(right, drawn.stated, vocabulary):
        trials.probes.append(await judge(drawn, probe))
        broken += trials.probes[-1].error is not None
        if broken >= _MOST_BROKEN:
            break
    trials.is_probed = broken == 0
    if drawn.is_judged_by_expected:
        for one in list_statements(drawn.expected, right, vocabulary):
            is_read = await _is_read(one, trials, judge)
            (trials.read if is_read else trials.unread).append(one)
    return trials


async def _is_read(statement: Statement, trials: CaseTrials, judge: Judge) -> bool:
    """Return whether another value there changes any judgement, of correct or wrong results.

    Wrong results too, because an option such as a tolerance makes no difference to correct ones.
    And results that have the value, or one of the type it names: a permission makes no difference
    to a result that does not need it.
    """
    wrong = trials.mutants[:: max(1, len(trials.mutants) // _WRONG_RESULTS)]
    first = trials.first
    known = [(first.actual, first.judged), *((one.result, judged) for one, judged in wrong)]
    for actual, was in known:
        for other in statement.others:
            if _differ(await _judge_by(other, actual, first, judge), was):
                return True
    for actual in _with_value(statement, trials):
        was = await judge(first.drawn, actual)
        for other in statement.others[:_MOST_OTHERS]:
            if _differ(await _judge_by(other, actual, first, judge), was):
                return True
    return False


async def _judge_by(
    expected: CaseResult, actual: CaseResult, first: ReferenceTrial, judge: Judge
) -> VerifierJudgement:
    return await judge(dataclasses.replace(first.drawn, expected=expected), actual)


def _with_value(statement: Statement, trials: CaseTrials) -> Iterator[CaseResult]:
    """Yield the correct result, and those with another status, with the value in each place."""
    right = trials.first.actual
    others = [one.result for one, _ in trials.mutants if one.kind is MutationKind.WRONG_STATUS]
    for value in statement.list_meanings():
        for base in (right, *others):
            yield fill_with(base, value)
        yield from place_in(right, value)


def _differ(judged: VerifierJudgement, was: VerifierJudgement) -> bool:
    return judged.says() != was.says() or (judged.error is None) != (was.error is None)


def idle_result(case: BaseCase, right: CaseResult, tracked: Iterable[str] = ()) -> CaseResult:
    """Return the result of a command that prints nothing, or of a server that only answers 200.

    Nothing is run for it. Tracked input files, selected by these globs or because the correct
    result has them, are returned unchanged.
    """
    about: dict[str, Any] = {
        "id": right.id,
        "group": right.group,
        "group_type": right.group_type,
        "resource_path": right.resource_path,
        "files": _find_untouched(case, right, tracked),
    }
    if isinstance(right, APIResult):
        return APIResult(**about, method=right.method, status_code=200, output=_empty(right.output))
    if isinstance(right, CLIResult):
        about["command"] = right.command
        return CLIResult(**about, status_code=0, output=_empty(right.output), stderr="")
    return CaseResult(**about, output=_empty(right.output))


def _empty(output: Any) -> str | bytes:
    """Return an empty output as an adapter gives it: text that is not JSON stays text."""
    return b"" if isinstance(output, bytes) else ""


def _find_untouched(case: BaseCase, right: CaseResult, tracked: Iterable[str]) -> dict[str, Any]:
    patterns = [*tracked, *(right.files if isinstance(right.files, dict) else ())]
    return decode_files(
        {
            name: content
            for name, content in encode_inputs(case).items()
            if any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)
        }
    )
