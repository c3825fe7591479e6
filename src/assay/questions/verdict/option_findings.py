"""Findings: what the test outcomes of a proof mean for its claim and its option.

Pure functions; the sandbox runs the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from assay.questions.proofs.claims import Claim, Grounds, Relation


class Truth(StrEnum):
    """What the two sides of a proof say about its claim."""

    TRUE = "true"
    FALSE = "false"
    BOTH = "both"
    OPEN = "open"


class State(StrEnum):
    """What is known about an option."""

    HOLDS = "HOLDS"
    FAILS = "FAILS"
    CONTRADICTED = "CONTRADICTED"
    UNPROVEN = "UNPROVEN"


@dataclass(frozen=True)
class Settled:
    """A claim with its truth, the reason if it stayed open, and what its `raises` caught.

    `exception` is the class the option names, as written, where it names one. `raised` is the
    chain of classes, nearest first, of the exception that made the claim true. `notes` go along
    to the finding.
    """

    claim: Claim
    truth: Truth
    reason: str = ""
    raised: tuple[str, ...] = ()
    exception: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OptionFinding:
    """What is known about one option, on what grounds, and why.

    `rests_on` are the claims that decided it; they are repeated before an accusation. `stands` says
    of an option that is UNPROVEN that what must be true for it is true.
    """

    state: State
    reason: str = ""
    grounds: Grounds = Grounds.EXECUTED
    is_absent_path: bool = False
    notes: tuple[str, ...] = ()
    rests_on: tuple[Claim, ...] = ()
    derived_from: tuple[str, ...] = ()
    stands: bool = False


OptionFindings = Mapping[str, OptionFinding]


@dataclass
class _Weighed:
    confirming: list[Settled] = field(default_factory=list)
    refuting: list[Settled] = field(default_factory=list)
    contradicted: list[Settled] = field(default_factory=list)
    open: list[Settled] = field(default_factory=list)


def combine(settled: Iterable[Settled]) -> OptionFinding:
    """Return the finding on an option from all of its claims, in whatever order they come.

    What was executed outweighs what is documented: only two executed proofs, or two passages of
    documentation, contradict each other.
    """
    settled = tuple(settled)
    weighed = _weigh(settled)
    finding = _decide(_prefer_executed(weighed))
    said = tuple(note for one in settled for note in one.notes)
    return replace(finding, notes=tuple(dict.fromkeys((*said, *_note_documentation(weighed)))))


def _decide(weighed: _Weighed) -> OptionFinding:
    if weighed.contradicted:
        return OptionFinding(
            State.CONTRADICTED,
            weighed.contradicted[0].reason or "both sides of its proof passed",
            rests_on=_claims(weighed.contradicted),
        )
    if weighed.confirming and weighed.refuting:
        return OptionFinding(
            State.CONTRADICTED,
            f"one proof confirms it ({weighed.confirming[0].claim.statement}) and another refutes "
            f"it ({weighed.refuting[0].claim.statement})",
            rests_on=_claims(weighed.confirming + weighed.refuting),
        )
    if weighed.refuting:
        return OptionFinding(
            State.FAILS,
            _refutation(weighed.refuting[0]),
            grounds=_grounds(weighed.refuting),
            is_absent_path=any(one.claim.absent_path for one in weighed.refuting),
            rests_on=_claims(weighed.refuting),
        )
    if weighed.confirming:
        return OptionFinding(
            State.HOLDS,
            weighed.confirming[0].claim.statement,
            grounds=_grounds(weighed.confirming),
            rests_on=_claims(weighed.confirming),
        )
    stands = any(one.truth is Truth.TRUE for one in weighed.open)
    return OptionFinding(State.UNPROVEN, _why_open(weighed), stands=stands)


_CONFIRMING = (Relation.EQUIVALENT, Relation.SUFFICIENT)
_REFUTING = (Relation.EQUIVALENT, Relation.NECESSARY)


def _weigh(settled: Iterable[Settled]) -> _Weighed:
    weighed = _Weighed()
    for one in settled:
        relation = one.claim.relation
        if one.truth is Truth.BOTH:
            weighed.contradicted.append(one)
        elif one.truth is Truth.TRUE and relation in _CONFIRMING:
            weighed.confirming.append(one)
        elif one.truth is Truth.FALSE and relation in _REFUTING:
            weighed.refuting.append(one)
        else:
            weighed.open.append(one)
    return weighed


def _prefer_executed(weighed: _Weighed) -> _Weighed:
    """Leave documentation out where an executed proof decides."""
    executed = _Weighed(
        _select_executed(weighed.confirming),
        _select_executed(weighed.refuting),
        _select_executed(weighed.contradicted),
    )
    decides = executed.confirming or executed.refuting or executed.contradicted
    return executed if decides else weighed


def _select_executed(settled: list[Settled]) -> list[Settled]:
    return [one for one in settled if one.claim.grounds is Grounds.EXECUTED]


def _note_documentation(weighed: _Weighed) -> list[str]:
    """Return a note where the documentation says the opposite of what was executed."""
    executed = _prefer_executed(weighed)
    lost = []
    if executed.refuting and not executed.confirming:
        lost = [f"documented otherwise: {one.claim.statement}" for one in weighed.confirming]
    if executed.confirming and not executed.refuting:
        lost = [
            f"documented otherwise: it is not true that {one.claim.statement}"
            for one in weighed.refuting
        ]
    return lost


def _refutation(settled: Settled) -> str:
    return settled.reason or f"it is not true that {settled.claim.statement}"


def _claims(settled: list[Settled]) -> tuple[Claim, ...]:
    return tuple(one.claim for one in settled)


def _grounds(settled: list[Settled]) -> Grounds:
    """Return the strongest grounds: one executed proof is enough."""
    return Grounds.EXECUTED if _select_executed(settled) else Grounds.DOCUMENTED


def _why_open(weighed: _Weighed) -> str:
    if not weighed.open:
        return "nothing was proven about it"
    first = next((one for one in weighed.open if one.truth is Truth.OPEN), weighed.open[0])
    if first.truth is Truth.TRUE:
        return f"{first.claim.statement}, which is necessary but does not make it the answer"
    if first.truth is Truth.FALSE:
        return f"it is not true that {first.claim.statement}, which would have been enough"
    return first.reason
