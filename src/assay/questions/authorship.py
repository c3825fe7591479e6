"""What a finding rests on, and who made it: its grounds and its author.

Grounds are `executed`, `documented` or `survivor` (every other option fails). An author is
`program`, `program NAME` for a prover of a plugin, `model NAME`, or `person`; several are separated
by commas. Both are empty where nothing was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from assay.questions.proofs.claims import MODELLED, WRITTEN, Grounds, Proof, Relation
from assay.questions.proofs.proving import Trial
from assay.questions.verdict.option_findings import OptionFinding, State, Truth
from assay.questions.verdict.verdict import Judgement, Verdict

PROGRAM = "program"
PERSON = "person"
SURVIVOR = "survivor"
# Assay's own provers; `introspection` is in proofs that earlier versions stored.
_OWN = ("lexical", "introspection", "core")
_GROUNDS = {"only-survivor": SURVIVOR, "key-documented": Grounds.DOCUMENTED.value}
_WHOLE = {
    "premise-missing": (Relation.PREMISE, Truth.FALSE),
    "same-answer": (Relation.TWIN, Truth.TRUE),
    "implied-answer": (Relation.IMPLIED, Truth.TRUE),
}


class Source(NamedTuple):
    """The grounds and the author of a finding."""

    grounds: str = ""
    author: str = ""

    def __str__(self) -> str:
        """Return both in words, such as "executed, by a program"."""
        authors = self.author.split(", ") if self.author else []
        by = " and ".join(one if " " in one else f"a {one}" for one in authors)
        return ", ".join(filter(None, (self.grounds, f"by {by}" if by else "")))

    @property
    def in_brackets(self) -> str:
        """The same to be put behind a word; empty where nothing was found."""
        return f" ({self})" if any(self) else ""

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Source:
        """Return the source that a record has; earlier versions kept only the grounds."""
        if values.get("author") is None:
            documented = values.get("grounds") == Grounds.DOCUMENTED.value
            return cls(Grounds.DOCUMENTED.value if documented else "")
        return cls(values["grounds"], values["author"])


EXECUTED = Source(Grounds.EXECUTED.value, PROGRAM)


def author_of(proof: Proof) -> str:
    """Return who made a claim and its proof."""
    if proof.prover in (WRITTEN, PERSON):
        return PERSON
    if proof.prover == MODELLED:
        return f"model {proof.claim.model}".rstrip()
    return PROGRAM if proof.prover in _OWN else f"{PROGRAM} {proof.prover}"


def option_sources(
    findings: Mapping[str, OptionFinding],
    trials: Mapping[str, Sequence[Trial]],
    judgement: Judgement,
) -> dict[str, Source]:
    """Return the source of what is known about each option; a derived one has that of its parts."""
    found = {one: _option_source(one, findings, trials) for one in findings}
    if judgement.code == "only-survivor":
        others = _join(source.author for source in found.values())
        found |= {one: Source(SURVIVOR, others) for one in judgement.answers}
    return found


def _option_source(
    option: str,
    findings: Mapping[str, OptionFinding],
    trials: Mapping[str, Sequence[Trial]],
) -> Source:
    finding = findings[option]
    if finding.state is State.UNPROVEN:
        return Source()
    if finding.derived_from:
        parts = (
            _option_source(one, findings, trials).author
            for one in finding.derived_from
            if one in findings and one != option
        )
        return Source(finding.grounds.value, _join(parts))
    decided = [one for one in trials.get(option, ()) if one.settled.truth is not Truth.OPEN]
    resting = [one for one in decided if one.proof.claim in finding.rests_on] or decided
    return Source(finding.grounds.value, _join(author_of(one.proof) for one in resting))


def verdict_source(
    judgement: Judgement, options: Mapping[str, Source], whole: Sequence[Trial]
) -> Source:
    """Return the source of a verdict: that of the options or the premise that decided it."""
    if judgement.verdict is Verdict.UNPROVEN:
        return Source()
    if judgement.code == "key-not-an-option":
        return Source(author=PROGRAM)
    if judgement.code in _WHOLE:
        deciding = (
            one
            for one in whole
            if (one.proof.claim.relation, one.settled.truth) == _WHOLE[judgement.code]
        )
        return Source(Grounds.EXECUTED.value, _join(author_of(one.proof) for one in deciding))
    resting = judgement.rests_on or tuple(options)
    authors = _join(options[one].author for one in resting if one in options)
    return Source(_GROUNDS.get(judgement.code, Grounds.EXECUTED.value), authors)


def _join(authors: Iterable[str]) -> str:
    every = (one for author in authors for one in author.split(", ") if one)
    return ", ".join(sorted(set(every)))
