"""A proof file says what it is: two sides, a disputed element, a twin; whatever else is refused."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.proofs.proof_file import UnfitProofError, read_proof

SOUND = '''\
"""Option B: `colour` is a field of Paint."""

import pytest
from shop import Paint

DISPUTED = "colour"
INSTEAD = "size"


def test_option_B_holds():
    assert DISPUTED in Paint.fields


def test_option_B_fails():
    assert DISPUTED not in Paint.fields


def test_option_B_control():
    assert Paint.fields
'''


def changed(before: str, after: str) -> str:
    assert before in SOUND
    return SOUND.replace(before, after)


def test_the_parts_of_a_proof() -> None:
    file = read_proof(SOUND)
    assert (file.holds, file.fails) == ("test_option_B_holds", "test_option_B_fails")
    assert file.controls == ("test_option_B_control",)
    assert file.statement == "Option B: `colour` is a field of Paint."
    assert file.has_counterpart
    assert file.exception is None


def test_a_twin_differs_in_the_disputed_element_only() -> None:
    file = read_proof(SOUND)
    assert file.impossible_twin() == changed('"colour"', "'colour_that_cannot_be'")
    assert file.counterpart_twin() == changed('"colour"', "'size'")


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_any_text_can_be_disputed(text: str) -> None:
    source = changed('DISPUTED = "colour"', f"DISPUTED = {text!r}")
    twin = read_proof(source).impossible_twin()
    (value,) = [
        node.value
        for node in ast.walk(ast.parse(twin))
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DISPUTED"
    ]
    assert ast.literal_eval(value) == f"{text}_that_cannot_be"


@pytest.mark.parametrize(
    ("value", "twin"),
    [
        ("3", "'a value_that_cannot_be'"),
        ("None", "'a value_that_cannot_be'"),
        ("[1, 2]", "'a value_that_cannot_be'"),
        ("ValueError", "type('CannotBe', (Exception,), {})"),
        ("shop.errors.OutOfStock", "type('CannotBe', (Exception,), {})"),
        ('(\n    "two"\n    " parts"\n)', "(\n    'two parts_that_cannot_be'\n)"),
    ],
)
def test_what_cannot_be_depends_on_what_is_disputed(value: str, twin: str) -> None:
    source = changed('DISPUTED = "colour"', f"DISPUTED = {value}")
    assert f"DISPUTED = {twin}\n" in read_proof(source).impossible_twin()


def test_a_claim_about_an_exception_names_it() -> None:
    source = changed(
        "    assert DISPUTED in Paint.fields\n",
        "    with pytest.raises(DISPUTED):\n        Paint(size=-1)\n",
    ).replace('"colour"', "ValueError")
    assert read_proof(source).exception == "ValueError"


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("def test_option_B_fails", "def other_option_B_fails", "one side only"),
        ("def test_option_B_holds", "def test_option_B", "has no role"),
        ("def test_option_B_control", "def test_option_B_again_holds", "two tests that end in"),
        ('DISPUTED = "colour"\n', "", "does not name its disputed element"),
        ('INSTEAD = "size"', 'DISPUTED = "size"', "is set twice"),
        ("    assert DISPUTED in Paint", '    assert "colour" in Paint', "does not use DISPUTED"),
        ("    assert Paint.fields\n", "    assert DISPUTED\n", "without it"),
        ("    assert DISPUTED in Paint.fields", "    assert DISPUTED", "nothing to do with"),
        ("import pytest\n", "import pytest\nclass TestOption: ...\n", "plain functions"),
        ("import pytest\n", "import pytest(\n", "not valid Python"),
    ],
)
def test_what_is_no_proof_is_refused(before: str, after: str, reason: str) -> None:
    with pytest.raises(UnfitProofError, match=reason):
        read_proof(changed(before, after))


RAISES = changed(
    "    assert DISPUTED not in Paint.fields\n",
    "    with pytest.raises(TypeError, match=DISPUTED):\n        Paint(**{DISPUTED: 1})\n",
)
WITHOUT_CONTROL = RAISES[: RAISES.index("def test_option_B_control")]


def test_a_raises_needs_a_control_or_a_counterpart() -> None:
    assert read_proof(RAISES)
    assert read_proof(WITHOUT_CONTROL)
    assert read_proof(RAISES.replace('INSTEAD = "size"\n', ""))
    with pytest.raises(UnfitProofError, match="`raises` without a control"):
        read_proof(WITHOUT_CONTROL.replace('INSTEAD = "size"\n', ""))


def test_a_raises_says_where_the_error_came_from() -> None:
    with pytest.raises(UnfitProofError, match="where the error came from"):
        read_proof(RAISES.replace(", match=DISPUTED", ""))
    looked_at = RAISES.replace(", match=DISPUTED)", ") as caught").replace(
        "        Paint(**{DISPUTED: 1})\n",
        "        Paint(**{DISPUTED: 1})\n    assert DISPUTED in str(caught.value)\n",
    )
    assert read_proof(looked_at)


def test_the_disputed_element_may_be_used_through_helpers() -> None:
    source = changed(
        "def test_option_B_holds",
        "def known():\n    return DISPUTED in Paint.fields\n\n\ndef test_option_B_holds",
    ).replace("    assert DISPUTED in Paint.fields", "    assert known()")
    assert read_proof(source)


@pytest.mark.parametrize("kind", ["ImportError", "(KeyError, OSError)", "NameError"])
def test_an_error_that_can_come_from_anywhere_is_looked_at(kind: str) -> None:
    handler = (
        f"\n\ndef helper():\n    try:\n        pass\n    except {kind}:\n        return False\n"
    )
    with pytest.raises(UnfitProofError, match="can come from anywhere"):
        read_proof(SOUND + handler)
    named = handler.replace(f"{kind}:", f"{kind} as error:").replace("False", "error.name")
    assert read_proof(SOUND + named)


SPECIFICATION_NEGATIVE = '''\
"""Option B: `summarization_freq` sets how often events are summarised."""

import pytest
from google.adk.apps.app import EventsCompactionConfig
from pydantic import ValidationError

DISPUTED = "summarization_freq"


def test_option_B_holds():
    assert DISPUTED in EventsCompactionConfig.model_fields


def test_option_B_fails():
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        EventsCompactionConfig(**{DISPUTED: 5})
'''


def test_the_negative_example_of_the_specification_is_refused_without_a_control() -> None:
    """An incomplete call raises whatever it is given; examples/questions has it corrected."""
    with pytest.raises(UnfitProofError, match="`raises` without a control"):
        read_proof(SPECIFICATION_NEGATIVE)
