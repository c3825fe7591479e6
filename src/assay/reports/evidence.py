"""The evidence of a case, limited in size, as indented lines of plain text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay.escaping import escape_hidden
from assay.model import AttributeResult, CaseRecord, Outcome, VerifierReport
from assay.reports.text import count, one_line, seconds, shorten, show_diff, show_value

WRONG, UNDECIDED, RIGHT, UNCHECKED = "wrong", "undecided", "right", "unchecked"


# Standard error of a subject that did not pass: it was not verified, but may explain why.
CLUE = "clue"


_ORDER = (WRONG, UNDECIDED, CLUE, RIGHT, UNCHECKED)


_CLUE_LINES = 12


_NOTHING: tuple[Any, ...] = (None, "", 0, False, [], {})


class EvidenceLimits(NamedTuple):
    """How much of the evidence of one case is shown."""

    characters: int = 2_000
    lines: int = 40
    attributes: int = 20
    samples: int = 5


class Attribute(NamedTuple):
    """One attribute; `values` are pairs of a label and a text, without empty ones."""

    name: str
    mark: str
    weight: float
    values: list[tuple[str, str]]

    @property
    def told(self) -> str:
        """The mark in words."""
        return {WRONG: "not as expected", CLUE: "not verified"}.get(self.mark, self.mark)


class Sample(NamedTuple):
    """One report of the case."""

    number: int
    outcome: Outcome
    score: float
    duration: str
    error: str
    attributes: list[Attribute]
    attributes_left_out: int

    def select(self, *marks: str) -> list[Attribute]:
        return [attribute for attribute in self.attributes if attribute.mark in marks]


class Evidence(NamedTuple):
    """The evidence of a case."""

    id: str
    group: str
    outcome: Outcome
    is_known: bool
    reason: str
    code: str
    score: float
    duration: str
    samples: list[Sample]
    samples_taken: int
    usage: str
    case: str
    detail: str

    @property
    def samples_left_out(self) -> int:
        return self.samples_taken - len(self.samples)


def gather(record: CaseRecord, *, is_known: bool, limits: EvidenceLimits) -> Evidence:
    """Return the evidence of a record within limits."""
    return Evidence(
        id=one_line(record.id),
        group=one_line(record.reports[0].group) if record.reports else "",
        outcome=record.outcome,
        is_known=is_known,
        reason=escape_hidden(shorten(record.reason, limits.characters, limits.lines)),
        code=one_line(record.code),
        score=record.calculate_score(),
        duration=seconds(record.duration),
        samples=_samples(record.reports, limits),
        samples_taken=len(record.reports),
        usage=one_line(", ".join(f"{name} {amount:g}" for name, amount in record.usage.items())),
        case=_preview(record.reports[0].case, limits) if record.reports else "",
        detail="" if record.detail is None else _preview(record.detail, limits),
    )


def _samples(reports: list[VerifierReport], limits: EvidenceLimits) -> list[Sample]:
    numbered = sorted(enumerate(reports, start=1), key=lambda pair: pair[1].did_pass())
    return [_sample(number, report, limits) for number, report in numbered[: limits.samples]]


def _sample(number: int, report: VerifierReport, limits: EvidenceLimits) -> Sample:
    marked = [(_mark(result, report), result) for result in report.results.values()]
    marked = [(mark, r) for mark, r in marked if mark != UNCHECKED or _says_something(r)]
    marked.sort(key=lambda pair: _ORDER.index(pair[0]))
    return Sample(
        number=number,
        outcome=report.outcome,
        score=report.calculate_score(),
        duration=seconds(max(report.duration, 0.0)),
        error=escape_hidden(shorten(report.error or "", limits.characters, limits.lines)),
        attributes=_attributes(marked[: limits.attributes], limits),
        attributes_left_out=sum(mark != UNCHECKED for mark, _ in marked[limits.attributes :]),
    )


def _mark(result: AttributeResult, report: VerifierReport) -> str:
    if result.is_correct is None:
        if result.is_undecided:
            return UNDECIDED
        is_clue = result.attribute == "stderr" and result.actual and not report.did_pass()
        return CLUE if is_clue else UNCHECKED
    return RIGHT if result.is_correct else WRONG


def _says_something(result: AttributeResult) -> bool:
    return result.actual not in _NOTHING or result.expected not in _NOTHING


def _attribute(mark: str, result: AttributeResult, limits: EvidenceLimits) -> Attribute:
    shown: list[tuple[str, str]] = []
    if mark == CLUE:
        return Attribute("stderr", mark, result.weight, [("actual", _ending(result.actual))])
    if result.actual is not None or result.expected is not None:
        shown.append(("expected", _preview(result.expected, limits)))
        shown.append(("actual", _preview(result.actual, limits)))
    if result.diff not in (None, "", [], {}):
        shown.append(("diff", show_diff(result.diff, limits.characters, limits.lines)))
    return Attribute(one_line(result.attribute), mark, result.weight, shown)


def _attributes(
    marked: list[tuple[str, AttributeResult]], limits: EvidenceLimits
) -> list[Attribute]:
    """Return attributes; the values of one that does not count are not shown again after a diff."""
    shown = [_attribute(mark, result, limits) for mark, result in marked]
    diffs = [text for one in shown for label, text in one.values if label == "diff"]
    lines = {line.strip() for text in diffs for line in text.split("\n")}
    return [
        one._replace(values=[])
        if not result.weight and isinstance(result.actual, str) and result.actual in lines
        else one
        for one, (_, result) in zip(shown, marked, strict=True)
    ]


def _ending(said: Any) -> str:
    """Return the last lines, where a program usually reports why it died."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    lines = text.rstrip("\n").split("\n")
    kept = [one_line(line) for line in lines[-_CLUE_LINES:]]
    return "\n".join(["…", *kept] if len(lines) > _CLUE_LINES else kept)


