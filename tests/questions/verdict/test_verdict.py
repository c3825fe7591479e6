"""The verdict in words: one example for every rule."""

from __future__ import annotations

import pytest

from assay.questions.model import Question
from assay.questions.proofs.claims import Claim, Grounds, Relation
from assay.questions.verdict.option_findings import OptionFinding, State
from assay.questions.verdict.stems import Stem, StemKind
from assay.questions.verdict.verdict import (
    Judgement,
    Verdict,
    accuses,
    answers_of,
    can_be_decided,
    is_settled,
    judge,
)

HOLDS = OptionFinding(State.HOLDS, "so it is")
FAILS = OptionFinding(State.FAILS, "it is not so")
ABSENT = OptionFinding(State.FAILS, "there is no such name", is_absent_path=True)
OPEN = OptionFinding(State.UNPROVEN, "it timed out")
TORN = OptionFinding(State.CONTRADICTED, "both sides passed")
WRITTEN = OptionFinding(State.HOLDS, "it is written", grounds=Grounds.DOCUMENTED)
WRITTEN_OFF = OptionFinding(State.FAILS, "it is not written", grounds=Grounds.DOCUMENTED)

ONE_TRUE, ONE_FALSE = Stem(StemKind.ONE_TRUE), Stem(StemKind.ONE_FALSE)
BEST = Stem(StemKind.SUPERLATIVE)


def _judge(key: str, *findings: OptionFinding, stem: Stem = ONE_TRUE, last: str = "") -> Judgement:
    return judge(_question(len(findings), last), stem, _by_letter(findings), key)


def _question(count: int, last: str = "") -> Question:
    texts = [f"this is number {number}" for number in range(count)] + ([last] if last else [])
    return Question("q", "Which is it?", dict(zip("ABCDEF", texts, strict=False)))


def _by_letter(findings: tuple[OptionFinding, ...]) -> dict[str, OptionFinding]:
    return dict(zip("ABCDEF", findings, strict=False))


def _brief(judgement: Judgement) -> tuple[Verdict, str]:
    return judgement.verdict, judgement.code


def test_the_key_holds_and_every_other_fails() -> None:
    judgement = _judge("B", FAILS, HOLDS, FAILS)
    assert _brief(judgement) == (Verdict.VALID, "key-holds")
    assert judgement.answers == ("B",)
    assert judgement.rests_on == ()
    assert not accuses(judgement)


def test_the_key_fails_and_another_holds() -> None:
    judgement = _judge("C", FAILS, HOLDS, FAILS)
    assert _brief(judgement) == (Verdict.INCORRECT, "key-fails")
    assert judgement.reason == "the key C fails: it is not so; B holds"
    assert judgement.rests_on == ("C",)
    assert accuses(judgement)


def test_the_key_fails_and_the_rest_is_open() -> None:
    judgement = _judge("A", FAILS, OPEN)
    assert _brief(judgement) == (Verdict.INCORRECT, "key-fails")
    assert judgement.answers == ()


def test_the_key_and_another_hold() -> None:
    judgement = _judge("A", HOLDS, OPEN, HOLDS)
    assert _brief(judgement) == (Verdict.AMBIGUOUS, "several-hold")
    assert judgement.reason == "the key A holds, and so does C"
    assert judgement.rests_on == ("A", "C")


def test_a_rival_that_is_open_or_contradicted_leaves_it_unproven() -> None:
    assert _brief(_judge("A", HOLDS, OPEN)) == (Verdict.UNPROVEN, "rivals-unproven")
    torn = _judge("A", HOLDS, TORN)
    assert torn.verdict is Verdict.UNPROVEN
    assert torn.reason == "B is contradicted: both sides passed"


def test_an_open_or_contradicted_key_is_not_accused_even_if_another_holds() -> None:
    assert _brief(_judge("A", OPEN, HOLDS)) == (Verdict.UNPROVEN, "key-unproven")
    torn = _judge("A", TORN, HOLDS)
    assert _brief(torn) == (Verdict.UNPROVEN, "key-contradicted")
    assert torn.answers == ("B",)


