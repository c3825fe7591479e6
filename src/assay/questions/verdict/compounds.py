"""Compound options ("All of the above", "Both A and C", "None"): how they are read and derived.

Compounds are never proven: a proof of "Both A and C" could only repeat those of A and C.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from assay.questions.model import Question, Snippet
from assay.questions.proofs.claims import Grounds
from assay.questions.verdict.option_findings import OptionFinding, OptionFindings, State
from assay.questions.verdict.stems import Stem


class CompoundKind(StrEnum):
    """How a compound is made of its parts."""

    ALL = "all"
    NONE = "none"
    BOTH = "both"
    ONLY = "only"
    NEITHER = "neither"
    EITHER = "either"
    EXCEPT = "except"


@dataclass(frozen=True)
class Compound:
    """An option about options: it is right if those of `hold` hold and those of `fail` do not.

    `perhaps` are options below an "above", which a shuffled suite may mean too. `words` are what it
    adds of its own ("are correct"), which a negated question makes hard to read.
    """

    kind: CompoundKind
    hold: tuple[str, ...] = ()
    fail: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()
    words: str = ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The options that hold with it and are not its rivals."""
        return self.hold + self.perhaps

    @property
    def named(self) -> tuple[str, ...]:
        """The options whose letters stand in its text."""
        return self.fail if self.kind in (CompoundKind.NEITHER, CompoundKind.EXCEPT) else self.hold

    @property
    def about(self) -> tuple[str, ...]:
        """Every option it speaks of."""
        return self.hold + self.fail + self.perhaps


Compounds = Mapping[str, Compound]


_NOUN = r"(?:options?|choices?|answers?)"
_GROUP = (
    rf"(?:(?:of )?(?:the |these |those )?(?:{_NOUN} )?above(?: {_NOUN})?"
    rf"|of (?:these|those|them)(?: {_NOUN})?|of the (?:other )?{_NOUN}|of the others)"
)
_WORDS = r"(?P<words> (?i:is|are|apply|applies|works?)(?: (?i:correct|true|right|valid))?)?"


def read_compound(text: str, letters: Sequence[str], position: int) -> Compound | None:
    """Return the compound that the option at `position` of `letters` is, by its words alone."""
    plain = _plain(text)
    others = tuple(letter for letter in letters if letter != letters[position])
    return _read_group(plain, text, letters, position) or _read_letters(plain, others)


def read_compounds(question: Question) -> dict[str, Compound]:
    """Return the compounds among the options, in the light of the whole question."""
    code = question.snippet.code if question.snippet else ""
    return dict(_read_all(question.text, tuple(question.options.items()), code))


@lru_cache(maxsize=256)
def _read_all(text: str, options: tuple[tuple[str, str], ...], code: str) -> Compounds:
    """Kept, because a question is judged anew for every version of its target."""
    question = Question("", text, dict(options), Snippet(code))
    letters = tuple(question.options)
    found = {
        letter: compound
        for position, letter in enumerate(letters)
        if (compound := read_compound(question.options[letter], letters, position))
    }
    found = _without_values(question, found)
    found = _without_nesting(_without_names(question, found))
    bound = {letter: _bind(letter, one, found, letters) for letter, one in found.items()}
    return {letter: one for letter, one in bound.items() if _is_about_something(one)}


def _plain(text: str) -> str:
    """Return the words without the punctuation around letters."""
    plain = re.sub(r"[`*\"“”'’]|\((?=\w+\))|(?<=\w)\)", "", text)
    return re.sub(r"\s+", " ", plain).strip(" .;:!")


def _read_group(plain: str, text: str, letters: Sequence[str], position: int) -> Compound | None:
    above, below = tuple(letters[:position]), tuple(letters[position + 1 :])
    others = above + below
    bare = plain.lower() in {"none", "neither"} and not below and "`" not in text
    none = re.fullmatch(rf"(?:none|neither|no {_NOUN})(?: {_GROUP}){_WORDS}", plain, re.IGNORECASE)
    if others and (bare or none):
        return Compound(CompoundKind.NONE, fail=others, words=_words(none))
    both = re.fullmatch(rf"both(?: {_GROUP})?{_WORDS}", plain, re.IGNORECASE)
    if both and position == 2:
        return Compound(CompoundKind.ALL, hold=above, words=_words(both))
    every = re.fullmatch(rf"(?:all|each) {_GROUP}{_WORDS}", plain, re.IGNORECASE)
    if not every or len(others) < 2:
        return None
    if above and "above" in plain.lower():
        return Compound(CompoundKind.ALL, hold=above, perhaps=below, words=_words(every))
    return Compound(CompoundKind.ALL, hold=others, words=_words(every))


def _words(found: re.Match[str] | None) -> str:
    return (found.groupdict().get("words") or "").strip() if found else ""


