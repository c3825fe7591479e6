"""Compares two runs of a subject: case by case, as rates, by finding, by samples and in time.

Both runs are read one case at a time; of what grows with them only a limited number is kept.
"""

from __future__ import annotations

import heapq
import math
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias

from assay.errors import InputError
from assay.model import (
    NO_SAMPLES,
    SIGNIFICANT,
    Difference,
    Outcome,
    PairedTable,
    SampleCounts,
    Share,
    adjust_chances,
    compare_pairs,
    compare_shares,
    compute_fisher,
    compute_mcnemar,
)
from assay.runs.folder import Run
from assay.runs.index import Row

SCORE_TOLERANCE = 1e-9
LISTED = 1_000
"""How many cases of each kind of change, flips of codes and sampled tests a comparison holds."""
EXTREMES = 5
"""How many of the cases that became slower or faster it holds."""
NOTICEABLE = 0.1
"""Seconds by which a case must be slower or faster to be among these."""

FailOn: TypeAlias = Literal["regression", "significant", "none"]


class ChangeKind(StrEnum):
    """What became of a case, the worst first."""

    NEWLY_FAILING = "newly_failing"
    NEWLY_ERRORED = "newly_errored"
    FINDING_CHANGED = "finding_changed"
    """It ends with another finding, and neither newly fails nor newly passes."""
    NEWLY_PASSING = "newly_passing"
    SCORE_CHANGED = "score_changed"
    ADDED = "added"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


class CaseChange(NamedTuple):
    """A case in both runs; `before` is None for a new one, `after` for one that is gone."""

    kind: ChangeKind
    before: Row | None
    after: Row | None

    @property
    def id(self) -> str:
        row = self.after or self.before
        assert row is not None
        return row.id

    def to_values(self) -> dict[str, Any]:
        """Return the change as JSON has it."""
        sides = {"before": self.before, "after": self.after}
        return {
            "case": self.id,
            "kind": self.kind.value,
            **{name: None if row is None else _row_values(row) for name, row in sides.items()},
        }


def _row_values(row: Row) -> dict[str, Any]:
    values: dict[str, Any] = {
        "outcome": row.outcome.value,
        "code": row.code,
        "score": row.score,
        "duration": row.duration,
    }
    if row.samples.taken > 1:
        early = {"is_early": row.samples.is_early}
        values["samples"] = {**row.samples.share.to_values(), "taken": row.samples.taken, **early}
    return values


class ComparedRun(NamedTuple):
    """What a comparison says about one of its runs."""

    name: str
    path: str
    title: str
    started: str
    is_finished: bool
    cases: int


class CodeFlip(NamedTuple):
    """How many cases went from one finding to another."""

    before: str
    after: str
    cases: int


class SampledTest(NamedTuple):
    """A test of which both runs took all samples."""

    id: str
    before: Share
    after: Share
    chance: float
    """Of a difference this large if nothing changed, by Fisher's exact test."""
    adjusted: float
    """The same, given that many tests were compared at once."""

    @property
    def difference(self) -> Difference:
        return compare_shares(self.before, self.after)

    @property
    def is_worse(self) -> bool:
        """Return whether its rate fell by more than chance explains."""
        return self.adjusted < SIGNIFICANT and (self.difference.value or 0.0) < 0

    def to_values(self) -> dict[str, Any]:
        """Return the test as JSON has it."""
        return {
            "case": self.id,
            "before": self.before.to_values(),
            "after": self.after.to_values(),
            "difference": self.difference.to_values(),
            "p": self.chance,
            "p_adjusted": self.adjusted,
        }


class DurationChange(NamedTuple):
    """A case and how many seconds it took in both runs."""

    id: str
    before: float
    after: float


@dataclass(frozen=True)
class Durations:
    """The seconds of the cases that ended without an error in both runs."""

    cases: int = 0
    before: float = 0.0
    after: float = 0.0
    ratio: float | None = None
    """How many times as long the typical case took: the geometric mean of all ratios."""
    slower: tuple[DurationChange, ...] = ()
    faster: tuple[DurationChange, ...] = ()

    def to_values(self) -> dict[str, Any]:
        """Return the durations as JSON has them."""
        return {
            "cases": self.cases,
            "before": self.before,
            "after": self.after,
            "typical_ratio": self.ratio,
            "slower": [_duration_values(each) for each in self.slower],
            "faster": [_duration_values(each) for each in self.faster],
        }


def _duration_values(change: DurationChange) -> dict[str, Any]:
    return {"case": change.id, "before": change.before, "after": change.after}