def test_an_option_without_a_finding_is_unproven() -> None:
    judgement = judge(_question(2), ONE_TRUE, {"A": HOLDS}, "A")
    assert judgement.verdict is Verdict.UNPROVEN
    assert "nothing was proven" in judgement.reason


def test_a_key_that_is_no_option_needs_no_proof() -> None:
    for stem in (ONE_TRUE, BEST, Stem(StemKind.OTHER, "no", clear=False)):
        judgement = _judge("F", OPEN, OPEN, stem=stem)
        assert _brief(judgement) == (Verdict.INCORRECT, "key-not-an-option")
        assert judgement.rests_on == ()


def test_every_option_failing_makes_the_reading_suspect() -> None:
    assert _brief(_judge("A", FAILS, FAILS)) == (Verdict.UNPROVEN, "suspect-reading")
    assert _brief(_judge("A", ABSENT, FAILS)) == (Verdict.UNPROVEN, "suspect-reading")


def test_unless_each_failure_is_a_full_name_that_does_not_exist() -> None:
    assert _brief(_judge("A", ABSENT, ABSENT)) == (Verdict.INCORRECT, "key-fails")
    both = _judge("A", ABSENT, ABSENT, last="Both A and B")
    assert both.verdict is Verdict.INCORRECT


def test_none_is_right_when_every_other_fails_and_wrong_when_one_holds() -> None:
    none = "None of the above"
    assert _judge("C", FAILS, FAILS, last=none).verdict is Verdict.VALID
    wrong = _judge("C", OPEN, HOLDS, last=none)
    assert wrong.reason == "the key C fails: B holds"
    assert wrong.rests_on == ("B",)
    beside = _judge("A", FAILS, FAILS, last=none)
    assert beside.verdict is Verdict.INCORRECT
    assert beside.answers == ("C",)


def test_none_does_not_stand_beside_a_key_that_holds() -> None:
    none = "None of the above"
    assert _judge("A", HOLDS, FAILS, last=none).verdict is Verdict.VALID
    assert _judge("A", WRITTEN, FAILS, last=none).verdict is Verdict.VALID
    assert _judge("A", HOLDS, FAILS, last=none, stem=BEST).verdict is Verdict.VALID


def test_the_parts_of_a_compound_are_not_its_rivals() -> None:
    assert _judge("D", HOLDS, FAILS, HOLDS, last="Both A and C").verdict is Verdict.VALID
    assert _judge("D", HOLDS, HOLDS, HOLDS, last="All of the above").verdict is Verdict.VALID


def test_a_rival_beside_a_compound_key_is_an_ambiguity() -> None:
    judgement = _judge("D", HOLDS, HOLDS, HOLDS, last="Both A and C")
    assert judgement.verdict is Verdict.AMBIGUOUS
    assert judgement.rests_on == ("A", "B", "C")


def test_a_part_as_key_is_incorrect_and_the_compound_is_named() -> None:
    judgement = _judge("A", HOLDS, FAILS, HOLDS, last="Both A and C")
    assert _brief(judgement) == (Verdict.INCORRECT, "key-is-a-part")
    assert "D holds as well: A and C hold" in judgement.reason
    assert judgement.rests_on == ("A", "C")


def test_a_smaller_compound_is_a_part_of_a_larger_one() -> None:
    texts = ("one", "two", "three", "Both A and B", "All of the above")
    question = Question("q", "Which is it?", dict(zip("ABCDE", texts, strict=True)))
    findings = dict.fromkeys("ABC", HOLDS)
    assert judge(question, ONE_TRUE, findings, "E").verdict is Verdict.VALID
    assert judge(question, ONE_TRUE, findings, "D").code == "key-is-a-part"
    assert "E holds as well" in judge(question, ONE_TRUE, findings, "A").reason


def test_a_compound_key_with_a_failing_part_is_incorrect() -> None:
    judgement = _judge("D", HOLDS, FAILS, OPEN, last="All of the above")
    assert judgement.reason == "the key D fails: B fails; A holds"
    assert judgement.rests_on == ("B",)


