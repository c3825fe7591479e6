"""What questions ask for, in the wordings that suites use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.provers.introspection.reading import Noun, Tie, parse_focus


@pytest.mark.parametrize(
    ("text", "noun", "owner", "tie"),
    [
        ("Which `RunConfig` parameter limits calls?", Noun.PARAMETER, "RunConfig", Tie.OWN),
        ("Which parameter of `RunConfig` limits calls?", Noun.PARAMETER, "RunConfig", Tie.OWN),
        ("Which of these is a method of `BaseModel`?", Noun.METHOD, "BaseModel", Tie.OWN),
        ("Which class method of `BaseModel` parses?", Noun.METHOD, "BaseModel", Tie.OWN),
        ("With which setting of `ConfigDict` is it so?", Noun.FIELD, "ConfigDict", Tie.OWN),
        ("What keyword argument does `connect` accept?", Noun.PARAMETER, "connect", Tie.OWN),
        (
            "When calling `runner.run_async()`, which parameter passes the message?",
            Noun.PARAMETER,
            "runner.run_async()",
            Tie.OWN,
        ),
        (
            "To enforce JSON from an `LlmAgent`, which parameter should be set?",
            Noun.PARAMETER,
            "LlmAgent",
            Tie.NEAR,
        ),
        (
            "Which is a parameter of the function `Field`?",
            Noun.PARAMETER,
            "Field",
            Tie.OWN,
        ),
        ("Which plugin can help?", Noun.THING, None, Tie.NONE),
        ("Which exception does the last line raise?", Noun.EXCEPTION, None, Tie.NONE),
        ("Which import makes `TypeAdapter` available?", Noun.IMPORT, None, Tie.NONE),
        ("What does this code print?", Noun.OUTCOME, None, Tie.NONE),
        ("What happens when this code runs?", Noun.OUTCOME, None, Tie.NONE),
        ("How do you configure an `App`?", Noun.OTHER, None, Tie.NONE),
    ],
)
def test_the_noun_and_whose_it_is(text: str, noun: Noun, owner: str | None, tie: Tie) -> None:
    focus = parse_focus(text)
    assert (focus.noun, focus.owner and focus.owner.code, focus.tie) == (noun, owner, tie)


@pytest.mark.parametrize(
    ("text", "is_whole"),
    [
        ("Which of these is a method of `BaseModel`?", True),
        ("Which of these is NOT a parameter of the function `Field`?", True),
        ("Which of the following is a valid setting of `ConfigDict`?", True),
        ("All of these are settings of `ConfigDict` EXCEPT which one?", True),
        ("Which of these can be imported from `pydantic`?", True),
        ("Which parameter does `connect` accept?", True),
        ("Which method of `BaseModel` makes an instance from JSON?", False),
        ("Which `RunConfig` parameter limits the calls?", False),
        ("Which of these is a parameter of `Field` that sets a bound?", False),
    ],
)
def test_where_being_one_is_all_that_is_asked(text: str, is_whole: bool) -> None:
    assert parse_focus(text).is_whole is is_whole


@pytest.mark.parametrize(
    ("text", "subject", "owner"),
    [
        ("What is the default of the parameter `mode` of `X.dump`?", "mode", "X.dump"),
        ("What is the default value for `mode` in `X.dump`?", "mode", "X.dump"),
        (
            "What is the default value of `RunConfig.max_llm_calls`?",
            "RunConfig.max_llm_calls",
            None,
        ),
    ],
)
def test_defaults(text: str, subject: str, owner: str | None) -> None:
    focus = parse_focus(text)
    assert focus.noun is Noun.DEFAULT
    assert focus.subject is not None
    assert (focus.subject.code, focus.owner and focus.owner.code) == (subject, owner)


def test_code_blocks_are_taken_out_of_the_words() -> None:
    focus = parse_focus("What does it print?\n\n```python\nprint('which parameter of `X`')\n```\n")
    assert focus.blocks == ("print('which parameter of `X`')",)
    assert focus.prose == "What does it print?"


@given(st.text(max_size=500))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(parse_focus(text).noun, Noun)


WORDS = st.sampled_from(
    ["Which", "what", "parameter", "of", "`X`", "the", "is", "`a.b()`", "not", ",", "?", "```",
     "⟦0⟧", "default", "import", "when", "calling", "method", "All of these are", "except", "⟦99⟧"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=40))
def test_any_sentence_of_such_words_is_read(words: list[str]) -> None:
    assert isinstance(parse_focus(" ".join(words)).noun, Noun)


def test_very_long_questions_take_no_long_time() -> None:
    assert parse_focus("which parameter of the the the " * 20_000).noun is Noun.PARAMETER
