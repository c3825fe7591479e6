"""Scores answers against labels: confusion, false accusations, what is settled, kinds of claims.

Pure functions; `python -m benchmarks.accuracy` runs the provers and prints what they give.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.questions.model import Question
from assay.questions.verdict.compounds import read_compounds
from benchmarks.accuracy.labels import Kind, Label

VERDICTS = ("Valid", "Incorrect", "Ambiguous", "Unproven")
ACCUSATIONS = ("Incorrect", "Ambiguous")


@dataclass(frozen=True)
class Scored:
    """One question: its label, and the detail of the record that was made of it."""

    question: Question
    label: Label
    detail: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        return str(self.detail["verdict"])

    @property
    def options(self) -> Mapping[str, Any]:
        """What was found of each option; nothing where the question could not be examined."""
        found: Mapping[str, Any] = self.detail.get("options", {})
        return found

    @property
    def is_false_accusation(self) -> bool:
        return self.verdict in ACCUSATIONS and not self.label.is_defect

    @property
    def is_missed(self) -> bool:
        """Whether a defect is called Valid, which is worse than to leave it open."""
        return self.verdict == Kind.VALID and self.label.is_defect

    @property
    def is_settled(self) -> bool:
        """Whether every option that is not derived holds or fails, or the key fails."""
        if not self.options:
            return False
        states = {letter: one["state"] for letter, one in self.options.items()}
        compounds = read_compounds(self.question)
        ordinary = [state for letter, state in states.items() if letter not in compounds]
        return states.get(self.detail["key"]) == "FAILS" or all(
            state in ("HOLDS", "FAILS") for state in ordinary
        )

    def disputed_findings(self) -> list[str]:
        """What was found of an option and is not so by the label."""
        if self.label.kind is Kind.JUDGEMENT:
            return []
        said = {"HOLDS": True, "FAILS": False}
        return [
            f"{self.question.id} {letter} {one['state']} ({one['grounds']}): {one['reason']}"
            for letter, one in self.options.items()
            if said.get(one["state"], letter in self.label.answers)
            != (letter in self.label.answers)
        ]


@dataclass(frozen=True)
class Score:
    """The numbers of one suite."""

    confusion: Mapping[tuple[str, str], int]
    settled: int
    total: int
    false_accusations: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    disputed: tuple[str, ...] = ()
    kinds: Mapping[str, Counter[str]] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        """Whether nothing was said that is not so."""
        return not self.false_accusations and not self.missed


def score(scored: Sequence[Scored]) -> Score:
    """The numbers of a suite from its questions."""
    return Score(
        confusion=Counter((one.label.kind.value, one.verdict) for one in scored),
        settled=sum(one.is_settled for one in scored),
        total=len(scored),
        false_accusations=tuple(one.question.id for one in scored if one.is_false_accusation),
        missed=tuple(one.question.id for one in scored if one.is_missed),
        disputed=tuple(line for one in scored for line in one.disputed_findings()),
        kinds=kinds_of_claims(one.detail for one in scored),
    )


def kinds_of_claims(details: Iterable[Mapping[str, Any]]) -> dict[str, Counter[str]]:
    """How many claims of each kind were found true, false, or stayed open."""
    kinds: dict[str, Counter[str]] = {}
    for detail in details:
        for option in detail.get("options", {}).values():
            for proof in option["proofs"]:
                kinds.setdefault(proof["kind"], Counter())[proof["truth"]] += 1
    return kinds


def confusion_lines(counted: Score) -> list[str]:
    """The table of labels against verdicts, as Markdown."""
    labels = [kind.value for kind in Kind if any(row == kind for row, _ in counted.confusion)]
    lines = [_row("label", *VERDICTS), "|---|" + "---:|" * len(VERDICTS)]
    for label in labels:
        numbers = (counted.confusion.get((label, verdict), 0) for verdict in VERDICTS)
        lines.append(_row(label, *numbers))
    return lines


def kind_lines(counted: Score) -> list[str]:
    """The table of claims by kind, the most frequent first, as Markdown."""
    lines = [_row("kind of claim", "claims", "true", "false", "open"), "|---|---:|---:|---:|---:|"]
    kinds = sorted(counted.kinds.items(), key=lambda one: (-one[1].total(), one[0]))
    for kind, truths in kinds:
        settled = truths["true"], truths["false"]
        lines.append(_row(kind, truths.total(), *settled, truths.total() - sum(settled)))
    return lines


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def score_lines(counted: Score) -> list[str]:
    """All numbers of a suite, for people."""
    lines = [
        *confusion_lines(counted),
        "",
        f"settled {counted.settled} of {counted.total}",
        f"false accusations {len(counted.false_accusations)}",
        *(f"  {name}" for name in counted.false_accusations),
        f"defects called Valid {len(counted.missed)}",
        *(f"  {name}" for name in counted.missed),
        f"findings on options that the labels dispute {len(counted.disputed)}",
        *(f"  {line}" for line in counted.disputed),
    ]
    return [*lines, "", *kind_lines(counted)] if counted.kinds else lines