def test_what_was_proven_about_a_compound_itself_counts_for_nothing() -> None:
    findings = {"A": FAILS, "B": HOLDS, "C": HOLDS}
    assert judge(_question(2, "Both A and B"), ONE_TRUE, findings, "B").verdict is Verdict.VALID


def test_a_negated_question_asks_for_what_fails() -> None:
    assert _judge("B", HOLDS, FAILS, HOLDS, stem=ONE_FALSE).verdict is Verdict.VALID
    wrong = _judge("A", HOLDS, FAILS, HOLDS, stem=ONE_FALSE)
    assert (wrong.verdict, wrong.answers) == (Verdict.INCORRECT, ("B",))
    assert _judge("B", FAILS, FAILS, HOLDS, stem=ONE_FALSE).verdict is Verdict.AMBIGUOUS


def test_a_negated_question_of_which_every_option_is_true_is_suspect() -> None:
    judgement = _judge("A", HOLDS, HOLDS, stem=ONE_FALSE)
    assert _brief(judgement) == (Verdict.UNPROVEN, "suspect-reading")
    none = _judge("A", HOLDS, HOLDS, stem=ONE_FALSE, last="None of the above")
    assert none.verdict is Verdict.INCORRECT


@pytest.mark.parametrize("kind", [StemKind.SUPERLATIVE, StemKind.WHY, StemKind.OTHER])
def test_two_that_work_are_no_ambiguity_where_the_best_is_asked_for(kind: StemKind) -> None:
    judgement = _judge("A", HOLDS, HOLDS, FAILS, stem=Stem(kind))
    assert _brief(judgement) == (Verdict.UNPROVEN, "several-hold")
    assert _judge("C", HOLDS, HOLDS, FAILS, stem=Stem(kind)).verdict is Verdict.INCORRECT


def test_that_something_works_does_not_refute_none_as_the_best() -> None:
    judgement = _judge("C", HOLDS, FAILS, stem=BEST, last="None of the above")
    assert _brief(judgement) == (Verdict.UNPROVEN, "key-unproven")


def test_what_is_documented_confirms_and_never_accuses() -> None:
    assert _judge("A", WRITTEN, FAILS).verdict is Verdict.VALID
    assert _judge("A", HOLDS, WRITTEN).verdict is Verdict.UNPROVEN
    assert _judge("A", WRITTEN, HOLDS).verdict is Verdict.UNPROVEN
    assert _judge("A", WRITTEN_OFF, HOLDS).verdict is Verdict.UNPROVEN
    assert _judge("A", HOLDS, WRITTEN_OFF).verdict is Verdict.UNPROVEN
    assert _judge("C", WRITTEN, FAILS, last="None of the above").verdict is Verdict.UNPROVEN
    assert _judge("A", HOLDS, WRITTEN, last="Both A and B").verdict is Verdict.UNPROVEN
    assert _judge("C", HOLDS, WRITTEN, last="Both A and B").verdict is Verdict.VALID
    assert _judge("A", WRITTEN, FAILS, stem=ONE_FALSE).verdict is Verdict.UNPROVEN


def test_a_stem_that_is_not_clear_is_never_decided() -> None:
    stem = Stem(StemKind.SUPERLATIVE, "least", clear=False)
    judgement = _judge("A", FAILS, HOLDS, stem=stem)
    assert _brief(judgement) == (Verdict.UNPROVEN, "unclear-stem")
    assert "'least'" in judgement.reason


def test_notes_come_along_with_the_letter_of_their_option() -> None:
    noted = OptionFinding(State.FAILS, "not so", notes=("broader-exception",))
    assert _judge("A", HOLDS, noted).notes == ("B: broader-exception",)


def test_settled_means_that_nothing_is_left_to_prove() -> None:
    question = _question(2, "None of the above")
    assert is_settled(question, {"A": HOLDS, "B": FAILS})
    assert is_settled(question, {"A": WRITTEN, "B": FAILS})
    assert not is_settled(question, {"A": HOLDS})
    assert not is_settled(question, {"A": HOLDS, "B": OPEN})
    assert not is_settled(question, {"A": HOLDS, "B": TORN})
    assert not is_settled(question, {"A": HOLDS, "B": WRITTEN_OFF})