@dataclass(frozen=True)
class RunComparison:
    """Two runs of a subject, compared."""

    subject: str
    before: ComparedRun
    after: ComparedRun
    counts: dict[ChangeKind, int]
    changes: dict[ChangeKind, list[CaseChange]]
    """The first cases of each kind; `list_changes` yields all."""
    table: PairedTable
    """The cases that both runs judged."""
    errors: int
    """How many cases of both runs ended in an error in one of them, and are not in the table."""
    undecided: int
    """How many of the others were unverified in one of them, where that is no failure."""
    flips: list[CodeFlip]
    other_flips: int
    tests: list[SampledTest]
    """Those of which both runs took all samples, the least likely by chance first."""
    tested: int
    early: int
    """How many tests have no rate because a verdict was certain before all samples were taken."""
    samples: tuple[SampleCounts, SampleCounts]
    """All samples of the cases that are in both runs."""
    durations: Durations
    changed_inputs: int
    """How many cases have another fingerprint: the case, its settings or the subject changed."""

    @property
    def chance(self) -> float:
        """Return how likely such a table is by chance: McNemar's exact test."""
        return compute_mcnemar(self.table.lost, self.table.gained)

    @property
    def difference(self) -> Difference:
        """Return by how much the rate of passing cases rose."""
        return compare_pairs(self.table)

    @property
    def is_worse(self) -> bool:
        """Return whether the rate, or that of a test, fell by more than chance explains."""
        fell = self.table.lost > self.table.gained and self.chance < SIGNIFICANT
        return fell or any(test.is_worse for test in self.tests)

    @property
    def is_complete(self) -> bool:
        return self.before.is_finished and self.after.is_finished

    @property
    def unchanged(self) -> int:
        return self.counts[ChangeKind.UNCHANGED]

    def exit_code(self, fail_on: FailOn = "regression") -> int:
        """Return 1 for a regression, 3 if an error or an unfinished run hides what is the case.

        A regression is a case that newly fails; with `significant`, a rate that fell by more than
        chance explains.
        """
        if fail_on == "none":
            return 0
        if self.is_worse if fail_on == "significant" else self.counts[ChangeKind.NEWLY_FAILING]:
            return 1
        is_empty = self.errors > 0 and sum(self.table) == 0
        has_errors = self.counts[ChangeKind.NEWLY_ERRORED] > 0
        return 3 if has_errors or is_empty or not self.is_complete else 0

    def to_values(self, fail_on: FailOn = "regression") -> dict[str, Any]:
        """Return the comparison as JSON has it, without the single cases."""
        before, after = self.samples
        return {
            "subject": self.subject,
            "before": self.before._asdict(),
            "after": self.after._asdict(),
            "is_complete": self.is_complete,
            "counts": {kind.value: count for kind, count in self.counts.items()},
            "rates": {
                "before": self.table.before.to_values(),
                "after": self.table.after.to_values(),
                "difference": self.difference.to_values(),
                "lost": self.table.lost,
                "gained": self.table.gained,
                "p": self.chance,
                "left_out": {"errors": self.errors, "undecided": self.undecided},
            },
            "flips": [flip._asdict() for flip in self.flips],
            "other_flips": self.other_flips,
            "samples": {"before": before._asdict(), "after": after._asdict()},
            "tests": [test.to_values() for test in self.tests],
            "tested": self.tested,
            "tests_without_rate": self.early,
            "durations": self.durations.to_values(),
            "changed_inputs": self.changed_inputs,
            "fail_on": fail_on,
            "exit_code": self.exit_code(fail_on),
        }


def compare_runs(
    before: Run | str | os.PathLike[str], after: Run | str | os.PathLike[str]
) -> RunComparison:
    """Compare two runs of the same subject by case id.

    Runs are given as such, or as the path of their folder.
    """
    first = before if isinstance(before, Run) else Run(before)
    second = after if isinstance(after, Run) else Run(after)
    _check_comparable(first, second)
    tally = _Tally(first, second)
    for earlier, later in _pair_rows(first, second):
        tally.add(earlier, later)
    if tally.common == 0:
        raise InputError(
            f"{first.path} and {second.path} have no case in common",
            advice="compare two runs of the same cases; see: assay runs list",
        )
    return tally.finish()


def _check_comparable(before: Run, after: Run) -> None:
    """Raise InputError if the runs are about different things."""
    subjects = before.manifest.subject, after.manifest.subject
    if subjects[0] != subjects[1]:
        raise InputError(
            f"{before.path} is a run of {subjects[0]} and {after.path} is one of {subjects[1]}",
            advice="compare two runs of the same command; see: assay runs list",
        )


