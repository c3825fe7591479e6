"""The evidence of one case of a run as HTML, described by its subject.

A subject that has more to show than the results of its reports names a function in `_DESCRIBED_BY`
that returns blocks. It is imported when one of its cases is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from assay.model import AttributeResult, CaseRecord, Outcome, VerifierReport
from assay.reports.blocks import Badge, Block, Code, Facts, Fold, Panel, Paragraph, Sides, Tone
from assay.reports.blocks_html import BlockLimits, render_blocks
from assay.reports.markup import Html, element
from assay.reports.text import seconds, show_command, show_diff, show_value

if TYPE_CHECKING:
    from assay.runs import Row, Run

Describe: TypeAlias = "Callable[[Run, CaseRecord], Iterable[Block]]"

# The function that describes a case of a run, by the subject of the run.
_DESCRIBED_BY: dict[str, str] = {}

_FULL = BlockLimits()


def render_evidence(run: Run, row: Row, limits: BlockLimits = _FULL) -> Html:
    """Return one case with all its evidence as HTML, without its id.

    It has no script and no style of its own; `page_style` returns the style sheet.
    """
    return render_record(run, run.read(row), limits, is_known=run.is_known(row))


def render_record(run: Run, record: CaseRecord, limits: BlockLimits, *, is_known: bool) -> Html:
    """Return the same for a record that was read already."""
    more = f"See all of it with {show_command(run, record.id)}"
    blocks = describe_case(run, record, is_known=is_known)
    return element("div", render_blocks(blocks, limits, more), class_="evidence")


def describe_case(run: Run, record: CaseRecord, *, is_known: bool = False) -> Iterator[Block]:
    """Yield the blocks of a case: how it ended, and what its subject shows."""
    yield Facts(list(_list_facts(record, is_known=is_known)))
    if record.reason:
        yield Paragraph(record.reason, record.outcome.value)
    yield from _find_description(run)(run, record)


def _list_facts(record: CaseRecord, *, is_known: bool) -> Iterator[tuple[str, str]]:
    yield "outcome", record.outcome.value + (" (accepted by the baseline)" if is_known else "")
    if record.reports and record.reports[0].group:
        yield "group", record.reports[0].group
    if record.code and record.code != record.outcome.value:
        yield "code", record.code
    yield "took", seconds(record.duration)
    if record.usage:
        yield "used", ", ".join(f"{name} {amount:g}" for name, amount in record.usage.items())


def _find_description(run: Run) -> Describe:
    if (source := _DESCRIBED_BY.get(run.manifest.subject)) is None:
        return describe_reports
    module, _, function = source.partition(":")
    found: Describe = getattr(import_module(module), function)
    return found


def describe_reports(run: Run, record: CaseRecord) -> Iterator[Block]:
    """Yield every report of a case, for subjects without a description of their own."""
    reports = record.reports
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
    if reports and reports[0].case:
        yield Fold("the case", [Code(show_value(reports[0].case), "json")])
    if record.detail is not None:
        yield Fold("detail", [Code(show_value(record.detail), "json")])


def describe_report(report: VerifierReport) -> Iterator[Block]:
    """Yield why nothing could be verified, what is wrong, and folded what is right."""
    if report.error:
        yield Code(report.error, tone="error")
    results = list(report.results.values())
    for result in results:
        if result.is_correct is False or result.is_undecided:
            yield describe_attribute(result)
    if right := [one for one in results if one.is_correct]:
        names = ", ".join(one.attribute for one in right)
        yield Fold(f"{len(right)} right: {names}", map(describe_attribute, right))


def describe_attribute(result: AttributeResult) -> Panel:
    """Return a result with both values beside each other, and their difference."""
    tone: Tone = "unverified" if result.is_correct is None else (
        "passed" if result.is_correct else "failed")  # fmt: skip
    word = {"failed": "not as expected", "passed": "right"}.get(tone, "undecided")
    blocks: list[Block] = []
    if result.actual is not None or result.expected is not None:
        sides = (("expected", result.expected), ("actual", result.actual))
        blocks.append(Sides([(name, [Code(show_value(value))]) for name, value in sides]))
    if result.diff not in (None, "", [], {}):
        blocks.append(Code(show_diff(result.diff), "diff", "diff"))
    return Panel(result.attribute, blocks, tone, note=f"{word}, weight {result.weight:g}")
