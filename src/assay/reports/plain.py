"""The evidence of a case as indented lines of plain text, in colour where it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.model import Outcome
from assay.reports.evidence import CLUE, RIGHT, UNDECIDED, WRONG, Attribute, Evidence, Sample
from assay.reports.text import count

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
    """A case: how it ended and why, then the evidence; in full also what is right."""
    known = paint(" (accepted by the baseline)", "dim") if evidence.is_known else ""
    word = paint(f"{evidence.outcome.value.upper():<10}", evidence.outcome.value)
    yield f"{word} {paint(evidence.id, 'bold')}{known}"
    for line in evidence_lines(evidence, paint, in_full=in_full):
        yield f"    {line}" if line else ""


def evidence_lines(evidence: Evidence, paint: Paint, *, in_full: bool = False) -> Iterator[str]:
    """Why the case ended as it did."""
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
    for attribute in sample.marked(WRONG, UNDECIDED, CLUE, *([RIGHT] if in_full else [])):
        yield from _attribute_lines(attribute, paint)
    if (right := sample.marked(RIGHT)) and not in_full:
        yield paint(f"right: {', '.join(attribute.name for attribute in right)}", "dim")
    if sample.attributes_left_out:
        yield paint(f"… {count(sample.attributes_left_out, 'more attribute')}", "dim")


def _without(lines: list[str], said: str) -> list[str]:
    """An error usually begins with the reason, which stands above it already."""
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
