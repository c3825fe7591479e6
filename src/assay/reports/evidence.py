"""The evidence of one case, as text that is fit to be shown; formats only add their own syntax.

Everything that comes from a case passes through here before a person sees it: hidden characters
are made escape_hidden, long values are cut with a note, and what did not pass comes first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from assay.escaping import escape_hidden
from assay.model import AttributeResult, CaseRecord, Outcome, VerifierReport
from assay.reports.text import one_line, seconds, shorten, show_diff, show_value

WRONG, UNDECIDED, RIGHT, UNCHECKED = "wrong", "undecided", "right", "unchecked"
# What a subject that did not pass wrote to its standard error: nobody verified it, but it may well
# say why.
CLUE = "clue"
_ORDER = (WRONG, UNDECIDED, CLUE, RIGHT, UNCHECKED)
_CLUE_LINES = 12
_NOTHING: tuple[Any, ...] = (None, "", 0, False, [], {})


class Limits(NamedTuple):
    """How much of the evidence of one case is shown."""

    characters: int = 2_000
    lines: int = 40
    attributes: int = 20
    samples: int = 5


class Attribute(NamedTuple):
    """One attribute; `values` are pairs of a label and a text, without those that say nothing."""

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

    def marked(self, *marks: str) -> list[Attribute]:
        return [attribute for attribute in self.attributes if attribute.mark in marks]


class Evidence(NamedTuple):
    """What there is to say about a case."""

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


def gather(record: CaseRecord, *, is_known: bool, limits: Limits) -> Evidence:
    """The evidence of a record within limits."""
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
        case=_shown(record.reports[0].case, limits) if record.reports else "",
        detail="" if record.detail is None else _shown(record.detail, limits),
    )


def _samples(reports: list[VerifierReport], limits: Limits) -> list[Sample]:
    numbered = sorted(enumerate(reports, start=1), key=lambda pair: pair[1].did_pass())
    return [_sample(number, report, limits) for number, report in numbered[: limits.samples]]


def _sample(number: int, report: VerifierReport, limits: Limits) -> Sample:
    marked = [(_mark(result, report), result) for result in report.results.values()]
    marked = [(mark, r) for mark, r in marked if mark != UNCHECKED or _says_something(r)]
    marked.sort(key=lambda pair: _ORDER.index(pair[0]))
    return Sample(
        number=number,
        outcome=report.outcome,
        score=report.calculate_score(),
        duration=seconds(max(report.duration, 0.0)),
        error=escape_hidden(shorten(report.error or "", limits.characters, limits.lines)),
        attributes=[_attribute(mark, r, limits) for mark, r in marked[: limits.attributes]],
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


def _attribute(mark: str, result: AttributeResult, limits: Limits) -> Attribute:
    shown: list[tuple[str, str]] = []
    if mark == CLUE:
        return Attribute("stderr", mark, result.weight, [("actual", _ending(result.actual))])
    if result.actual is not None or result.expected is not None:
        shown.append(("expected", _shown(result.expected, limits)))
        shown.append(("actual", _shown(result.actual, limits)))
    if result.diff not in (None, "", [], {}):
        shown.append(("diff", show_diff(result.diff, limits.characters, limits.lines)))
    return Attribute(one_line(result.attribute), mark, result.weight, shown)


def _ending(said: Any) -> str:
    """The last lines, where a program says what it died of."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
    lines = text.rstrip("\n").split("\n")
    kept = [one_line(line) for line in lines[-_CLUE_LINES:]]
    return "\n".join(["…", *kept] if len(lines) > _CLUE_LINES else kept)


def _shown(value: Any, limits: Limits) -> str:
    return show_value(value, limits.characters, limits.lines)
