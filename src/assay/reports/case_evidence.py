"""The evidence of a case as HTML, and an overview of a run, as its subject has them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING

from assay.model import AttributeResult, CaseRecord, Outcome, VerifierReport
from assay.reports.blocks import (
    Badge,
    Block,
    Code,
    Facts,
    Fold,
    Panel,
    Paragraph,
    Sides,
    Tone,
)
from assay.reports.blocks_html import BlockLimits, render_blocks
from assay.reports.markup import Html, element
from assay.reports.subjects import MISSHAPEN, find_function
from assay.reports.text import seconds, show_command
from assay.reports.value_blocks import (
    describe_comparison,
    describe_difference,
    describe_right,
    describe_value,
)

if TYPE_CHECKING:
    from assay.runs import Row, Run

_FULL = BlockLimits()
_NAMING = frozenset({"id", "group", "group_type", "type", "elapsed"})
_NOTHING: tuple[object, ...] = (None, "", 0, False, [], {})


def render_evidence(run: Run, row: Row, limits: BlockLimits = _FULL) -> Html:
    """Return one case with all its evidence as HTML, without its id.

    It has no script and no style of its own; `page_style` returns the style sheet.
    """
    return render_record(run, run.read(row), limits, is_known=run.is_known(row))


def render_record(run: Run, record: CaseRecord, limits: BlockLimits, *, is_known: bool) -> Html:
    """Return the same for a record that was read already."""
    more = f"See all of it with {show_command(run, record.id)}"
    known = [("known", "accepted by the baseline")] if is_known else []
    facts = [*known, *_list_facts(record)]
    reason = [Paragraph(record.reason, record.outcome.value)] if record.reason else []
    describe = find_function("blocks", run) or describe_reports
    try:
        blocks = _merge_facts(facts, describe(run, record))
        body = render_blocks([*reason, *blocks], limits, more)
    except MISSHAPEN:
        blocks = _merge_facts(facts, describe_reports(run, record))
        body = render_blocks([*reason, *blocks], limits, more)
    return element("div", body, class_="evidence")


def render_overview(run: Run, limits: BlockLimits = _FULL) -> Html:
    """Return what the cases of a run add up to by the rules of its subject; may be empty."""
    describe = find_function("overview", run)
    try:
        body = render_blocks(describe(run), limits) if describe is not None else Html("")
    except MISSHAPEN:
        return Html("")
    return element("div", body, class_="evidence") if body else body


def _list_facts(record: CaseRecord) -> Iterator[tuple[str, str]]:
    if record.code and record.code != record.outcome.value:
        yield "code", record.code
    yield "took", seconds(record.duration)
    if record.usage:
        yield "used", ", ".join(f"{name} {amount:g}" for name, amount in record.usage.items())


def _merge_facts(facts: list[tuple[str, str]], blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield blocks with the facts of every subject behind those that the subject begins with."""
    several = iter(blocks)
    first = next(several, None)
    own = list(first.items) if isinstance(first, Facts) else []
    yield Facts([*own, *facts])
    if first is not None and not isinstance(first, Facts):
        yield first
    yield from several


def describe_reports(run: Run, record: CaseRecord) -> Iterator[Block]:
    """Yield every report of a case, for subjects without a description of their own."""
    reports = record.reports
    if reports and reports[0].group:
        yield Facts([("group", reports[0].group)])
    if len(reports) == 1:
        yield from describe_report(reports[0])
    for number, report in enumerate(reports if len(reports) > 1 else (), 1):
        is_first_bad = report.outcome is not Outcome.PASSED and all(
            one.outcome is Outcome.PASSED for one in reports[: number - 1]
        )
        yield Fold(
            f"Sample {number} of {len(reports)}",
            describe_report(report),
            badges=[Badge(report.outcome.value, report.outcome.value)],
            note=seconds(max(report.duration, 0.0)),
            is_open=is_first_bad,
        )
    if reports and (
        case := {name: one for name, one in reports[0].case.items() if one is not None}
    ):
        yield Fold("the case", [describe_value(case)])
    if record.detail is not None:
        yield Fold("detail", [describe_value(record.detail)])


def describe_report(report: VerifierReport) -> Iterator[Block]:
    """Yield why nothing could be verified, what is wrong, and folded what is not."""
    if report.error:
        yield Code(report.error, tone="error")
    yield from describe_wrong(report)
    yield from describe_rest(report, _NAMING)


def describe_wrong(report: VerifierReport) -> Iterator[Block]:
    """Yield what is not as expected, and what could not be decided."""
    for result in report.results.values():
        if result.is_correct is False or result.is_undecided:
            yield describe_attribute(result)


def describe_rest(report: VerifierReport, left_out: Container[str] = ()) -> Iterator[Block]:
    """Yield, folded, what is right and what was not checked; after a failure it may explain it."""
    results = list(report.results.values())
    if right := [one for one in results if one.is_correct]:
        names = ", ".join(one.attribute for one in right)
        yield Fold(f"{len(right)} right: {names}", map(describe_attribute, right))
    unchecked = [
        one
        for one in results
        if one.is_correct is None and not one.is_undecided
        and one.attribute not in left_out and one.actual not in _NOTHING
    ]  # fmt: skip
    if unchecked:
        names = ", ".join(one.attribute for one in unchecked)
        values = [(one.attribute, [describe_value(one.actual)]) for one in unchecked]
        yield Fold(
            f"{len(unchecked)} not checked: {names}",
            [Sides([one]) for one in values],
            is_open=not report.did_pass() and len(unchecked) == 1,
        )


def describe_attribute(result: AttributeResult) -> Panel:
    """Return a result with both values beside each other, and their difference."""
    tone: Tone = "unverified"
    if result.is_correct is not None:
        tone = "passed" if result.is_correct else "failed"
    word = {"failed": "not as expected", "passed": "right"}.get(tone, "undecided")
    blocks: list[Block] = []
    if result.is_correct:
        blocks += describe_right(result.expected, result.actual, result.diff)
    elif result.actual is not None or result.expected is not None:
        blocks += describe_comparison(result.expected, result.actual, result.diff)
    else:
        blocks += describe_difference(result.diff)
    note = "" if result.weight == 1 else f"weight {result.weight:g}"
    return Panel(result.attribute, blocks, tone, [Badge(word, tone)], note=note)