def test_the_answers_of_a_negated_question_are_turned_round_and_derived() -> None:
    question = _question(2, "None of the above")
    found = answers_of(question, ONE_FALSE, {"A": HOLDS, "B": ABSENT})
    assert [found[one].state for one in "ABC"] == [State.FAILS, State.HOLDS, State.FAILS]
    assert not found["B"].is_absent_path
    assert found["C"].derived_from == ("A", "B")


def _by(kind: str, state: State = State.FAILS, *, by_person: bool = False) -> OptionFinding:
    claim = Claim("C", "it is there", Relation.EQUIVALENT, kind, by_person=by_person)
    return OptionFinding(state, "…", rests_on=(claim,))


STANDS = OptionFinding(State.UNPROVEN, "it is there, which is not enough", stands=True)


@pytest.mark.parametrize("others", [(HOLDS, HOLDS), (STANDS, STANDS), (HOLDS, STANDS, STANDS)])
def test_a_program_does_not_accuse_where_only_the_key_fails(
    others: tuple[OptionFinding, ...],
) -> None:
    """It may have taken "Which one raises an error?" for "Which one works?"."""
    judgement = judge(
        _question(len(others) + 1), ONE_TRUE, _by_letter((_by("import"), *others)), "A"
    )
    assert _brief(judgement) == (Verdict.UNPROVEN, "suspect-reading")


@pytest.mark.parametrize(
    ("key", "others"),
    [
        (_by("import"), (HOLDS, FAILS)),
        (_by("import"), (STANDS, FAILS, STANDS)),
        (_by("import"), (HOLDS, OPEN)),
        (_by("import"), (HOLDS,)),
        (_by("written"), (HOLDS, HOLDS)),
        (_by("import", by_person=True), (HOLDS, HOLDS)),
    ],
)
def test_it_accuses_where_another_fails_too_or_a_person_wrote_the_proof(
    key: OptionFinding, others: tuple[OptionFinding, ...]
) -> None:
    judgement = judge(_question(len(others) + 1), ONE_TRUE, _by_letter((key, *others)), "A")
    assert _brief(judgement) == (Verdict.INCORRECT, "key-fails")


def _can_decide(key: str, *findings: OptionFinding, stem: Stem = ONE_TRUE, ask: str) -> bool:
    question = _question(len(findings))
    return can_be_decided(question, stem, _by_letter(findings), key, (), list(ask))


def test_whether_more_can_be_found_out_that_leads_to_a_verdict() -> None:
    assert _can_decide("A", OPEN, OPEN, ask="AB")
    assert _can_decide("A", HOLDS, OPEN, ask="B")
    # What is open of the key stays open: its proof is for its author to look at.
    assert not _can_decide("A", OPEN, OPEN, OPEN, ask="BC")
    assert _can_decide("A", OptionFinding(State.UNPROVEN, stands=True), OPEN, OPEN, ask="BC")
    assert not _can_decide("A", TORN, OPEN, ask="B")
    # Two that work cannot be told apart where the best is asked for, unless the key does not work.
    assert not _can_decide("A", HOLDS, HOLDS, OPEN, stem=BEST, ask="C")
    assert _can_decide("A", OPEN, HOLDS, stem=BEST, ask="A")
    # Who makes claims may say how an unclear question is to be read.
    unclear = Stem(StemKind.OTHER, "not", clear=False)
    assert _can_decide("A", OPEN, OPEN, stem=unclear, ask="AB")
    assert not _can_decide("A", TORN, OPEN, stem=unclear, ask="B")


def test_many_open_options_are_not_gone_through() -> None:
    options = {str(number): f"this is number {number}" for number in range(30)}
    question = Question("q", "Which is it?", options)
    assert can_be_decided(question, ONE_TRUE, {"0": TORN}, "0", (), list(options)[1:])