def list_changes(before: Run, after: Run) -> Iterator[CaseChange]:
    """Yield every case that changed: those of the later run in order, then those removed."""
    for earlier, later in _pair_rows(before, after):
        kind = _classify(before, after, earlier, later)
        if kind is not ChangeKind.UNCHANGED:
            yield CaseChange(kind, earlier, later)


def _pair_rows(before: Run, after: Run) -> Iterator[tuple[Row | None, Row | None]]:
    for row in after.rows():
        yield before.find(row.id), row
    for row in before.rows():
        if after.find(row.id) is None:
            yield row, None


def _classify(before: Run, after: Run, earlier: Row | None, later: Row | None) -> ChangeKind:
    if later is None:
        return ChangeKind.REMOVED
    fails, is_error = after.fails(later.outcome), later.outcome is Outcome.ERROR
    if earlier is None:
        if fails:
            return ChangeKind.NEWLY_FAILING
        return ChangeKind.NEWLY_ERRORED if is_error else ChangeKind.ADDED
    newly_wrong = later.outcome is Outcome.FAILED and earlier.outcome is not Outcome.FAILED
    if newly_wrong or (fails and not before.fails(earlier.outcome)):
        return ChangeKind.NEWLY_FAILING
    if is_error and earlier.outcome is not Outcome.ERROR:
        return ChangeKind.NEWLY_ERRORED
    if later.outcome is Outcome.PASSED and earlier.outcome is not Outcome.PASSED:
        return ChangeKind.NEWLY_PASSING
    if (earlier.outcome, earlier.code) != (later.outcome, later.code):
        return ChangeKind.FINDING_CHANGED
    if abs(later.score - earlier.score) > SCORE_TOLERANCE:
        return ChangeKind.SCORE_CHANGED
    return ChangeKind.UNCHANGED


def name_finding(subject: str, row: Row) -> str:
    """Return what a case ended with, in words: its verdict, or its outcome and what was wrong."""
    outcome, code = row.outcome.value, row.code
    if not code or code == outcome:
        return outcome
    if subject == "questions":
        return code.capitalize()
    return code if code.startswith(outcome) else f"{outcome}: {code}"


def _is_pass(run: Run, row: Row) -> bool | None:
    """Return whether a case passed; None if it says nothing about the subject."""
    if row.outcome is Outcome.PASSED:
        return True
    return False if run.fails(row.outcome) else None


@dataclass
class _Tally:
    """What has been counted so far."""

    before: Run
    after: Run
    common: int = 0
    counts: Counter[ChangeKind] = field(default_factory=Counter)
    changes: dict[ChangeKind, list[CaseChange]] = field(default_factory=dict)
    table: Counter[tuple[bool, bool]] = field(default_factory=Counter)
    errors: int = 0
    undecided: int = 0
    changed_inputs: int = 0
    flips: Counter[tuple[str, str]] = field(default_factory=Counter)
    other_flips: int = 0

    def __post_init__(self) -> None:
        self._durations = _DurationTally()
        self._samples = _SampleTally()

    def add(self, earlier: Row | None, later: Row | None) -> None:
        kind = _classify(self.before, self.after, earlier, later)
        self.counts[kind] += 1
        if kind is not ChangeKind.UNCHANGED:
            listed = self.changes.setdefault(kind, [])
            if len(listed) < LISTED:
                listed.append(CaseChange(kind, earlier, later))
        if earlier is not None and later is not None:
            self._add_pair(earlier, later)

    def _add_pair(self, earlier: Row, later: Row) -> None:
        self.common += 1
        self.changed_inputs += earlier.fingerprint != later.fingerprint
        self._add_flip(earlier, later)
        self._samples.add(earlier, later)
        if Outcome.ERROR in (earlier.outcome, later.outcome):
            self.errors += 1
            return
        self._durations.add(earlier, later)
        passed = _is_pass(self.before, earlier), _is_pass(self.after, later)
        if passed[0] is None or passed[1] is None:
            self.undecided += 1
        else:
            self.table[passed[0], passed[1]] += 1

    def _add_flip(self, earlier: Row, later: Row) -> None:
        subject = self.after.manifest.subject
        flip = name_finding(subject, earlier), name_finding(subject, later)
        if flip[0] == flip[1]:
            return
        # Codes may be as many as the cases: the checks that failed, for example.
        if flip in self.flips or len(self.flips) < LISTED:
            self.flips[flip] += 1
        else:
            self.other_flips += 1

    def finish(self) -> RunComparison:
        tests, tested, early, samples = self._samples.finish()
        table = self.table
        return RunComparison(
            subject=self.after.manifest.subject,
            before=_describe(self.before),
            after=_describe(self.after),
            counts={kind: self.counts[kind] for kind in ChangeKind},
            changes={kind: self.changes.get(kind, []) for kind in ChangeKind},
            table=PairedTable(
                table[True, True], table[True, False], table[False, True], table[False, False]
            ),
            errors=self.errors,
            undecided=self.undecided,
            flips=[CodeFlip(*flip, count) for flip, count in self.flips.most_common()],
            other_flips=self.other_flips,
            tests=tests,
            tested=tested,
            early=early,
            samples=samples,
            durations=self._durations.finish(),
            changed_inputs=self.changed_inputs,
        )