def _read_letters(plain: str, others: tuple[str, ...]) -> Compound | None:
    for kind, form in _forms(others) if others else ():
        if found := form.fullmatch(plain):
            named = _find_letters(found.group("named"), others)
            return _of_letters(kind, named, others, _words(found))
    return None


@lru_cache(maxsize=64)
def _forms(others: tuple[str, ...]) -> tuple[tuple[CompoundKind, re.Pattern[str]], ...]:
    """Return the patterns that name options by letters; words in any case."""
    one = rf"(?:(?i:options?|choices?|answers?) )?(?:{'|'.join(map(re.escape, others))})"
    several = rf"{one}(?:, {one})*,? (?i:and|&) {one}"
    either = rf"{one}(?:, {one})*,? (?i:or) {one}"
    every = rf"(?i:all|everything|all {_GROUP}),? (?i:except|but|except for|apart from)"
    forms = (
        (CompoundKind.ONLY, rf"(?i:only|just) (?P<named>{several}|{one}){_WORDS}"),
        (CompoundKind.ONLY, rf"(?P<named>{several}|{one}) (?i:only){_WORDS}"),
        (CompoundKind.BOTH, rf"(?:(?i:both|all of) )?(?P<named>{several}){_WORDS}"),
        (CompoundKind.NEITHER, rf"(?i:neither) (?P<named>{one} (?i:nor) {one}){_WORDS}"),
        (CompoundKind.EITHER, rf"(?:(?i:either) )?(?P<named>{either}){_WORDS}"),
        (CompoundKind.EXCEPT, rf"{every} (?P<named>{several}|{one})"),
    )
    return tuple((kind, re.compile(form)) for kind, form in forms)


def _find_letters(text: str, others: tuple[str, ...]) -> tuple[str, ...]:
    tokens = set(re.split(r"[,\s]+", text))
    return tuple(letter for letter in others if letter in tokens)


def _of_letters(
    kind: CompoundKind, named: tuple[str, ...], others: tuple[str, ...], words: str
) -> Compound | None:
    rest = tuple(letter for letter in others if letter not in named)
    if kind is not CompoundKind.ONLY and kind is not CompoundKind.EXCEPT and len(named) < 2:
        return None
    if kind is CompoundKind.NEITHER:
        return Compound(kind, fail=named, words=words)
    if kind is CompoundKind.EXCEPT:
        return Compound(kind, hold=rest, fail=named, words=words) if rest else None
    fail = rest if kind is CompoundKind.ONLY else ()
    return Compound(kind, hold=named, fail=fail, words=words)


_VALUE = re.compile(r"^[`'\"\[({]|^(?:True|False|null|-?\d[\d.]*)$")
_ASKS_A_VALUE = re.compile(
    r"\b(?:returns?|returned|default|defaults|value|type|output|prints?|printed|evaluates?)\b",
    re.IGNORECASE,
)


def _without_values(question: Question, found: dict[str, Compound]) -> dict[str, Compound]:
    """Leave out a plain "None" where it is the value `None`."""
    values = any(_VALUE.match(text.strip()) for text in question.options.values())
    if not (values or _ASKS_A_VALUE.search(question.text)):
        return found
    return {
        letter: one
        for letter, one in found.items()
        if question.options[letter].strip(" .") != "None"
    }


def _without_names(question: Question, found: dict[str, Compound]) -> dict[str, Compound]:
    """Leave out compounds whose letters are names in the question itself."""
    if not _names_letters(question, found):
        return found
    groups = (CompoundKind.ALL, CompoundKind.NONE)
    return {letter: one for letter, one in found.items() if one.kind in groups}


def _names_letters(question: Question, found: dict[str, Compound]) -> bool:
    letters = tuple(question.options)
    ordinary = [text for letter, text in question.options.items() if letter not in found]
    if any(_plain(text) in letters or _read_letters(_plain(text), letters) for text in ordinary):
        return True
    quoted = re.findall(r"`[^`]*`", " ".join([question.text, *ordinary]))
    code = " ".join([question.snippet.code if question.snippet else "", *quoted])
    # "A" alone is mostly an article in prose; other letters are not.
    names = [one for one in letters if one not in ("A", "I", "a")]
    return _mentions(code, letters) or _mentions(question.text, names)


def _mentions(text: str, letters: Sequence[str]) -> bool:
    return any(re.search(rf"\b{re.escape(letter)}\b", text) for letter in letters)


def _without_nesting(found: dict[str, Compound]) -> dict[str, Compound]:
    """Leave out a compound that names another compound: it is an ordinary option."""
    return {
        letter: one
        for letter, one in found.items()
        if one.kind in (CompoundKind.ALL, CompoundKind.NONE)
        or not any(part in found for part in one.named)
    }