def _preview(value: Any, limits: EvidenceLimits) -> str:
    return show_value(value, limits.characters, limits.lines)


_STYLES = {
    "bold": "1",
    "dim": "2",
    "failed": "1;31",
    "error": "1;35",
    "unverified": "1;33",
    "passed": "1;32",
    "removed": "31",
    "added": "32",
}


@dataclass(frozen=True)
class Paint:
    """Colours text, or leaves it as it is."""

    colour: bool = False

    def __call__(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and text else text


def case_lines(evidence: Evidence, paint: Paint, *, in_full: bool = False) -> Iterator[str]:
    """Yield a case: its outcome and reason, then the evidence; in full also correct values."""
    known = paint(" (accepted by the baseline)", "dim") if evidence.is_known else ""
    word = paint(f"{evidence.outcome.value.upper():<10}", evidence.outcome.value)
    yield f"{word} {paint(evidence.id, 'bold')}{known}"
    for line in evidence_lines(evidence, paint, in_full=in_full):
        yield f"    {line}" if line else ""


def evidence_lines(evidence: Evidence, paint: Paint, *, in_full: bool = False) -> Iterator[str]:
    """Yield why the case ended as it did."""
    yield from evidence.reason.splitlines()
    for sample in evidence.samples:
        yield from _sample_lines(sample, evidence, paint, in_full)
    if evidence.samples_left_out:
        yield paint(f"… {count(evidence.samples_left_out, 'more sample')}", "dim")


def _sample_lines(sample: Sample, evidence: Evidence, paint: Paint, in_full: bool) -> Iterator[str]:
    if evidence.samples_taken == 1:
        yield from _report_lines(sample, evidence, paint, in_full)
    elif in_full or sample.outcome is not Outcome.PASSED:
        word = paint(sample.outcome.value, sample.outcome.value)
        yield f"sample {sample.number} of {evidence.samples_taken}: {word}"
        yield from (f"  {line}" for line in _report_lines(sample, evidence, paint, in_full))


def _report_lines(sample: Sample, evidence: Evidence, paint: Paint, in_full: bool) -> Iterator[str]:
    if sample.error:
        yield from _without(sample.error.splitlines(), evidence.reason)
    for attribute in sample.select(WRONG, UNDECIDED, CLUE, *([RIGHT] if in_full else [])):
        yield from _attribute_lines(attribute, paint)
    if (right := sample.select(RIGHT)) and not in_full:
        yield paint(f"right: {', '.join(attribute.name for attribute in right)}", "dim")
    if sample.attributes_left_out:
        yield paint(f"… {count(sample.attributes_left_out, 'more attribute')}", "dim")


def _without(lines: list[str], said: str) -> list[str]:
    """Return an error without the reason at its start, which is already shown above."""
    return lines[1:] if lines[0] == said else lines


def _attribute_lines(attribute: Attribute, paint: Paint) -> Iterator[str]:
    style = {WRONG: "failed", RIGHT: "passed"}.get(attribute.mark, "unverified")
    yield f"{paint(attribute.name, style)} is {attribute.told}"
    for label, text in attribute.values:
        first, *rest = text.split("\n")
        if not rest:
            yield f"  {label + ':':<9} {_diff_line(label, first, paint)}"
            continue
        yield f"  {label}:"
        for line in (first, *rest):
            yield f"    {_diff_line(label, line, paint)}"


def _diff_line(label: str, line: str, paint: Paint) -> str:
    if label != "diff" or line[:1] not in ("+", "-"):
        return line
    return paint(line, "added" if line[0] == "+" else "removed")
