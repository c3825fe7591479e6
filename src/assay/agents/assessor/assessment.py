"""From the samples of a run to modes of failure, for a person and for programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assay import values
from assay.agents.assessor.modes import FailedCheck, Mode, find_modes
from assay.agents.records import repeated_requests
from assay.intervals import Interval, wilson
from assay.reports.markup import code_span
from assay.reports.text import one_line
from assay.results import AttributeResult, CaseRecord, Outcome, VerifierReport

_NAME = re.compile(r"(\d+)\.(.*?)(?:\[\d+\])?")


@dataclass(frozen=True)
class Named:
    """A mode with the words a model found for it, if there was one."""

    mode: Mode
    title: str = ""
    description: str = ""


@dataclass(frozen=True)
class Assessment:
    """How a test's samples ended, and the ways in which they failed."""

    test: str
    passes: int
    judged: int
    """Samples that passed or failed; errors and open ones say nothing about the agent."""
    errors: int
    unverified: int
    modes: tuple[Named, ...]
    outages: tuple[tuple[str, int], ...] = ()
    """What the errors were, and how many samples each cost."""
    repeated: str = ""
    """How many requests failed and were repeated, in words."""

    @property
    def interval(self) -> Interval:
        return wilson(self.passes, self.judged)


def assess(record: CaseRecord) -> Assessment:
    """The assessment of a test of which all samples were taken."""
    outcomes = [report.outcome for report in record.reports]
    judged = [
        (number, report)
        for number, report in enumerate(record.reports, 1)
        if report.outcome in (Outcome.PASSED, Outcome.FAILED)
    ]
    failures = [
        failure
        for number, report in judged
        for result in report.get_verified_attributes()
        if (failure := _failure(number, result, report)) is not None
    ]
    return Assessment(
        test=record.id,
        passes=outcomes.count(Outcome.PASSED),
        judged=len(judged),
        errors=outcomes.count(Outcome.ERROR),
        unverified=outcomes.count(Outcome.UNVERIFIED),
        modes=tuple(Named(mode) for mode in find_modes(failures, len(judged))),
        outages=_outages(record),
        repeated=repeated_requests(record.reports),
    )


def _outages(record: CaseRecord) -> tuple[tuple[str, int], ...]:
    reasons = Counter(report.error for report in record.reports if report.error)
    if not record.reports and record.outcome is Outcome.ERROR:
        reasons = Counter([record.reason])
    return tuple(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])))


def _failure(sample: int, result: AttributeResult, report: VerifierReport) -> FailedCheck | None:
    if result.is_correct:
        return None
    name = _NAME.fullmatch(result.attribute)
    interaction, check = (int(name[1]), name[2]) if name else (0, result.attribute)
    disputed = report.case.get("disputed") or ()
    return FailedCheck(
        sample, interaction, check, _text(result.expected), _text(result.actual),
        _text(result.diff), is_disputed=result.attribute in disputed,
    )  # fmt: skip


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else values.encode(value)


def assessment_values(assessments: Iterable[Assessment]) -> list[dict[str, Any]]:
    """The same as JSON."""
    return [
        {
            "test": one.test,
            "passes": one.passes,
            "judged": one.judged,
            "errors": one.errors,
            "outages": [{"reason": reason, "samples": count} for reason, count in one.outages],
            "unverified": one.unverified,
            "repeated": one.repeated,
            "interval": list(one.interval),
            "modes": [_mode_values(named) for named in one.modes],
        }
        for one in assessments
    ]


def _mode_values(named: Named) -> dict[str, Any]:
    mode = named.mode
    return {
        "title": named.title,
        "description": named.description,
        "interaction": mode.interaction,
        "check": mode.check,
        "common_words": list(mode.common),
        "samples": list(mode.samples),
        "share": mode.share,
        "interval": list(mode.interval),
        "likelier_culprit": "test" if mode.is_tests_fault else "agent",
        "why": mode.why,
        "examples": [
            {"sample": one.sample, "answer": one.answer, "expected": one.expected,
             "reason": one.reason}
            for one in mode.examples
        ],
    }  # fmt: skip


def markdown_lines(assessments: Iterable[Assessment]) -> Iterator[str]:
    """The same as Markdown; all text of agents is in code blocks, where it cannot do harm."""
    for one in assessments:
        yield f"## {_inline(one.test)}"
        yield ""
        told = f"{one.errors} errors, {one.unverified} unverified"
        yield (
            f"{one.passes} of {one.judged} judged samples passed "
            f"(95% interval {one.interval}), {told}."
            if one.judged
            else f"No sample could be judged: {told}."
        )
        if one.repeated:
            yield f"- {one.repeated}"
        for reason, count in one.outages:
            yield f"- error in {count} of the samples: {_inline(reason)}"
        for number, named in enumerate(one.modes, 1):
            yield ""
            yield from _mode_lines(number, named)
        yield ""


def _mode_lines(number: int, named: Named) -> Iterator[str]:
    mode = named.mode
    title = f": {_inline(named.title)}" if named.title else ""
    yield f"### Mode {number}{title}"
    yield ""
    if named.description:
        yield f"{_inline(named.description)}"
        yield ""
    yield f"- check: {_inline(mode.check)} of interaction {mode.interaction}"
    share = f"{mode.share:.0%}, {mode.interval}"
    yield f"- share: {len(mode.samples)} of {mode.total} samples ({share})"
    if mode.common:
        yield f"- its answers share the words: {_inline(' '.join(mode.common))}"
    yield f"- likelier culprit: the {'test' if mode.is_tests_fault else 'agent'}; {mode.why}"
    for one in mode.examples:
        expected = f", expected {_inline(one.expected)}" if one.expected else ""
        yield f"- sample {one.sample}: {_inline(one.answer or '(nothing)')}{expected}"


def _inline(text: str) -> str:
    return code_span(one_line(text))
