"""What the reader takes from structure, and the causes of wrong verdicts that it was made for."""

from __future__ import annotations

from typing import get_args

import pytest

from assay.questions.claims import kinds
from assay.questions.claims.writers import WRITERS
from assay.questions.verdict.verdict import Verdict
from tests.questions.lexical.support import JudgeQuestion, Settle, states

ONLY_DEFINED = """\
from lanterns import Lamp


def make():
    return Lamp(brightness=-1).light()
"""
COROUTINE = """\
from lanterns.shop import Shop


async def main():
    print(await Shop("x").deliver())
"""
NEEDS_ARGUMENTS = ONLY_DEFINED.replace("make()", "make(lamp)")
TWO_FUNCTIONS = ONLY_DEFINED + "\n\ndef other():\n    return 1\n"
LEAVES_TRACES = """\
from lanterns import Lamp

Lamp.seen = getattr(Lamp, "seen", 0) + 1
print(Lamp.seen)
"""


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("How do you light many lamps?", ["Pass an `OilLamp` to the `Box`.", "Use `Magic`."]),
        (
            "How is a lamp kept?",
            ["By handing a `Lamp` to the `Shop`.", "By a `Box` in the `Shop`."],
        ),
        ("Which argument do you pass to `Shop`?", ["`Lamp`", "`OilLamp`"]),
    ],
)
def test_a_class_that_is_handed_over_is_no_member(
    settle: Settle, text: str, options: list[str]
) -> None:
    found = settle(text, *options)
    assert "F" not in states(found), "\n".join(one.reason for one in found.values())


@pytest.mark.parametrize("text", ["What happens when `make()` is called?", "What happens?"])
def test_a_function_that_is_only_defined_is_called(settle: Settle, text: str) -> None:
    options = ("No error is raised.", "`DarkError` is raised.", "It returns `'white'`.", "KeyError")
    assert states(settle(text, *options, snippet=ONLY_DEFINED)) == "FHFF"


def test_a_coroutine_is_awaited(settle: Settle) -> None:
    assert states(settle("What does this print?", "`1`", "`2`", snippet=COROUTINE)) == "HF"


@pytest.mark.parametrize("code", [NEEDS_ARGUMENTS, TWO_FUNCTIONS])
def test_what_nobody_says_how_to_call_is_not_run(settle: Settle, code: str) -> None:
    found = settle("What happens?", "No error is raised.", "`DarkError` is raised.", snippet=code)
    assert states(found) == "UU"
    assert "nothing says what is to be called" in found["A"].reason


def test_code_is_run_once_and_observed(settle: Settle) -> None:
    assert states(settle("What does it print?", "`1`", "`2`", snippet=LEAVES_TRACES)) == "HF"


RAISES = """\
from lanterns import Lamp

lamp = Lamp()
lamp.light(1)
"""
PRINTS = """\
from lanterns import Lamp

print([Lamp().light()])
print("end")
"""
READS_THE_CLOCK = """\
from datetime import datetime

from lanterns import Lamp


def make():
    return Lamp(brightness=-datetime.now().year)
"""
OWN_OS_ERROR = """\
from lanterns.keepers import burn

burn()
"""
ENDS_IN_THE_NETWORK = OWN_OS_ERROR.replace("burn", "call_out")


@pytest.mark.parametrize(
    ("text", "snippet", "options", "expected"),
    [
        (
            "Which exception is raised?",
            RAISES,
            ("`TypeError`", "None, the lamp is lit anyway", "Nothing"),
            "HFF",
        ),
        (
            "What happens at the last line?",
            RAISES,
            ("A `TypeError` is raised.", "It returns 'white', as always.", "The lamp goes out."),
            "HFF",
        ),
        (
            "What is printed?",
            PRINTS,
            ("`['white']`, then `end`", "`['white']` and `start`", "No output, as it is dark"),
            "HFF",
        ),
        ("What is printed?", RAISES, ("Nothing", "`white`"), "UF"),
        (
            "Which exception, if any, comes of it?",
            RAISES,
            ("A `StopIteration` is raised.", "`TypeError`", "No exception; the lamp is lit."),
            "FHF",
        ),
        (
            "What happens when `make()` is called?",
            READS_THE_CLOCK,
            ("`DarkError` is raised.", "A lamp is returned.", "`KeyError` is raised."),
            "HFF",
        ),
        ("Which exception is raised?", OWN_OS_ERROR, ("`KeyError`", "`FireError`"), "FU"),
        ("Which exception is raised?", ENDS_IN_THE_NETWORK, ("`KeyError`", "`FireError`"), "UU"),
    ],
)
def test_an_option_is_compared_with_what_was_observed(
    settle: Settle, text: str, snippet: str, options: tuple[str, ...], expected: str
) -> None:
    found = settle(text, *options, snippet=snippet)
    assert states(found) == expected, "\n".join(one.reason for one in found.values())


