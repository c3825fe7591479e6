"""From the samples of a run to modes of failure, for a person and for programs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from assay.agents.assessor.modes import CheckName, FailedCheck, Mode, find_modes
from assay.agents.records import repeated_requests
from assay.model import (
    WRONG_INPUT,
    AttributeResult,
    CaseRecord,
    Interval,
    Outcome,
    VerifierReport,
    values,
    wilson,
)
from assay.reports import code_span, one_line

_NAME = re.compile(r"(\d+)\.(.*?)(?:\[\d+\])?")


@dataclass(frozen=True)
class Assessment:
    """How a test's samples ended, and the ways in which they failed."""

    test: str
    passes: int
    judged: int
    """Samples that passed or failed; errors and open ones say nothing about the agent."""
    errors: int
    unverified: int
    modes: tuple[Mode, ...]
    outages: tuple[tuple[str, int], ...] = ()
    """What the errors were, and how many samples each cost."""
    repeated: str = ""
    """How many requests failed and were repeated, in words."""
    wrong_input: str = ""
    """Why the test could not be run, if its file is at fault."""
    failures: tuple[FailedCheck, ...] = ()
    """What the modes are made of."""
    judge_error_rate: float | None = None

    @property
    def interval(self) -> Interval:
        return wilson(self.passes, self.judged)


def assess(record: CaseRecord, judge_error_rate: float | None = None) -> Assessment:
    """The assessment of a test of which all samples were taken.

    `judge_error_rate` says how often decisions of the judge are wrong, if that is known.
    """
    outcomes = [report.outcome for report in record.reports]
    judged = [
        (number, report)
        for number, report in enumerate(record.reports, 1)
        if report.outcome in (Outcome.PASSED, Outcome.FAILED)
    ]
    checked = [
        (_check(number, result, report), result.is_correct)
        for number, report in judged
        for result in report.get_verified_attributes()
    ]
    failures = [check for check, is_correct in checked if not is_correct]
    passing: dict[CheckName, set[str]] = defaultdict(set)
    for check, is_correct in checked:
        if is_correct:
            passing[check.interaction, check.check].add(check.answer)
    modes = find_modes(failures, len(judged), passing=passing, judge_error_rate=judge_error_rate)
    return Assessment(
        test=record.id,
        passes=outcomes.count(Outcome.PASSED),
        judged=len(judged),
        errors=outcomes.count(Outcome.ERROR),
        unverified=outcomes.count(Outcome.UNVERIFIED),
        modes=tuple(modes),
        outages=_outages(record),
        repeated=repeated_requests(record.reports),
        wrong_input=record.reason if record.code == WRONG_INPUT else "",
        failures=tuple(failures),
        judge_error_rate=judge_error_rate,
    )


def _outages(record: CaseRecord) -> tuple[tuple[str, int], ...]:
    reasons = Counter(report.error for report in record.reports if report.error)
    if record.code == WRONG_INPUT:
        return ()
    if not record.reports and record.outcome is Outcome.ERROR:
        reasons = Counter([record.reason])
    return tuple(sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0])))


def _check(sample: int, result: AttributeResult, report: VerifierReport) -> FailedCheck:
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
            "wrong_input": one.wrong_input,
            "modes": [_mode_values(mode) for mode in one.modes],
        }
        for one in assessments
    ]


def _mode_values(mode: Mode) -> dict[str, Any]:
    errors = mode.judge_errors
    return {
        "title": mode.title,
        "description": mode.description,
        "is_various": mode.is_various,
        "interaction": mode.interaction,
        "check": mode.check,
        "values": list(mode.cause.values),
        "common_words": list(mode.common),
        "samples": list(mode.samples),
        "share": mode.share,
        "interval": list(mode.interval),
        "likelier_culprit": mode.culprit,
        "why": mode.why,
        "judge_errors": errors and {
            "rate": errors.rate, "samples": errors.samples, "share": errors.share,
            "chance": errors.chance,
        },
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
        if one.wrong_input:
            yield "The file cannot be used:"
            yield from (f"- {_inline(line)}" for line in one.wrong_input.splitlines())
            yield ""
            continue
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
        for number, mode in enumerate(one.modes, 1):
            yield ""
            yield from _mode_lines(number, mode)
        yield ""


def _mode_lines(number: int, mode: Mode) -> Iterator[str]:
    title = f": {_inline(mode.title)}" if mode.title else ""
    yield "### Various" if mode.is_various else f"### Mode {number}{title}"
    yield ""
    if mode.is_various:
        yield "These failures are like no other, and no mode."
        yield ""
    elif mode.description:
        yield f"{_inline(mode.description)}"
        yield ""
    yield f"- check: {_inline(mode.check)} of interaction {mode.interaction}"
    wanted = ", ".join(_inline(value) for value in mode.cause.values if value)
    if wanted:
        yield f"- failed for: {wanted}"
    share = f"{mode.share:.0%}, {mode.interval}"
    yield f"- share: {len(mode.samples)} of {mode.total} samples ({share})"
    if mode.common:
        yield f"- its answers share the words: {_inline(' '.join(mode.common))}"
    yield f"- likelier culprit: the {mode.culprit}; {mode.why}"
    if errors := mode.judge_errors:
        yield (
            f"- a judge that is wrong {errors.rate:.1%} of the time would alone fail "
            f"{errors.samples:.1f} of {errors.total} samples: {errors.share:.0%} of the "
            f"{errors.failed} that fail this check; so many or more by chance: {errors.chance:.0%}"
        )
    for one in mode.examples:
        yield f"- sample {one.sample}: {_inline(one.answer or '(nothing)')}"


def _inline(text: str) -> str:
    return code_span(one_line(text))
