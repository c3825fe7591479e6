"""The summary of a run: totals, the verdict in one line, and the exit code. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from assay.model import MISTAKE, NO_SAMPLES, WRONG_INPUT, Outcome, SampleCounts, Share
from assay.reports.text import count, one_line
from assay.runs import Gate, Row, Run

if TYPE_CHECKING:
    from assay.findings import BaselineEntry

# The order of outcomes other than a pass in reports: worst first.
NOT_PASSED = (Outcome.FAILED, Outcome.ERROR, Outcome.UNVERIFIED)
# A run whose first cases have one sample each is not read any further for samples.
_LOOKED_AT = 100


@dataclass(frozen=True)
class Summary:
    """The totals of a run; every case counts once, however many samples it has."""

    name: str
    subject: str
    title: str
    counts: dict[Outcome, int]
    known: int
    failing: int
    mean_score: float
    started: datetime
    finished: datetime | None
    outdated: list[BaselineEntry]
    gate: Gate | None = None
    mistakes: int = 0
    """How many of the errors are mistakes in the cases, and not the machine's."""
    wrong_inputs: int = 0
    """How many of the errors are the user's own: files that could not be used, say."""
    worked: float | None = None
    """Seconds of all passes; None in runs of earlier versions."""
    samples: SampleCounts = NO_SAMPLES
    """The samples of all cases."""
    tried_again: int = 0
    """How many cases ran more than once, because they ended in an error before."""

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def not_passed(self) -> int:
        return self.total - self.counts[Outcome.PASSED]

    @property
    def pass_rate(self) -> float:
        """The share of cases that passed; an error is in the denominator like everything else."""
        return self.counts[Outcome.PASSED] / self.total if self.total else 0.0

    @property
    def share(self) -> Share:
        """The passed cases of all, as the pass rate, with its interval."""
        return Share(self.counts[Outcome.PASSED], self.total)

    @property
    def has_samples(self) -> bool:
        """Return whether a case has more than one sample."""
        return self.samples.taken > self.total

    @property
    def is_finished(self) -> bool:
        return self.finished is not None

    @property
    def duration(self) -> float | None:
        """Seconds that were worked on the run; None while there is no end.

        The time between an interruption and the moment the run was resumed does not count.
        """
        if self.finished is None:
            return None
        if self.worked is not None:
            return self.worked
        # If the clock was set back in between, the value is useless.
        return max(0.0, (self.finished - self.started).total_seconds())

    @property
    def exit_code(self) -> int:
        """Return 0 if all passed, 1 if something is wrong, else 3 for the machine, else 2.

        A run without cases is wrong input. An aborted run has not passed, whatever its results so
        far. Wrong input comes first: part of the request was not tested.
        """
        if self.total == 0 or self.wrong_inputs:
            return 2
        errors = self.counts[Outcome.ERROR]
        if self.gate is not None and self.is_finished:
            if self.gate.is_met:
                return 0
            if self.failing or not errors:
                return 1
        elif self.failing:
            return 1
        if errors > self.mistakes or not self.is_finished:
            return 3
        return 2 if errors else 0

    @property
    def verdict(self) -> str:
        """The exit code as one word."""
        if self.exit_code == 3 and not self.counts[Outcome.ERROR]:
            return "Unfinished"
        if self.exit_code == 0 and self.counts[Outcome.UNVERIFIED]:
            # The subject does not count it as a failure, but it is not a pass either.
            return "Nothing found wrong"
        if self.total == 0:
            return "Nothing was run"
        if self.exit_code == 2:
            return "Wrong input" if self.wrong_inputs else "Mistake"
        return {0: "Passed", 1: "Failed", 3: "Error"}[self.exit_code]

    def verdict_line(self) -> str:
        """Return the whole run in one line."""
        if self.total == 0:
            return f"{self.verdict}: the run has no cases."
        passed = self.counts[Outcome.PASSED]
        # A share of one case would look as if it counted something else, such as its samples.
        share = f" ({percent(self.pass_rate)})" if self.total > 1 else ""
        parts = [f"{passed:,} of {count(self.total, 'case')} passed{share}"]
        parts += [
            f"{self.counts[outcome]:,} {outcome_word(outcome, self.counts[outcome])}"
            for outcome in NOT_PASSED
            if self.counts[outcome]
        ]
        if self.mistakes:
            parts.append(f"{self.mistakes:,} of the errors are mistakes in the cases")
        if self.wrong_inputs:
            parts.append(f"{self.wrong_inputs:,} of them because of wrong input")
        if self.known:
            parts.append(f"{self.known:,} of them accepted by the baseline")
        if self.gate is not None:
            met = "met" if self.gate.is_met else "not met"
            parts.append(f"{one_line(self.gate.name)} is {met}: {one_line(self.gate.reason)}")
        if not self.is_finished:
            parts.append("the run is not finished")
        return f"{self.verdict}: {', '.join(parts)}."

    def to_values(self) -> dict[str, Any]:
        """Return the totals as the JSON report has them."""
        return {
            "cases": self.total,
            **{outcome.value: number for outcome, number in self.counts.items()},
            "mistakes": self.mistakes,
            "known": self.known,
            "failing": self.failing,
            "wrong_inputs": self.wrong_inputs,
            "pass_rate": self.pass_rate,
            "pass_rate_interval": list(self.share.interval) if self.total else None,
            "mean_score": self.mean_score,
            "samples": self.samples.taken,
            "samples_passed": self.samples.passed,
            "samples_failed": self.samples.failed,
            "repeated_requests": self.samples.repeated,
            "tried_again": self.tried_again,
            "seconds": self.duration,
            "gate": None if self.gate is None else self.gate.model_dump(),
            "exit_code": self.exit_code,
            "verdict": self.verdict_line(),
        }


