"""Renders an audit as text, as a page and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay.model import to_json
from assay.reports import (
    Block,
    Cell,
    Code,
    Fold,
    Heading,
    Paint,
    Paragraph,
    Table,
    count,
    draw_outcomes,
    one_line,
    render_page,
)
from assay.submissions.audits.findings import (
    AuditFinding,
    GroupAudit,
    count_kinds,
    list_accepted,
    percent,
    score_of,
)

VERSION = 1
_MOST_CASES = 5
# In a page.
_MOST_LISTED = 50


def render_text(
    problem: str, groups: Sequence[GroupAudit], findings: Sequence[AuditFinding], paint: Paint
) -> Iterator[str]:
    """Yield lines: the numbers of every group, the mutants it accepts, and the findings."""
    yield from _table(groups, paint)
    yield from _lines_of_accepted(groups, paint)
    yield from _lines_of_unjudged(groups, paint)
    yield from _lines_of_restless(groups, paint)
    for finding in findings:
        yield ""
        yield from _finding_lines(finding, paint)
    yield ""
    yield _verdict(problem, groups, findings, paint)


_HEAD = ("group", "cases", "right twice", "do-nothing", "mutants", "rejected", "score")


def _table(groups: Sequence[GroupAudit], paint: Paint) -> Iterator[str]:
    rows = [_HEAD, *(_row(group) for group in groups)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        line = "  ".join(cells).rstrip()
        yield paint(line, "bold") if number == 0 else line


def _row(group: GroupAudit) -> tuple[str, ...]:
    cases = group.cases
    right = sum(not case.failure and not case.flaky for case in cases)
    passed = sum(case.is_idle_right for case in cases)
    rejected, accepted = _counts(group)
    return (
        one_line(group.name),
        f"{len(cases):,}",
        f"{right:,}",
        f"{passed:,} passed" if passed else "fails",
        f"{rejected + accepted:,}",
        f"{rejected:,}",
        percent(group.score),
    )


def _counts(group: GroupAudit) -> tuple[int, int]:
    rejected = sum(len(case.rejected) for case in group.cases)
    return rejected, sum(len(case.accepted) for case in group.cases)


def _lines_of_accepted(groups: Sequence[GroupAudit], paint: Paint) -> Iterator[str]:
    for group in groups:
        kinds = {kind: two for kind, two in count_kinds(group.cases).items() if two[1]}
        if kinds:
            yield ""
            yield f"{paint(one_line(group.name), 'bold')} accepts wrong results:"
        for kind, (made, taken) in kinds.items():
            examples = list_accepted(group.cases, kind, 2)
            shown = "; ".join(f"{case}: {label.where}" for case, label in examples)
            yield f"  {kind.value}: {taken:,} of {made:,}  {paint(one_line(shown), 'dim')}"


def _lines_of_unjudged(groups: Sequence[GroupAudit], paint: Paint) -> Iterator[str]:
    for group in groups:
        by_attribute: dict[str, int] = {}
        for case in group.cases:
            for name in case.unjudged:
                by_attribute[name] = by_attribute.get(name, 0) + 1
        if by_attribute:
            told = ", ".join(
                f"{name} ({count(number, 'case')})" for name, number in by_attribute.items()
            )
            yield ""
            yield f"{paint(one_line(group.name), 'bold')} judges nothing about: {one_line(told)}"


def _lines_of_restless(groups: Sequence[GroupAudit], paint: Paint) -> Iterator[str]:
    for group in groups:
        names = sorted({name for case in group.cases for name in case.restless if not case.flaky})
        if names:
            yield ""
            yield paint(
                f"{one_line(group.name)}: differs between two runs, and is right in both: "
                f"{one_line(', '.join(names))}",
                "dim",
            )


def _finding_lines(finding: AuditFinding, paint: Paint) -> Iterator[str]:
    subject = f" {paint(one_line(finding.subject), 'bold')}" if finding.subject else ""
    code = paint(finding.sort.code, "failed")
    yield f"{code}{subject} in {one_line(finding.group)}: {finding.sort.title}"
    for case, seen in list(finding.cases.items())[:_MOST_CASES]:
        yield f"    {one_line(': '.join(part for part in (case, seen) if part))}"
    if (more := len(finding.cases) - _MOST_CASES) > 0:
        yield paint(f"    … {count(more, 'more case')}", "dim")
    yield paint(f"    {finding.sort.advice}", "dim")


def _verdict(
    problem: str, groups: Sequence[GroupAudit], findings: Sequence[AuditFinding], paint: Paint
) -> str:
    cases = [case for group in groups for case in group.cases]
    score = percent(score_of(cases))
    what = f"{one_line(problem)}: {count(len(cases), 'case')}, mutation score {score}"
    if findings:
        return f"{what}, {paint(count(len(findings), 'finding'), 'failed')}"
    return f"{what}, {paint('no findings', 'passed')}"


def render_html(
    problem: str, groups: Sequence[GroupAudit], findings: Sequence[AuditFinding]
) -> str:
    """Return a self-contained page: mutants by group, what is accepted, and the findings."""
    verdict = _verdict(problem, groups, findings, Paint(False)).partition(": ")[2]
    blocks: list[Block] = [_group_table(groups)]
    for title, several in (
        ("Findings", list(map(_finding_block, findings))),
        ("Wrong results that are accepted", list(_accepted_blocks(groups))),
    ):
        blocks += [Heading(title), *several] if several else []
    return render_page(f"Audit of {problem}", verdict, "failed" if findings else "passed", blocks)


def _group_table(groups: Sequence[GroupAudit]) -> Block:
    rows: list[list[Cell | str]] = []
    for group in groups:
        name, cases, right, idle, mutants, rejected, score = _row(group)
        counts = {"passed": int(rejected.replace(",", "")), "failed": _counts(group)[1]}
        bar = draw_outcomes(counts, title=f"{rejected} of {mutants} mutants were rejected")
        is_idle = idle != "fails"
        rows.append(
            [
                name,
                Cell(cases, is_number=True),
                Cell(right, "" if right == cases else "failed", is_number=True),
                Cell(idle, "failed" if is_idle else ""),
                Cell(f"{rejected} of {mutants} ({score})", chart=bar),
            ]
        )
    head = ("group", "cases", "reference right twice", "doing nothing", "mutants rejected")
    return Table(head, rows, "Mutants by group", has_labels=True)


def _accepted_blocks(groups: Sequence[GroupAudit]) -> Iterator[Block]:
    """Yield for each group which kinds of wrong results it accepts."""
    for group in groups:
        kinds = {kind: two for kind, two in count_kinds(group.cases).items() if two[1]}
        if not kinds:
            continue
        rows: list[list[Cell | str]] = [
            [
                kind.value,
                Cell(f"{taken:,} of {made:,}", "failed", is_number=True),
                "; ".join(
                    f"{case}: {label.where}"
                    for case, label in list_accepted(group.cases, kind, _MOST_CASES)
                ),
            ]
            for kind, (made, taken) in kinds.items()
        ]
        taken = sum(two[1] for two in kinds.values())
        table = Table(("kind of mutant", "accepted", "for example"), rows, has_labels=True)
        yield Fold(f"{group.name} accepts {count(taken, 'wrong result')}", [table], "unverified")


def _finding_block(finding: AuditFinding) -> Block:
    lines = [": ".join(part for part in one if part) for one in finding.cases.items()]
    more = len(lines) - _MOST_LISTED
    shown = [*lines[:_MOST_LISTED], *([f"… {count(more, 'more case')}"] if more > 0 else [])]
    blocks: list[Block] = [Code("\n".join(shown))] if shown else []
    blocks.append(Paragraph(f"What to do: {finding.sort.advice}."))
    title = " ".join(filter(None, [finding.sort.code, finding.subject, "in", finding.group]))
    return Fold(title, blocks, "failed", note=finding.sort.title)


def render_values(
    problem: str, groups: Sequence[GroupAudit], findings: Sequence[AuditFinding], min_score: float
) -> dict[str, Any]:
    """Return the audit as JSON values."""
    cases = [case for group in groups for case in group.cases]
    return {
        "version": VERSION,
        "problem": problem,
        "score": score_of(cases),
        "min_score": min_score,
        "groups": [_group_values(group) for group in groups],
        "findings": [
            {
                "code": finding.sort.code,
                "group": finding.group,
                "subject": finding.subject,
                "what": finding.sort.title,
                "advice": finding.sort.advice,
                "cases": dict(finding.cases),
            }
            for finding in findings
        ],
    }


def _group_values(group: GroupAudit) -> dict[str, Any]:
    rejected, accepted = _counts(group)
    cases = group.cases
    return {
        "checkpoint": group.checkpoint,
        "group": group.group,
        "type": group.type,
        "cases": len(cases),
        "right_twice": sum(not case.failure and not case.flaky for case in cases),
        "do_nothing_passed": sum(case.is_idle_right for case in cases),
        "mutants": rejected + accepted,
        "rejected": rejected,
        "score": group.score,
        "kinds": {
            kind.value: {"mutants": made, "accepted": taken}
            for kind, (made, taken) in count_kinds(cases).items()
        },
        "accepted": [
            {"case": case.id, "kind": label.kind.value, "where": label.where}
            for case in cases
            for label in case.accepted
        ],
        "unreadable": [
            {
                "case": case.id,
                "what": label,
                "error": one.error,
                "attribute": one.attribute,
                "value": to_json(one.value),
            }
            for case in cases
            for label, one in case.breaks.items()
        ],
        "unjudged": {case.id: list(case.unjudged) for case in cases if case.unjudged},
    }