def _describe(run: Run) -> ComparedRun:
    manifest = run.manifest
    return ComparedRun(
        name=run.name,
        path=str(run.path),
        title=manifest.title,
        started=manifest.started.isoformat(),
        is_finished=manifest.finished is not None,
        cases=sum(run.counts().values()),
    )


class _SampleTally:
    """Tests with several samples; the least likely by chance are kept."""

    def __init__(self) -> None:
        # The order of a heap: the largest chance first, so that it is the one to go.
        self._heap: list[tuple[float, int, SampledTest]] = []
        self._tested = 0
        self._early = 0
        self._sums = [NO_SAMPLES, NO_SAMPLES]

    def add(self, earlier: Row, later: Row) -> None:
        rows = earlier, later
        self._sums = [_add_counts(s, row.samples) for s, row in zip(self._sums, rows, strict=True)]
        if max(row.samples.taken for row in rows) < 2:
            return
        before, after = (row.samples.share for row in rows)
        if any(row.samples.is_early for row in rows):
            self._early += 1
        elif before.trials and after.trials:
            self._tested += 1
            chance = compute_fisher(before, after)
            test = SampledTest(later.id, before, after, chance, 1.0)
            entry = -chance, self._tested, test
            if len(self._heap) < LISTED:
                heapq.heappush(self._heap, entry)
            else:
                heapq.heappushpop(self._heap, entry)

    def finish(self) -> tuple[list[SampledTest], int, int, tuple[SampleCounts, SampleCounts]]:
        tests = [test for *_, test in sorted(self._heap, key=lambda entry: (-entry[0], entry[1]))]
        adjusted = adjust_chances([test.chance for test in tests], self._tested)
        tests = [
            test._replace(adjusted=chance) for test, chance in zip(tests, adjusted, strict=True)
        ]
        return tests, self._tested, self._early, (self._sums[0], self._sums[1])


def _add_counts(first: SampleCounts, second: SampleCounts) -> SampleCounts:
    return SampleCounts(
        first.taken + second.taken,
        first.passed + second.passed,
        first.failed + second.failed,
        first.is_early or second.is_early,
        first.repeated + second.repeated,
    )


class _DurationTally:
    """The seconds of cases in both runs."""

    def __init__(self) -> None:
        self._cases = self._ratios = 0
        self._before = self._after = self._logarithms = 0.0
        self._slower: list[tuple[float, int, DurationChange]] = []
        self._faster: list[tuple[float, int, DurationChange]] = []

    def add(self, earlier: Row, later: Row) -> None:
        before, after = earlier.duration, later.duration
        self._cases += 1
        self._before += before
        self._after += after
        if before > 0 and after > 0:
            self._ratios += 1
            self._logarithms += math.log(after) - math.log(before)
        change = DurationChange(later.id, before, after)
        _keep_largest(self._slower, after - before, self._cases, change)
        _keep_largest(self._faster, before - after, self._cases, change)

    def finish(self) -> Durations:
        return Durations(
            self._cases,
            self._before,
            self._after,
            math.exp(self._logarithms / self._ratios) if self._ratios else None,
            tuple(change for *_, change in sorted(self._slower, reverse=True)),
            tuple(change for *_, change in sorted(self._faster, reverse=True)),
        )


def _keep_largest(
    heap: list[tuple[float, int, DurationChange]], seconds: float, place: int, one: DurationChange
) -> None:
    if seconds < NOTICEABLE:
        return
    if len(heap) < EXTREMES:
        heapq.heappush(heap, (seconds, -place, one))
    elif seconds > heap[0][0]:
        heapq.heapreplace(heap, (seconds, -place, one))
