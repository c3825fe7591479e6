"""Derivation: what follows for compound options from the findings on their parts.

Compounds are never proven: a proof of "Both A and C" could only repeat those of A and C.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from assay.questions.proofs.claims import Grounds
from assay.questions.verdict.compounds import Compound, CompoundKind, Compounds
from assay.questions.verdict.findings import Finding, Findings, State
from assay.questions.verdict.stems import Stem


def derive(findings: Findings, compounds: Compounds, stem: Stem) -> dict[str, Finding]:
    """The findings with those on compounds derived; `findings` have the stem's polarity already."""
    derived = {letter: one for letter, one in findings.items() if letter not in compounds}
    # "None" may be about other compounds, so it comes after them.
    order = sorted(compounds, key=lambda letter: compounds[letter].kind is CompoundKind.NONE)
    for letter in order:
        derived[letter] = _derived(compounds[letter], derived, stem)
    return {letter: derived[letter] for letter in dict.fromkeys([*findings, *order])}


def decided_by(letter: str, findings: Findings, compounds: Compounds) -> tuple[str, ...]:
    """The ordinary options on whose proofs the finding on an option rests."""
    if letter not in compounds:
        return (letter,)
    deciding = _deciding(compounds[letter], findings[letter].state, findings)
    reached = (one for part in deciding for one in decided_by(part, findings, compounds))
    return tuple(dict.fromkeys(reached))


def _derived(compound: Compound, findings: Findings, stem: Stem) -> Finding:
    state, why = _read_state(compound, findings, stem)
    deciding = _deciding(compound, state, findings)
    grounds = [findings[letter].grounds for letter in deciding]
    claims = [claim for letter in deciding for claim in findings[letter].rests_on]
    return Finding(
        state,
        why or _told(deciding, findings),
        grounds=Grounds.DOCUMENTED if Grounds.DOCUMENTED in grounds else Grounds.EXECUTED,
        rests_on=tuple(dict.fromkeys(claims)),
        derived_from=compound.about,
    )


def _read_state(compound: Compound, findings: Findings, stem: Stem) -> tuple[State, str]:
    """The state, and the reason where it stays open."""
    state = _state(compound, findings)
    if compound.perhaps and _state(replace(compound, perhaps=()), findings) is not state:
        return State.UNPROVEN, "it is not clear whether 'above' means the options below as well"
    if state is State.UNPROVEN:
        return state, _why_open(compound, findings)
    if stem.negated and compound.words:
        return State.UNPROVEN, f"the question is negated and the option says '{compound.words}'"
    if not stem.strict and _rests_on_working(compound, state, findings):
        return State.UNPROVEN, "that an option works does not make it what is asked for"
    return state, ""


def _state(compound: Compound, findings: Findings) -> State:
    hold = [_known(findings, letter) for letter in compound.parts]
    fail = [_known(findings, letter) for letter in compound.fail]
    if compound.kind is CompoundKind.EITHER:
        # One of two: "either will do" says no, "one of them" says yes. Only agreement decides.
        return hold[0] if len(set(hold)) == 1 else State.UNPROVEN
    if State.FAILS in hold or any(_refutes(findings, letter) for letter in compound.fail):
        return State.FAILS
    if set(hold) <= {State.HOLDS} and set(fail) <= {State.FAILS}:
        return State.HOLDS
    return State.UNPROVEN


def _known(findings: Findings, letter: str) -> State:
    """The state of a part, where a contradiction is as good as nothing."""
    found = findings.get(letter)
    return found.state if found and found.state in (State.HOLDS, State.FAILS) else State.UNPROVEN


def _refutes(findings: Findings, letter: str) -> bool:
    """That it is documented confirms an option, and refutes no other."""
    found = findings.get(letter)
    return found is not None and found.state is State.HOLDS and found.grounds is Grounds.EXECUTED


def _deciding(compound: Compound, state: State, findings: Findings) -> tuple[str, ...]:
    if state is State.FAILS and compound.kind is not CompoundKind.EITHER:
        failed = [one for one in compound.parts if _known(findings, one) is State.FAILS]
        return (*failed, *(one for one in compound.fail if _refutes(findings, one)))
    return compound.about if state in (State.HOLDS, State.FAILS) else ()


def _rests_on_working(compound: Compound, state: State, findings: Findings) -> bool:
    """Whether it is decided by an option that holds alone, and not by one that fails."""
    if state is State.HOLDS:
        return bool(compound.parts)
    return not any(_known(findings, letter) is State.FAILS for letter in compound.parts)


def _told(letters: Iterable[str], findings: Findings) -> str:
    letters = tuple(letters)
    holding = [one for one in letters if findings[one].state is State.HOLDS]
    failing = [one for one in letters if findings[one].state is State.FAILS]
    return "; ".join(filter(None, (_all_of(holding, "hold"), _all_of(failing, "fail"))))


def _all_of(letters: list[str], verb: str) -> str:
    if not letters:
        return ""
    if len(letters) == 1:
        return f"{letters[0]} {verb}s"
    return f"{', '.join(letters[:-1])} and {letters[-1]} {verb}"


def _why_open(compound: Compound, findings: Findings) -> str:
    unknown = [one for one in compound.about if _known(findings, one) is State.UNPROVEN]
    if unknown:
        return f"it depends on {', '.join(unknown)}, which nothing has settled"
    return "its parts do not decide it"