def _bind(
    letter: str, one: Compound, found: dict[str, Compound], letters: tuple[str, ...]
) -> Compound:
    """Return the compound without the letters of options that it cannot be about."""
    if one.kind is CompoundKind.NONE:
        others = (other for other in letters if other != letter)
        fail = (o for o in others if o not in found or found[o].kind is not CompoundKind.NONE)
        return replace(one, fail=tuple(fail))
    return replace(
        one,
        hold=tuple(part for part in one.hold if part not in found),
        fail=tuple(part for part in one.fail if part not in found),
        perhaps=tuple(part for part in one.perhaps if part not in found),
    )


def _is_about_something(one: Compound) -> bool:
    if one.kind in (CompoundKind.NONE, CompoundKind.NEITHER):
        return bool(one.fail)
    return bool(one.hold)


def derive(findings: OptionFindings, compounds: Compounds, stem: Stem) -> dict[str, OptionFinding]:
    """Return the findings with those on compounds; `findings` have the stem's polarity."""
    derived = {letter: one for letter, one in findings.items() if letter not in compounds}
    # "None" may be about other compounds, so it comes after them.
    order = sorted(compounds, key=lambda letter: compounds[letter].kind is CompoundKind.NONE)
    for letter in order:
        derived[letter] = _derive(compounds[letter], derived, stem)
    return {letter: derived[letter] for letter in dict.fromkeys([*findings, *order])}


def find_deciding(letter: str, findings: OptionFindings, compounds: Compounds) -> tuple[str, ...]:
    """Return the ordinary options on whose proofs the finding on an option rests."""
    if letter not in compounds:
        return (letter,)
    deciding = _deciding(compounds[letter], findings[letter].state, findings)
    reached = (one for part in deciding for one in find_deciding(part, findings, compounds))
    return tuple(dict.fromkeys(reached))


def _derive(compound: Compound, findings: OptionFindings, stem: Stem) -> OptionFinding:
    state, why = _read_state(compound, findings, stem)
    deciding = _deciding(compound, state, findings)
    grounds = [findings[letter].grounds for letter in deciding]
    claims = [claim for letter in deciding for claim in findings[letter].rests_on]
    return OptionFinding(
        state,
        why or _describe(deciding, findings),
        grounds=Grounds.DOCUMENTED if Grounds.DOCUMENTED in grounds else Grounds.EXECUTED,
        rests_on=tuple(dict.fromkeys(claims)),
        derived_from=compound.about,
    )


def _read_state(compound: Compound, findings: OptionFindings, stem: Stem) -> tuple[State, str]:
    """Return the state, and the reason where it stays open."""
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


def _state(compound: Compound, findings: OptionFindings) -> State:
    hold = [_part_state(findings, letter) for letter in compound.parts]
    fail = [_part_state(findings, letter) for letter in compound.fail]
    if compound.kind is CompoundKind.EITHER:
        # One of two: "either will do" says no, "one of them" says yes. Only agreement decides.
        return hold[0] if len(set(hold)) == 1 else State.UNPROVEN
    if State.FAILS in hold or any(_refutes(findings, letter) for letter in compound.fail):
        return State.FAILS
    if set(hold) <= {State.HOLDS} and set(fail) <= {State.FAILS}:
        return State.HOLDS
    return State.UNPROVEN


def _part_state(findings: OptionFindings, letter: str) -> State:
    """Return the state of a part; a contradiction counts as unproven."""
    found = findings.get(letter)
    return found.state if found and found.state in (State.HOLDS, State.FAILS) else State.UNPROVEN


def _refutes(findings: OptionFindings, letter: str) -> bool:
    """Tell whether an option holds by execution: documentation refutes no other option."""
    found = findings.get(letter)
    return found is not None and found.state is State.HOLDS and found.grounds is Grounds.EXECUTED


def _deciding(compound: Compound, state: State, findings: OptionFindings) -> tuple[str, ...]:
    if state is State.FAILS and compound.kind is not CompoundKind.EITHER:
        failed = [one for one in compound.parts if _part_state(findings, one) is State.FAILS]
        return (*failed, *(one for one in compound.fail if _refutes(findings, one)))
    return compound.about if state in (State.HOLDS, State.FAILS) else ()


def _rests_on_working(compound: Compound, state: State, findings: OptionFindings) -> bool:
    """Tell whether it is decided by an option that holds alone, and not by one that fails."""
    if state is State.HOLDS:
        return bool(compound.parts)
    return not any(_part_state(findings, letter) is State.FAILS for letter in compound.parts)


def _describe(letters: Iterable[str], findings: OptionFindings) -> str:
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


def _why_open(compound: Compound, findings: OptionFindings) -> str:
    unknown = [one for one in compound.about if _part_state(findings, one) is State.UNPROVEN]
    if unknown:
        return f"it depends on {', '.join(unknown)}, which nothing has settled"
    return "its parts do not decide it"
