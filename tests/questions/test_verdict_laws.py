"""Laws of the verdict, over every combination of findings, stems, keys and compound options.

They speak of possible worlds: every way in which the open options could turn out. A verdict is
right if it is right in all of them, and this is told without a look at how it is made.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.questions.model import Question
from assay.questions.proofs.claims import Grounds
from assay.questions.verdict.option_findings import OptionFinding, State
from assay.questions.verdict.stems import Stem, StemKind
from assay.questions.verdict.verdict import Judgement, Verdict, accuses, judge

World = dict[str, bool]
STATES = tuple(State)
STRICT = (StemKind.ONE_TRUE, StemKind.ONE_FALSE)
LOOSE = (StemKind.SUPERLATIVE, StemKind.WHY, StemKind.OTHER)


@dataclass(frozen=True)
class Extra:
    """A compound option: its words, what it says in a world, and which options are parts of it."""

    text: Callable[[list[str]], str]
    says: Callable[[list[bool]], bool]
    parts: Callable[[list[str]], list[str]]


ALL = Extra(lambda _: "All of the above", all, list)
BOTH = Extra(
    lambda letters: f"Both {letters[0]} and {letters[1]}",
    lambda truths: truths[0] and truths[1],
    lambda letters: letters[:2],
)
NONE = Extra(lambda _: "None of the above", lambda truths: not any(truths), lambda _: [])
WIDE_MIXES = ((), (NONE,), (BOTH, NONE))
MIXES = ((), (NONE,), (ALL,), (BOTH,), (ALL, NONE), (BOTH, NONE))


@dataclass(frozen=True)
class Case:
    """A question of `len(states)` ordinary options, then its compounds.

    `order` says which letter the ordinary options have, so that they can be shuffled.
    """

    kind: StemKind
    states: tuple[State, ...]
    extras: tuple[Extra, ...]
    key: str
    order: tuple[int, ...] = ()
    documented: frozenset[int] = frozenset()

    @property
    def letters(self) -> list[str]:
        """The letters of the ordinary options."""
        order = self.order or tuple(range(len(self.states)))
        return ["ABCDEF"[place] for place in order]

    @property
    def compounds(self) -> dict[str, Extra]:
        return dict(zip("ABCDEF"[len(self.states) :], self.extras, strict=False))

    @property
    def question(self) -> Question:
        texts = {letter: f"option {number}" for number, letter in enumerate(self.letters)}
        texts = dict(sorted(texts.items()))
        texts |= {letter: extra.text(self.letters) for letter, extra in self.compounds.items()}
        return Question("q", "Which is it?", texts)

    @property
    def findings(self) -> dict[str, OptionFinding]:
        grounds = (Grounds.EXECUTED, Grounds.DOCUMENTED)
        return {
            letter: OptionFinding(state, "a reason", grounds=grounds[number in self.documented])
            for number, (letter, state) in enumerate(zip(self.letters, self.states, strict=True))
        }

    def judged(self) -> Judgement:
        return judge(self.question, Stem(self.kind), self.findings, self.key)

    def part_of(self, part: str, whole: str) -> bool:
        def parts(letter: str) -> set[str]:
            extra = self.compounds.get(letter)
            return set(extra.parts(self.letters)) if extra else set()

        return part in parts(whole) or (bool(parts(part)) and parts(part) < parts(whole))

    def worlds(self) -> Iterator[World]:
        """Which options answer the question, in every way that agrees with what is known."""
        known = {State.HOLDS: (True,), State.FAILS: (False,)}
        for truths in itertools.product(*(known.get(one, (True, False)) for one in self.states)):
            answering = [truth is not (self.kind is StemKind.ONE_FALSE) for truth in truths]
            world = dict(zip(self.letters, answering, strict=True))
            yield world | {one: extra.says(answering) for one, extra in self.compounds.items()}

    def right(self, world: World) -> set[str]:
        """What holds in a world and is not a part of something that holds as well."""
        holding = [letter for letter, truth in world.items() if truth]
        return {one for one in holding if not any(self.part_of(one, other) for other in holding)}


@cache
def _cases() -> tuple[tuple[Case, Judgement], ...]:
    """Every combination of up to four ordinary options, with its verdict.

    The loose stems are judged alike, which is shown on up to three options, as is "All".
    """
    cases = (
        Case(kind, states, extras, key)
        for count in (2, 3, 4)
        for states in itertools.product(STATES, repeat=count)
        for extras in (MIXES if count < 4 else WIDE_MIXES)
        for kind in (StemKind if count < 4 else (*STRICT, StemKind.OTHER))
        for key in "ABCDEF"[: count + len(extras)]
    )
    return tuple((case, case.judged()) for case in cases)


def _strict() -> Iterator[tuple[Case, Judgement]]:
    return (pair for pair in _cases() if pair[0].kind in STRICT)


def _loose() -> Iterator[tuple[Case, Judgement]]:
    return (pair for pair in _cases() if pair[0].kind in LOOSE)


def test_valid_if_and_only_if_the_key_is_the_one_right_option_in_every_world() -> None:
    for case, judgement in _strict():
        expected = all(case.right(world) == {case.key} for world in case.worlds())
        assert (judgement.verdict is Verdict.VALID) is expected, case


def test_incorrect_only_if_the_key_is_not_right_in_any_world() -> None:
    for case, judgement in _strict():
        if judgement.verdict is Verdict.INCORRECT:
            assert all(case.key not in case.right(world) for world in case.worlds()), case


def test_a_key_that_is_false_in_every_world_is_incorrect_unless_all_options_are() -> None:
    for case, judgement in _strict():
        worlds = list(case.worlds())
        if any(world[case.key] for world in worlds):
            continue
        nothing = not any(any(world.values()) for world in worlds)
        assert judgement.verdict is (Verdict.UNPROVEN if nothing else Verdict.INCORRECT), case


def test_ambiguous_only_if_the_key_and_a_rival_are_true_in_every_world() -> None:
    for case, judgement in _strict():
        if judgement.verdict is Verdict.AMBIGUOUS:
            for world in case.worlds():
                rivals = {one for one, truth in world.items() if truth} - {case.key}
                assert world[case.key]
                assert any(not case.part_of(one, case.key) for one in rivals), case


def test_a_key_that_holds_beside_another_that_holds_is_always_accused() -> None:
    for case, judgement in _strict():
        common = [
            letter
            for letter in case.question.options
            if all(world[letter] for world in case.worlds())
        ]
        rivals = [one for one in common if one != case.key and not case.part_of(one, case.key)]
        if case.key in common and rivals:
            assert accuses(judgement), case
            part = any(case.part_of(case.key, one) for one in rivals)
            assert (judgement.verdict is Verdict.INCORRECT) is part


def test_loose_stems_are_never_ambiguous() -> None:
    assert all(judgement.verdict is not Verdict.AMBIGUOUS for _, judgement in _loose())


def test_loose_stems_accuse_only_a_key_with_something_that_fails() -> None:
    for case, judgement in _loose():
        if judgement.verdict is Verdict.INCORRECT:
            failing = {one for one, found in case.findings.items() if found.state is State.FAILS}
            key = case.compounds.get(case.key)
            assert failing & ({case.key} | set(key.parts(case.letters) if key else ())), case


def test_loose_stems_are_valid_exactly_where_all_ordinary_rivals_fail() -> None:
    for case, judgement in _loose():
        others = [found.state for one, found in case.findings.items() if one != case.key]
        alone = set(others) == {State.FAILS}
        if case.key in case.findings:
            expected = alone and case.findings[case.key].state is State.HOLDS
        else:
            expected = alone and case.compounds[case.key] is NONE
        assert (judgement.verdict is Verdict.VALID) is expected, case


def test_the_three_loose_kinds_are_judged_alike() -> None:
    verdicts: dict[Case, set[Verdict]] = {}
    for case, judgement in _loose():
        verdicts.setdefault(replace(case, kind=StemKind.OTHER), set()).add(judgement.verdict)
    assert all(len(found) == 1 for found in verdicts.values())


def test_a_strict_reading_accuses_wherever_a_loose_one_does() -> None:
    strict = {case: one for case, one in _cases() if case.kind is StemKind.ONE_TRUE}
    for case, judgement in _cases():
        if case.kind is StemKind.OTHER and accuses(judgement):
            assert accuses(strict[replace(case, kind=StemKind.ONE_TRUE)])


def test_at_most_one_key_of_a_question_is_valid() -> None:
    valid: dict[Case, int] = {}
    for case, judgement in _cases():
        question = replace(case, key="")
        valid[question] = valid.get(question, 0) + (judgement.verdict is Verdict.VALID)
    assert set(valid.values()) == {0, 1}


def test_a_negated_question_is_the_plain_one_with_its_findings_turned_round() -> None:
    turn = {State.HOLDS: State.FAILS, State.FAILS: State.HOLDS}
    plain = {case: one for case, one in _cases() if case.kind is StemKind.ONE_TRUE}
    for case, judgement in _cases():
        if case.kind is StemKind.ONE_FALSE:
            turned = tuple(turn.get(state, state) for state in case.states)
            twin = plain[replace(case, kind=StemKind.ONE_TRUE, states=turned)]
            assert (twin.verdict, twin.answers) == (judgement.verdict, judgement.answers)


def test_contradicted_is_worth_no_more_than_unproven() -> None:
    known = dict(_cases())
    for case, judgement in known.items():
        if State.CONTRADICTED in case.states:
            states = (State.UNPROVEN if s is State.CONTRADICTED else s for s in case.states)
            assert known[replace(case, states=tuple(states))].verdict is judgement.verdict


def test_more_knowledge_takes_back_no_verdict() -> None:
    known = dict(_cases())
    for case, before in known.items():
        if before.verdict is Verdict.UNPROVEN:
            continue
        for place, state in enumerate(case.states):
            for learned in (State.HOLDS, State.FAILS) if state is State.UNPROVEN else ():
                states = (*case.states[:place], learned, *case.states[place + 1 :])
                after = known[replace(case, states=states)]
                # With the last option failing too, the reading itself becomes suspect; and where
                # a third option holds too, the whole may make a part of two that hold.
                if after.code != "suspect-reading":
                    assert (after.verdict is Verdict.VALID) is (before.verdict is Verdict.VALID)
                    assert accuses(after) is accuses(before)
                if before.verdict is Verdict.VALID:
                    assert after.verdict is Verdict.VALID


def test_every_accusation_follows_from_what_it_rests_on_alone() -> None:
    known = dict(_cases())
    for case, judgement in known.items():
        if not accuses(judgement):
            assert judgement.rests_on == ()
            continue
        assert judgement.rests_on
        assert set(judgement.rests_on) <= set(case.letters)
        states = (
            state if letter in judgement.rests_on else State.UNPROVEN
            for letter, state in zip(case.letters, case.states, strict=True)
        )
        assert known[replace(case, states=tuple(states))].verdict is judgement.verdict, case


def test_reasons_name_the_key_or_what_is_open() -> None:
    for case, judgement in _cases():
        assert judgement.reason
        if accuses(judgement):
            assert f"the key {case.key}" in judgement.reason


def test_every_verdict_and_code_is_reached() -> None:
    reached = {(one.verdict, one.code) for _, one in _cases()}
    assert reached == {
        (Verdict.VALID, "key-holds"),
        (Verdict.AMBIGUOUS, "several-hold"),
        (Verdict.INCORRECT, "key-fails"),
        (Verdict.INCORRECT, "key-is-a-part"),
        (Verdict.UNPROVEN, "several-hold"),
        (Verdict.UNPROVEN, "rivals-unproven"),
        (Verdict.UNPROVEN, "key-unproven"),
        (Verdict.UNPROVEN, "key-contradicted"),
        (Verdict.UNPROVEN, "suspect-reading"),
    }


@st.composite
def _any_case(draw: st.DrawFn) -> Case:
    count = draw(st.integers(2, 4))
    states = tuple(draw(st.sampled_from(STATES)) for _ in range(count))
    extras = draw(st.sampled_from(MIXES))
    key = draw(st.sampled_from("ABCDEF"[: count + len(extras)]))
    documented = draw(st.frozensets(st.integers(0, count - 1)))
    kind = draw(st.sampled_from(StemKind))
    return Case(kind, states, extras, key, documented=documented)


@given(_any_case(), st.data())
def test_letters_are_only_names(case: Case, data: st.DataObject) -> None:
    count = len(case.states)
    order = tuple(data.draw(st.permutations(range(count))))
    rename = {"ABCDEF"[place]: "ABCDEF"[order[place]] for place in range(count)}
    shuffled = replace(case, order=order, key=rename.get(case.key, case.key))
    before, after = case.judged(), shuffled.judged()
    assert (after.verdict, after.code) == (before.verdict, before.code)
    assert set(after.answers) == {rename.get(one, one) for one in before.answers}
    assert set(after.rests_on) == {rename.get(one, one) for one in before.rests_on}


@settings(max_examples=200)
@given(_any_case())
def test_no_accusation_needs_documentation(case: Case) -> None:
    judgement = case.judged()
    undocumented = replace(
        case,
        states=tuple(
            State.UNPROVEN if place in case.documented else state
            for place, state in enumerate(case.states)
        ),
        documented=frozenset(),
    )
    assert accuses(judgement) is accuses(undocumented.judged())
    documented = {case.letters[place] for place in case.documented}
    assert not documented & set(judgement.rests_on)


@settings(max_examples=200)
@given(_any_case())
def test_documentation_clears_at_most_what_execution_would_clear(case: Case) -> None:
    if case.judged().verdict is Verdict.VALID:
        assert replace(case, documented=frozenset()).judged().verdict is Verdict.VALID


@given(_any_case())
def test_an_unclear_stem_is_never_decided(case: Case) -> None:
    stem = Stem(case.kind, "not", clear=False)
    judgement = judge(case.question, stem, case.findings, case.key)
    assert (judgement.verdict, judgement.code) == (Verdict.UNPROVEN, "unclear-stem")


@pytest.mark.parametrize("kind", StemKind)
def test_full_names_that_do_not_exist_leave_no_doubt_about_the_reading(kind: StemKind) -> None:
    question = Question("q", "Which is it?", {"A": "a.b", "B": "a.c", "C": "a.d"})
    for absent in itertools.product((True, False), repeat=3):
        findings = {
            letter: OptionFinding(State.FAILS, "no", is_absent_path=one)
            for letter, one in zip("ABC", absent, strict=True)
        }
        verdict = judge(question, Stem(kind), findings, "A").verdict
        if kind is StemKind.ONE_FALSE:
            assert verdict is Verdict.AMBIGUOUS
        else:
            assert verdict is (Verdict.INCORRECT if all(absent) else Verdict.UNPROVEN)