def test_what_a_description_leaves_out_is_not_denied(settle: Settle) -> None:
    """Without an exception among the options, nobody says that there is none."""
    found = settle("What happens?", "It checks the call.", "It draws.", snippet=RAISES)
    assert states(found) == "UU"


@pytest.mark.parametrize(
    "text",
    [
        "`make` is run by `keeper.run(make)` with `--bright 3`. What is the result?",
        "What happens when `make()` is called with `LAMP=1` set?",
        "What happens if `colour='red'` is passed?",
    ],
)
def test_code_beside_the_code_is_a_circumstance(settle: Settle, text: str) -> None:
    options = ("No error is raised.", "`DarkError` is raised.")
    assert states(settle(text, *options, snippet=ONLY_DEFINED)) == "UU"


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("How long is the `delay` of `light_all` if none is given?", ["0.5 seconds", "2 s"], "HF"),
        ("By how many candles does a `Lamp` shine unless `brightness` is set?", ["5", "7"], "HF"),
        (
            "What is the default of `brightness` in `Lamp`?",
            ["5, but it fades", "5, and it never fades", "5 candles", "7 (seven)"],
            "UUHF",
        ),
        ("Which of these is a class of `lanterns`?", ["Lamp", "Torch", "light_all"], "HFU"),
        ("Which class directly inherits from `BaseLamp`?", ["Lamp", "OilLamp", "Box"], "HFF"),
        ("Which parameter of a lamp is handed to `light_all()`?", ["`fuel`", "`colour`"], "UU"),
        ("Which code makes a dim lamp?", ["`Lamp(brightness=1)`", "`Lamp(dim=True)`"], "UF"),
    ],
)
def test_structure_is_read_whatever_the_sentence(
    settle: Settle, text: str, options: list[str], expected: str
) -> None:
    found = settle(text, *options)
    assert states(found) == expected, "\n".join(one.reason for one in found.values())


def test_a_question_about_a_member_that_is_not_there_is_incorrect(
    judge_question: JudgeQuestion,
) -> None:
    text = "What does `Lamp.extinguish` give back?"
    found = judge_question("A", text, "The oil that is left.", "A number.")
    assert (found.verdict, found.code) == (Verdict.INCORRECT, "premise-missing")


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("What does `Magic.extinguish` give back?", "The oil."),
        ("Why is there no `Lamp.extinguish`?", "It was removed."),
        ("What does `Lamp.extinguish` give back?", "It does not exist."),
        ("What does `Lamp.extinguish` give back?", "None of the above"),
        ("What is `Lamp.fuel`?", "The oil that is left."),
        ("What did `Lamp.extinguish` do in version 0.9?", "It gave oil."),
    ],
)
def test_a_premise_that_may_be_meant_otherwise_accuses_nobody(
    judge_question: JudgeQuestion, text: str, option: str
) -> None:
    assert judge_question("A", text, "A number.", option).verdict is Verdict.UNPROVEN


def test_two_names_of_one_thing_are_ambiguous(judge_question: JudgeQuestion) -> None:
    text = "Which function lights all lamps?"
    found = judge_question("A", text, "`lanterns.light_all`", "`lanterns.light_every`", "`Box`")
    assert (found.verdict, found.code) == (Verdict.AMBIGUOUS, "same-answer")
    text = "How do you get hold of the error that darkness leads to?"
    options = ("`from lanterns.lamps import DarkError`", "`from lanterns import DarkError`")
    assert judge_question("B", text, *options, "`Box`").code == "same-answer"
    named = "Which name is an alias of the function that lights all lamps?"
    options = ("`lanterns.light_every`", "`lanterns.light_all`")
    assert judge_question("A", named, *options).verdict is Verdict.UNPROVEN


@pytest.mark.parametrize(
    ("text", "key", "other"),
    [
        ("Which call lights a street?", "light_street(lamps)", "lanterns.light_all(lamps)"),
        ("`one` is a `Lamp`. Which call pours oil in?", "`one.top_up(3)`", "`one.refill(3)`"),
        ("Which method of `Lamp` makes it bright?", "`light()`", "`glow()`"),
    ],
)
def test_what_only_hands_on_is_another_name(
    judge_question: JudgeQuestion, text: str, key: str, other: str
) -> None:
    key = key.replace("light_street", "lanterns.lamps.light_street")
    found = judge_question("A", text, key, other)
    assert (found.verdict, found.code) == (Verdict.AMBIGUOUS, "same-answer"), found.reason


@pytest.mark.parametrize(
    ("text", "key", "other"),
    [
        ("Which call lights a street?", "lanterns.lamps.light_twice(a)", "lanterns.light_all(a)"),
        ("Which call lights a street?", "lanterns.lamps.light_street(a)", "lanterns.light_all(b)"),
        ("`one` is a `Lamp`. Which call pours oil in?", "`one.top_off()`", "`one.refill()`"),
    ],
)
def test_what_hands_on_something_else_is_not(
    judge_question: JudgeQuestion, text: str, key: str, other: str
) -> None:
    found = judge_question("A", text, key, other)
    assert found.verdict is Verdict.UNPROVEN, found.reason


