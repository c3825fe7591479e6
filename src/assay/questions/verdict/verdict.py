"""Verdicts: the only place where findings are compared with the key.

Pure functions. Findings arrive as proven, about each option's statement in positive form; the
polarity of the question and its compound options are applied here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product

from assay.questions.model import Question
from assay.questions.proofs.claims import WRITTEN, Grounds, Relation
from assay.questions.verdict.compounds import (
    CompoundKind,
    Compounds,
    derive,
    find_deciding,
    read_compounds,
)
from assay.questions.verdict.option_findings import (
    OptionFinding,
    OptionFindings,
    Settled,
    State,
    Truth,
)
from assay.questions.verdict.stems import Stem, StemKind


class Verdict(StrEnum):
    """The verdict on a question; the last four apply only to repair questions."""

    VALID = "Valid"
    AMBIGUOUS = "Ambiguous"
    INCORRECT = "Incorrect"
    UNPROVEN = "Unproven"
    TRIVIAL = "Trivial"
    LEAKED = "Leaked"
    BROKEN = "Broken"
    UNSOLVED = "Unsolved"


@dataclass(frozen=True)
class Judgement:
    """A verdict, why, and what it rests on.

    `answers` are the options that hold. `rests_on` are the ordinary options whose proofs have to be
    repeated before an accusation is written.
    """

    verdict: Verdict
    reason: str
    code: str
    answers: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def accuses(judgement: Judgement) -> bool:
    """Return whether a verdict says that the question is wrong."""
    return judgement.verdict in (Verdict.INCORRECT, Verdict.AMBIGUOUS)


def is_settled(question: Question, findings: OptionFindings) -> bool:
    """Return whether every option that is not derived is known to hold or to fail."""
    compounds = read_compounds(question)
    ordinary = (_weigh(findings.get(one)) for one in question.options if one not in compounds)
    return all(finding.state in (State.HOLDS, State.FAILS) for finding in ordinary)


def answers_of(
    question: Question, stem: Stem, findings: OptionFindings
) -> dict[str, OptionFinding]:
    """Return for every option whether it answers the question: HOLDS if it does.

    This is after the polarity of the stem and with the compound options derived.
    """
    return _answers(question, stem, findings, read_compounds(question))


def _answers(
    question: Question, stem: Stem, findings: OptionFindings, compounds: Compounds
) -> dict[str, OptionFinding]:
    ordinary = {
        letter: _answering(_weigh(findings.get(letter)), stem)
        for letter in question.options
        if letter not in compounds
    }
    derived = derive(ordinary, compounds, stem)
    return {letter: derived[letter] for letter in question.options}


def judge(
    question: Question,
    stem: Stem,
    findings: OptionFindings,
    key: str,
    whole: Sequence[Settled] = (),
) -> Judgement:
    """Return the verdict on a question from its findings and its key.

    `whole` is what is settled about the question as a whole: premises and options that are one.
    """
    compounds = read_compounds(question)
    case = _Case(key, stem, _answers(question, stem, findings, compounds), compounds, tuple(whole))
    judgement = _decide(case)
    notes = (f"{one}: {note}" for one, found in case.findings.items() for note in found.notes)
    return replace(judgement, notes=(*judgement.notes, *notes))


# So many open options and fewer are gone through in all their combinations.
_MOST_OPEN = 6


def can_be_decided(
    question: Question,
    stem: Stem,
    findings: OptionFindings,
    key: str,
    whole: Sequence[Settled],
    open_options: Sequence[str],
) -> bool:
    """Tell whether any findings on the open options lead to another verdict than Unproven.

    Where the words leave a doubt, whoever makes claims may say how the question is to be read.
    """
    if len(open_options) > _MOST_OPEN:
        return True
    read = () if stem.sure else (Stem(kind) for kind in StemKind if kind is not StemKind.OTHER)
    stems = (stem, *read)
    for states in product((State.HOLDS, State.FAILS, None), repeat=len(open_options)):
        found = {
            one: OptionFinding(state)
            for one, state in zip(open_options, states, strict=True)
            if state is not None
        }
        judged = (judge(question, one, {**findings, **found}, key, whole) for one in stems)
        if any(one.verdict is not Verdict.UNPROVEN for one in judged):
            return True
    return False


@dataclass(frozen=True)
class _Case:
    """The inputs of a verdict."""

    key: str
    stem: Stem
    findings: Mapping[str, OptionFinding]
    compounds: Compounds
    whole: tuple[Settled, ...] = ()

    def holding(self) -> tuple[str, ...]:
        return self.having(State.HOLDS)

    def having(self, state: State) -> tuple[str, ...]:
        return tuple(one for one, found in self.findings.items() if found.state is state)

    def parts(self, letter: str) -> frozenset[str]:
        compound = self.compounds.get(letter)
        return frozenset(compound.parts) if compound else frozenset()

    def is_executed(self, letter: str) -> bool:
        return self.findings[letter].grounds is Grounds.EXECUTED

    def resting(self, letters: Iterable[str]) -> tuple[str, ...]:
        reached = {
            part for one in letters for part in find_deciding(one, self.findings, self.compounds)
        }
        return tuple(one for one in self.findings if one in reached)

    def describe(self, letter: str, verb: str) -> str:
        reason = self.findings[letter].reason
        return f"{letter} {verb}: {reason}" if reason else f"{letter} {verb}"


# --- What a finding says in this question ------------------------------------------------------


def _weigh(finding: OptionFinding | None) -> OptionFinding:
    """Leave options open that fail by documentation alone: it confirms and never refutes."""
    if finding is None:
        return OptionFinding(State.UNPROVEN, "nothing was proven about it")
    if finding.state is State.FAILS and finding.grounds is Grounds.DOCUMENTED:
        reason = f"only the documentation speaks against it: {finding.reason}"
        return replace(finding, state=State.UNPROVEN, reason=reason, is_absent_path=False)
    return finding


def _answering(finding: OptionFinding, stem: Stem) -> OptionFinding:
    """Return the finding as an answer to the question; a negated question reverses it."""
    if not stem.negated or finding.state not in (State.HOLDS, State.FAILS):
        return finding
    turned = State.FAILS if finding.state is State.HOLDS else State.HOLDS
    return _weigh(replace(finding, state=turned, is_absent_path=False, stands=False))


# --- The rules, in their order -----------------------------------------------------------------


def _decide(case: _Case) -> Judgement:
    if case.key not in case.findings:
        reason = f"the key {case.key!r} is not one of the options {', '.join(case.findings)}"
        return Judgement(Verdict.INCORRECT, reason, "key-not-an-option")
    if not case.stem.clear:
        reason = f"it is not clear what '{case.stem.sign}' asks for, so no proof can decide it"
        return _unproven(reason, "unclear-stem")
    key = case.findings[case.key]
    if missing := _find_missing_premise(case):
        return missing
    if key.state is State.FAILS:
        return _key_fails(case)
    if twins := _find_twins(case):
        return twins
    if key.state is State.HOLDS:
        return _key_holds(case)
    if key.state is State.CONTRADICTED:
        return _open(case, _describe_open(case, (case.key,)), "key-contradicted")
    if _is_only_survivor(case):
        reason = f"every other option fails, and what {case.key} names is there"
        return Judgement(Verdict.VALID, reason, "only-survivor", (case.key,))
    return _open(case, _describe_open(case, (case.key,)), "key-unproven")


def _find_missing_premise(case: _Case) -> Judgement | None:
    """Return the verdict on a question about something that is not there."""
    for one in case.whole:
        if one.claim.relation is Relation.PREMISE and one.truth is Truth.FALSE:
            reason = (
                f"it asks about something that is not there: {one.claim.statement}, is not true"
            )
            return Judgement(Verdict.INCORRECT, reason, "premise-missing", rests_on=("",))
    return None


def _find_twins(case: _Case) -> Judgement | None:
    """Return the verdict where the key and another option are the same, or one implies the other.

    What implies another option can be the key and not the only answer; the other can.
    """
    if case.stem.kind not in (StemKind.ONE_TRUE, StemKind.OTHER):
        return None
    for one in case.whole:
        pair = one.claim.option, one.claim.twin
        concerned = {Relation.TWIN: pair, Relation.IMPLIED: pair[:1]}.get(one.claim.relation, ())
        if one.truth is not Truth.TRUE or case.key not in concerned:
            continue
        if any(case.findings[option].state is State.FAILS for option in pair):
            continue
        is_same = one.claim.relation is Relation.TWIN
        said = (
            f"{pair[0]} and {pair[1]} say the same" if is_same else f"{pair[0]} implies {pair[1]}"
        )
        code = "same-answer" if is_same else "implied-answer"
        reason = f"{said}: {one.claim.statement}"
        return Judgement(Verdict.AMBIGUOUS, reason, code, pair, case.resting(pair))
    return None


def _is_only_survivor(case: _Case) -> bool:
    """Tell whether every rival fails by execution and what the key names is there.

    Weaker than a proof of the key, stronger than nothing: it confirms and never accuses. "None of
    the above" is no rival: it offers nothing that could be there.
    """
    key = case.findings[case.key]
    none = [one for one, found in case.compounds.items() if found.kind is CompoundKind.NONE]
    rivals = [found for one, found in case.findings.items() if one not in {case.key, *none}]
    failing = [one for one in rivals if one.state is State.FAILS and one.grounds is _EXECUTED]
    return (
        key.stands
        and case.key not in case.compounds
        and len(none) == len(case.compounds)
        and case.stem.clear
        and case.stem.kind in (StemKind.ONE_TRUE, StemKind.SUPERLATIVE, StemKind.OTHER)
        and len(failing) == len(rivals) > 1
    )


_EXECUTED = Grounds.EXECUTED


def _key_fails(case: _Case) -> Judgement:
    if len(case.having(State.FAILS)) == len(case.findings) and not _is_beyond_doubt(case):
        reason = "every option fails, so the question may have been read wrongly"
        return _open(case, reason, "suspect-reading")
    if _only_the_key_fails(case):
        reason = "of all options only the key fails, so the question may ask for what does not work"
        return _open(case, reason, "suspect-reading")
    reason = f"the key {case.describe(case.key, 'fails')}"
    holding = _list(case.holding(), "hold") if case.holding() else ""
    if holding not in reason:
        reason += f"; {holding}"
    return Judgement(
        Verdict.INCORRECT, reason, "key-fails", case.holding(), case.resting((case.key,))
    )


def _only_the_key_fails(case: _Case) -> bool:
    """Tell whether nothing speaks against any other option: then the question was read wrongly.

    "Which import raises an error?" looks like that to a program that takes it for "Which import
    works?"; a person who writes a proof or a claim has read the question.
    """
    resting = case.findings[case.key].rests_on
    by_program = any(claim.kind != WRITTEN and not claim.by_person for claim in resting)
    others = [
        found
        for one, found in case.findings.items()
        if one not in case.compounds and one != case.key
    ]
    return (
        by_program
        and case.key not in case.compounds
        and len(others) > 1
        and all(found.state is State.HOLDS or found.stands for found in others)
    )


def _is_beyond_doubt(case: _Case) -> bool:
    """Tell whether each failure is a full dotted name that does not exist."""
    ordinary = (found for one, found in case.findings.items() if one not in case.compounds)
    return all(found.is_absent_path for found in ordinary)


def _key_holds(case: _Case) -> Judgement:
    rivals = tuple(one for one in case.findings if one != case.key and _is_rival(case, one))
    holding = tuple(one for one in rivals if case.findings[one].state is State.HOLDS)
    if case.stem.strict and case.is_executed(case.key):
        proven = tuple(one for one in holding if case.is_executed(one))
        wholes = [one for one in proven if _is_part(case, case.key, one)]
        if wholes:
            return _part_as_key(case, max(wholes, key=lambda one: len(case.parts(one))))
        if proven:
            return _ambiguous(case, proven)
    if holding:
        return _open(case, _why_not_ambiguous(case, holding), "several-hold")
    undecided = tuple(one for one in rivals if case.findings[one].state is not State.FAILS)
    if undecided:
        return _open(case, _describe_open(case, undecided), "rivals-unproven")
    beside = "that is not a part of it does" if case.parts(case.key) else "does"
    reason = f"{case.key} holds, and no other option {beside}"
    if not case.is_executed(case.key):
        reason = (
            f"the documentation speaks for {case.key}, and execution against every other option"
        )
        return Judgement(Verdict.VALID, reason, "key-documented", case.holding())
    return Judgement(Verdict.VALID, reason, "key-holds", case.holding())


def _part_as_key(case: _Case, whole: str) -> Judgement:
    reason = (
        f"the key {case.key} is only a part of the answer: {case.describe(whole, 'holds as well')}"
    )
    resting = case.resting((whole, case.key))
    return Judgement(Verdict.INCORRECT, reason, "key-is-a-part", case.holding(), resting)


def _ambiguous(case: _Case, proven: tuple[str, ...]) -> Judgement:
    reason = f"the key {case.key} holds, and so {_does(proven)} {_join(proven)}"
    return Judgement(
        Verdict.AMBIGUOUS, reason, "several-hold", case.holding(), case.resting((case.key, *proven))
    )


def _is_rival(case: _Case, other: str) -> bool:
    """Tell whether an option would have to fail for a key that holds to be the only answer.

    Parts of the key are not rivals of it. Nor is "None": that the key holds is what refutes it,
    on whatever grounds the key holds.
    """
    if _is_part(case, other, case.key):
        return False
    compound = case.compounds.get(other)
    return compound is None or not {case.key, *case.parts(case.key)} & set(compound.fail)


def _is_part(case: _Case, part: str, whole: str) -> bool:
    """Tell whether one option says a part of what another says."""
    return part in case.parts(whole) or (
        bool(case.parts(part)) and case.parts(part) < case.parts(whole)
    )


# --- Without a decision ------------------------------------------------------------------------


def _open(case: _Case, reason: str, code: str) -> Judgement:
    return replace(_unproven(reason, code), answers=case.holding())


def _unproven(reason: str, code: str) -> Judgement:
    return Judgement(Verdict.UNPROVEN, reason, code)


def _why_not_ambiguous(case: _Case, holding: tuple[str, ...]) -> str:
    told = f"{_join((case.key, *holding))} hold"
    if case.stem.strict:
        return f"{told}, but not all of them by a proof that was executed"
    return f"{told}, and running them cannot tell which one is asked for"


def _describe_open(case: _Case, letters: tuple[str, ...]) -> str:
    return "; ".join(case.describe(one, _OPEN_WORDS[case.findings[one].state]) for one in letters)


_OPEN_WORDS = {State.UNPROVEN: "is unproven", State.CONTRADICTED: "is contradicted"}


def _list(letters: tuple[str, ...], verb: str) -> str:
    return f"{_join(letters)} {verb}{'s' if len(letters) == 1 else ''}"


def _join(letters: tuple[str, ...]) -> str:
    return letters[0] if len(letters) == 1 else f"{', '.join(letters[:-1])} and {letters[-1]}"


def _does(letters: tuple[str, ...]) -> str:
    return "does" if len(letters) == 1 else "do"