def summarize(run: Run) -> Summary:
    """Summarize a run in one pass over its index."""
    counts, scores = dict.fromkeys(Outcome, 0), 0.0
    for outcome, score in run.scores():
        counts[outcome] += 1
        scores += score
    known, failing = _judge_rows(run, counts)
    samples, tried_again = run.count_samples()
    total = sum(counts.values())
    return Summary(
        name=run.name,
        subject=run.manifest.subject,
        title=run.manifest.title,
        counts=counts,
        known=len(known),
        failing=failing,
        mean_score=scores / total if total else 0.0,
        started=run.manifest.started,
        finished=run.manifest.finished,
        outdated=_find_outdated(run, known),
        gate=run.manifest.gate,
        mistakes=sum(row.code == MISTAKE for row in run.rows(Outcome.ERROR)),
        wrong_inputs=sum(row.code == WRONG_INPUT for row in run.rows(Outcome.ERROR)),
        worked=run.manifest.worked,
        samples=samples,
        tried_again=tried_again,
    )


def count_samples(run: Run) -> Share | None:
    """Return how many of all judged samples passed, if the cases of the run have several.

    It reads every record, so it is for reports that show the number.
    """
    passed = judged = several = 0
    for place, (_, packed) in enumerate(run.all_packed()):
        outcomes = [report["outcome"] for report in packed["reports"]]
        several += len(outcomes) > 1
        if place >= _LOOKED_AT and not several:
            return None
        passed += outcomes.count(Outcome.PASSED.value)
        judged += outcomes.count(Outcome.PASSED.value) + outcomes.count(Outcome.FAILED.value)
    return Share(passed, judged) if several else None


def _judge_rows(run: Run, counts: dict[Outcome, int]) -> tuple[list[Row], int]:
    """Return the cases that the baseline accepts, and how many of the others make the run fail."""
    failing = sum(number for outcome, number in counts.items() if run.fails(outcome))
    if run.baseline is None:
        return [], failing
    # As many as the baseline has at most, so that memory does not grow with the run.
    known = [row for row in run.rows() if run.is_known(row)]
    return known, failing - sum(run.fails(row.outcome) for row in known)


def _find_outdated(run: Run, known: list[Row]) -> list[BaselineEntry]:
    """Return unneeded baseline entries; cases that did not finish are ignored."""
    if run.baseline is None or run.manifest.finished is None:
        return []
    return [
        entry
        for entry in run.baseline.find_outdated(known)
        if _is_reported(run, run.find(entry.case))
    ]


def _is_reported(run: Run, row: Row | None) -> bool:
    if row is None:
        return not run.manifest.is_partial
    return row.outcome is not Outcome.ERROR


def exit_code(run: Run) -> int:
    """Return the exit code that a run deserves."""
    return summarize(run).exit_code


def not_passed_rows(run: Run) -> Iterator[Row]:
    """Yield the cases that did not pass: new findings first, then what the baseline accepts."""
    for outcome in NOT_PASSED:
        yield from (row for row in run.rows(outcome) if not run.is_known(row))
    if run.baseline is not None:
        yield from (row for row in run.rows(*NOT_PASSED) if run.is_known(row))


def percent(rate: float) -> str:
    """Rounded down, so that only all of the cases are 100%."""
    return f"{math.floor(rate * 1000 + 1e-9) / 10:.1f}%"


def describe_interval(share: Share) -> str:
    """Return the limits of a rate, for a table or in brackets after it."""
    return f"{share.interval.low:.1%} to {share.interval.high:.1%}" if share.trials else "–"


def describe_samples(samples: SampleCounts) -> str:
    """Return how many samples passed; a rate only if all of them were taken."""
    text = f"{samples.passed:,} of {count(samples.taken, 'sample')} passed"
    if samples.is_early or samples.share.value is None:
        return text
    judged = samples.share.trials
    of = f" of {judged:,} judged" if judged < samples.taken else ""
    rate = f"{percent(samples.share.value)}{of}, 95% interval {describe_interval(samples.share)}"
    return f"{text} ({rate})"


def describe_retries(row: Row) -> str:
    """Return how often a case ran and how many of its requests were repeated; empty if none."""
    parts = []
    if row.tries > 1:
        parts.append(f"ran {row.tries:,} times, because it ended in an error before")
    if row.samples.repeated:
        parts.append(f"{count(row.samples.repeated, 'request')} repeated")
    return ", ".join(parts)


def outcome_word(outcome: Outcome, number: int) -> str:
    """Return the outcome as a word after a number."""
    return "errors" if outcome is Outcome.ERROR and number != 1 else outcome.value
