"""Facts about a verifier, derived from the trials of one case. Pure functions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.model import CaseResult, Value, score_of
from assay.submissions.audits.changes import MutationKind
from assay.submissions.audits.mutants import fingerprint_content
from assay.submissions.audits.trials import CaseTrials, ReferenceTrial, VerifierJudgement

# Readers of scores take a case with this score for correct.
VISIBLE_SCORE = 0.95
# And this part of an even share is too little to be meant; many equal checks are no mistake.
_PART_OF_EVEN_SHARE = 0.2
_ALIKE = 0.85
# Other attributes tell when and where a program ran, and differ by their nature.
_PRODUCED = {"output", "stderr", "status_code"}


@dataclass(frozen=True)
class Label:
    """A mutant, without its result."""

    kind: MutationKind
    attribute: str
    place: str

    @property
    def where(self) -> str:
        return f"{self.attribute} {self.place}".rstrip()


@dataclass(frozen=True)
class Break:
    """A wrong result for which the verifier gave no judgement."""

    error: str
    attribute: str
    value: Value
    """What the attribute had."""


@dataclass
class CaseFacts:
    """One case, and the defects of its judgement."""

    id: str
    failure: str = ""
    """Why the reference is not right; empty if it is."""
    flaky: tuple[str, ...] = ()
    """What was judged differently in two runs."""
    restless: tuple[str, ...] = ()
    """What differed in two runs and was right both times."""
    is_idle_right: bool = False
    is_tried: bool = False
    """Whether there are mutants: not of a case that the reference does not pass."""
    rejected: list[Label] = field(default_factory=list)
    accepted: list[Label] = field(default_factory=list)
    unjudged: tuple[str, ...] = ()
    """Attributes that nothing is said about: mutants of them are not counted."""
    breaks: dict[str, Break] = field(default_factory=dict)
    """On which wrong results the verifier gave no judgement."""
    never_fails: dict[str, float] = field(default_factory=dict)
    """Checks that were right in every trial, with their share of the weight."""
    compares_nothing: dict[str, float] = field(default_factory=dict)
    """Those among them that name nothing of a result."""
    misspelt: dict[str, str] = field(default_factory=dict)
    """Keys that name nothing, and the attribute without a judgement they are like."""
    invisible: dict[str, float] = field(default_factory=dict)
    """Checks whose failure leaves the score as good as whole, with their share of the weight."""
    unread: tuple[str, ...] = ()
    """Expected values that no judgement depends on."""


def collect_facts(trials: CaseTrials) -> CaseFacts:
    """Return the facts shown by the trials of a case."""
    first, second = trials.first.judged, trials.second.judged
    facts = CaseFacts(trials.first.drawn.case.id, is_idle_right=trials.idle.did_pass)
    if first.did_pass != second.did_pass:
        facts.flaky = tuple(sorted(_find_disagreements(first, second)))
    facts.failure = "" if first.did_pass or second.did_pass else _failure(first)
    facts.restless = tuple(sorted(_differing(trials.first, trials.second)))
    facts.breaks = _breaks(trials)
    if trials.is_sound:
        facts.is_tried = True
        _count_mutants(trials, facts)
        _look_at_keys(trials, facts)
        facts.unread = _unread(trials)
    return facts


def _failure(judged: VerifierJudgement) -> str:
    if judged.error is not None:
        return judged.error
    wrong = judged.wrong()
    return f"wrong: {', '.join(wrong)}" if wrong else "nothing is verified"


def _find_disagreements(first: VerifierJudgement, second: VerifierJudgement) -> set[str]:
    if first.error is not None or second.error is not None:
        return {"(the verifier gave no judgement)"}
    before, after = first.says(), second.says()
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _differing(first: ReferenceTrial, second: ReferenceTrial) -> set[str]:
    """Return the differences between two runs, in produced and in judged values."""
    before, after = first.actual.attributes(), second.actual.attributes()
    return {
        name
        for name in before.keys() | after.keys()
        if (name in _PRODUCED or name in first.judged.results or name.startswith("files-"))
        and fingerprint_content(before.get(name)) != fingerprint_content(after.get(name))
    }


def _breaks(trials: CaseTrials) -> dict[str, Break]:
    found = {}
    if trials.idle.error is not None:
        found["doing nothing"] = Break(trials.idle.error, "output", "")
    for mutant, judged in trials.mutants:
        if judged.error is not None:
            value = mutant.result.attributes().get(mutant.attribute)
            found[mutant.label] = Break(judged.error, mutant.attribute, value)
    return found


def _count_mutants(trials: CaseTrials, facts: CaseFacts) -> None:
    judged_attributes = _find_judged(trials)
    unjudged = set()
    for mutant, judged in trials.mutants:
        if mutant.attribute not in judged_attributes:
            unjudged.add(mutant.attribute)
            continue
        label = Label(mutant.kind, mutant.attribute, mutant.place)
        (facts.accepted if judged.did_pass else facts.rejected).append(label)
    facts.unjudged = tuple(sorted(unjudged))


def _find_judged(trials: CaseTrials) -> set[str]:
    """Return the attributes that are judged: by a key, an expected value, or an effect."""
    drawn, was = trials.first.drawn, trials.first.judged
    expected = drawn.expected
    stated = {*expected.attributes()} & {*expected.given(), *_file_names(expected)}
    by_what_it_does = {
        mutant.attribute
        for mutant, judged in trials.mutants
        if judged.error is None and judged.says() != was.says()
    }
    return {*was.results, *stated, *by_what_it_does}


def _file_names(result: CaseResult) -> Iterable[str]:
    return [name for name in result.attributes() if name.startswith("files-")]


def _look_at_keys(trials: CaseTrials, facts: CaseFacts) -> None:
    results = trials.first.judged.results
    total = sum(one.weight for one in results.values())
    attributes = _attribute_names(trials)
    wrong_ones = trials.wrong_ones()
    judged = [one for one in wrong_ones if one.error is None]
    for name, found in results.items():
        share = found.weight / total
        seen = [one.results[name] for one in judged if name in one.results]
        # It must have judged every trial: of one it was not asked about it may well fail.
        is_tried = trials.is_probed and len(seen) == len(wrong_ones)
        if is_tried and all(one.is_correct for one in seen):
            silent = name not in attributes and all(one.diff == found.diff for one in seen)
            (facts.compares_nothing if silent else facts.never_fails)[name] = share
        elif _is_invisible(share, len(results)) and any(_hides(name, one) for one in judged):
            facts.invisible[name] = share
        if trials.first.drawn.is_judged_by_expected and name not in attributes:
            facts.misspelt |= _nearly(name, _worth_judging(trials) - results.keys())


def _attribute_names(trials: CaseTrials) -> set[str]:
    actual, expected = trials.first.actual, trials.first.drawn.expected
    # Looked at both ways: as one field, and as the files in it.
    return {*actual.attributes(), *expected.attributes(), *type(actual).model_fields}


def _is_invisible(share: float, checks: int) -> bool:
    return 1 - share >= VISIBLE_SCORE and share < _PART_OF_EVEN_SHARE / checks


def _hides(name: str, judged: VerifierJudgement) -> bool:
    """Return whether the check failed here although the score is almost full."""
    found = judged.results.get(name)
    score = score_of([(one.is_correct, one.weight) for one in judged.results.values()])
    return found is not None and found.is_correct is False and score >= VISIBLE_SCORE


def _worth_judging(trials: CaseTrials) -> set[str]:
    """Return the produced and the expected attributes; others need not be judged."""
    expected = trials.first.drawn.expected
    names = {*trials.first.actual.attributes(), *expected.attributes()}
    files = {name for name in names if name.startswith("files-")}
    return (names & {*_PRODUCED, "headers", *expected.given()}) | files


def _nearly(name: str, unjudged: set[str]) -> dict[str, str]:
    close = difflib.get_close_matches(name, sorted(unjudged), n=1, cutoff=_ALIKE)
    return {name: close[0]} if close else {}


def _unread(trials: CaseTrials) -> tuple[str, ...]:
    """Return the places of unread values, exact where other items of the list are read."""
    read = {one.place for one in trials.read}
    places = (one.exact if one.place in read else one.place for one in trials.unread)
    return tuple(dict.fromkeys(places))