CATCHING = "The street is dark. Which except clause catches the error?"


def test_a_clause_for_a_base_class_catches_as_well(judge_question: JudgeQuestion) -> None:
    options = ("except lanterns.DarkError:", "except ValueError:", "except KeyError:")
    found = judge_question("A", CATCHING, *options)
    assert (found.verdict, found.code) == (Verdict.AMBIGUOUS, "implied-answer")
    assert judge_question("B", CATCHING, *options).verdict is Verdict.UNPROVEN
    wide = ("except lanterns.DarkError:", "except Exception:", "except KeyError:")
    assert judge_question("A", CATCHING, *wide).verdict is Verdict.UNPROVEN
    raising = CATCHING.replace("catches", "names")
    assert judge_question("A", raising.replace("except ", ""), *options).verdict is Verdict.UNPROVEN


def test_a_clause_catches_what_inherits_from_its_class(settle: Settle) -> None:
    text = "Which of these is handled by an `except lanterns.keepers.FireError` clause?"
    assert states(settle(text, "`WildFireError`", "`DarkError`")) == "HF"


def test_the_only_option_that_is_there_confirms_a_key(judge_question: JudgeQuestion) -> None:
    text = "Which function makes a street bright?"
    options = ("`lanterns.light_all`", "`lanterns.light_none`", "`lanterns.kindle`")
    found = judge_question("A", text, *options)
    assert (found.verdict, found.code) == (Verdict.VALID, "only-survivor")
    others = (*options, "None of the above")
    assert judge_question("A", text, *others).code == "only-survivor"
    assert judge_question("D", text, *others).verdict is Verdict.UNPROVEN
    assert judge_question("B", text, *options).verdict is Verdict.INCORRECT


def test_a_subclass_is_one_whatever_else_is_said(settle: Settle) -> None:
    text = "Which class is a subclass of `lanterns.BaseLamp`, so that it burns with a flame?"
    found = settle(text, "`lanterns.OilLamp`", "`lanterns.Box`", "`lanterns.Magic`")
    assert states(found) == "UFF"


def test_several_names_are_members_of_one_owner(judge_question: JudgeQuestion) -> None:
    text = "Which parameters of `Lamp` set 1) the tint and 2) how long it burns?"
    options = ("1) `colour`, 2) `timeout`", "1) `colour`, 2) `burning`", "`tint` and `timeout`")
    assert judge_question("A", text, *options).code == "only-survivor"
    assert judge_question("B", text, *options).verdict is Verdict.INCORRECT


def test_the_class_of_a_variable_is_taken_from_the_question(settle: Settle) -> None:
    text = "Given a `Lamp` object `one`, which expression says how bright it is?"
    assert states(settle(text, "`one.light()`", "`one.shine()`")) == "UF"


def test_a_variable_of_the_environment_is_found_in_the_files(
    judge_question: JudgeQuestion,
) -> None:
    text = "Which environment variable sets the colour of every lamp?"
    options = ("`LANTERN_TINT`", "`LANTERN_COLOUR_ALL`", "`LAMP_TINTS_SET`")
    assert judge_question("A", text, *options).code == "only-survivor"
    assert judge_question("B", text, *options).verdict is Verdict.INCORRECT


def test_every_kind_of_claim_has_a_writer() -> None:
    union = get_args(get_args(kinds.AnyClaim)[0])
    assert {*WRITERS, kinds.FreeProgram} == set(union)


def test_a_program_has_no_arguments_and_may_end_itself(settle: Settle) -> None:
    code = (
        "import sys\n\nfrom lanterns import Lamp\n\nprint(len(sys.argv), Lamp().fuel)\nsys.exit()"
    )
    assert states(settle("What does it print?", "`1 10`", "`2 10`", snippet=code)) == "HF"


def test_a_method_is_known_by_its_name_alone(settle: Settle) -> None:
    text = "Which keyword argument of `thing.refill()` says how much oil is poured in?"
    assert states(settle(text, "`litres`", "`amount`")) == "UF"
    text = "Which keyword argument of `pool.light()` says how much oil is poured in?"
    assert states(settle(text, "`litres`", "`amount`")) == "UU", "two classes have such a method"


def test_a_variable_is_of_the_class_it_ends_like(settle: Settle) -> None:
    text = "You have an `OilLamp` and want to see. Which method do you call on the lamp?"
    assert states(settle(text, "`lamp.light()`", "`lamp.shine()`")) == "UF"


def test_what_raises_by_design_is_no_failure(settle: Settle) -> None:
    text = "Which method of `Lamp` pours oil into the tank and raises an error that says so?"
    assert states(settle(text, "`refill`", "`pour`")) == "UF"
    assert states(settle("Which method of `Lamp` raises an error?", "`refill`", "`pour`")) == "UU"
