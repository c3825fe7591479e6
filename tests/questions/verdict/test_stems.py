"""What a question asks, read from many wordings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.verdict.stems import StemKind, classify

ONE_TRUE = [
    "You can't use `x`. Which parameter replaces it?",
    "What will be the result if you don't call `super().__init__()`?",
    "Which of these values evaluates to False?",
    "Which is the correct import statement for the `TypeAdapter` class?",
    "Which of the following is a valid value of `extra`?",
    "Which of these statements about validators is true?",
    "Which parameter of `Field` sets a lower bound?",
    "Which method is called after validation?",
    "From which module is `BaseModel` imported?",
    "When calling `model_dump`, which argument leaves out unset fields?",
    "Which exception is raised when a required field is missing?",
    "Which exception is raised if the value cannot be converted?",
    "If `default` is not set, which error type is reported?",
    "When a field isn't given, which exception is raised?",
    "What exception is raised by this code?",
    "What happens if `frozen` is not set?",
    "What happens when you do not pass a `model`?",
    "What happens if the configuration is NOT valid?",
    "What happens when an invalid value is assigned?",
    "What will happen when this snippet is run?",
    "What is printed?",
    "What is the output of the following code?",
    "What is the default value of `populate_by_name`?",
    "What is the return type of `model_validate_json`?",
    "What does `model_fields` return?",
    "What does this code print?",
    "What will the snippet below print?",
    "How many errors does the following call report?",
    "Which class does `RootModel` inherit from?",
    "Which error type is reported for an invalid URL?",
    "Which class represents a tool that does not block?",
    "Which field holds values that are not validated?",
    "Which base class must a custom agent inherit from?",
    "You do not want unknown keys to be dropped. Which value of `extra` keeps them?",
    "Which flag is False by default?",
    "True or false: a frozen model is not hashable.",
    "Select the correct import of `Field`.",
    'Which message is reported: "Field required" or "Input should not be empty"?',
    "Which setting must be at least 1?",
    "Which call raises `ValidationError`?",
]

ONE_FALSE = [
    "Which one of the following would NOT raise an error?",
    "Which of the following methods doesn't `BaseModel` have?",
    "`Field` accepts all of the following keyword arguments EXCEPT which?",
    "Except for one, all are valid. Which one is not?",
    "Without setting `x`, which method is not available?",
    "Which of the following statements about `X` are NOT correct?",
    "Identify the invalid parameter.",
    "Which parameter can not be set when the model is not frozen?",
    "Which of the following is NOT a parameter of `Field`?",
    "Which of the following is **not** a valid mode?",
    "Which parameter does not exist on `ConfigDict`?",
    "Which of these doesn't raise an error?",
    "Which type cannot be used as a key?",
    "Which of the following can't be frozen?",
    "Which of these is never called?",
    "Which method is no longer available?",
    "Which statement about `BaseModel` is incorrect?",
    "Which statement is false?",
    "Which of the following statements is FALSE?",
    "Which of these is an invalid value of `mode`?",
    "Which import is wrong?",
    "Which is an illegal field name?",
    "All of the following are valid values of `extra` EXCEPT:",
    "All of the following are methods of `BaseModel` except",
    "All of these are keyword arguments of `Field`, except which one?",
    "Each of the following is accepted except:",
    "Select the option that is not a decorator.",
    "Identify the statement that is false.",
    "Pick the incorrect statement.",
    "When defining a model, which of the following is not allowed?",
    "If `strict=True` is set, which value is not accepted?",
    "In which of these modes is the value not copied?",
    "What can you not do with a frozen model?",
    "What is not a feature of `TypeAdapter`?",
    "Which parameter is not required if `default` is not given?",
]

SUPERLATIVE = [
    "What is the primary purpose of `TypeAdapter`?",
    "What is `RootModel` primarily used for?",
    "What is the best way to validate a list of models?",
    "Which is the most efficient way to parse JSON?",
    "Which approach is recommended for partial updates?",
    "Which of the following is the preferred way to set a default?",
    "What does `ConfigDict` mainly control?",
    "What is the idiomatic way to share settings?",
    "Which is the correct way to declare an alias?",
    "Which decorator should you use to check two fields together?",
    "To get strict checks, which parameter should be set?",
    "How should a private attribute be declared?",
    "Which class is typically used for settings?",
    "What is the simplest way to copy a model?",
    "Which method is usually overridden?",
]

WHY = [
    "What is the main reason to pick a tagged union?",
    "Why does this call fail?",
    "Why is `x` not validated?",
    "What is the reason for the error below?",
    "For what reason does the snippet raise?",
    "What explains the output?",
    "When a model is frozen, why can it be hashed?",
]

OTHER = [
    "What is wrong with the following code?",
    "How do you make a field optional?",
    "How can a model be copied?",
    "How does `model_validate` treat unknown keys?",
    "What does `ConfigDict.frozen` control?",
    "What is the purpose of `alias_generator`?",
    "What is `Field` used for?",
    "Which validator would you use to change the input?",
    "Which plugin can help?",
    "Which two of these are decorators?",
    "Which of the following are true?",
    "What are the benefits of strict mode?",
    "Where is the schema stored?",
    "Does `model_copy` validate?",
    "A model with a private attribute",
    "",
]

NOT_CLEAR = [
    "Which of the following will fail to import?",
    "Which method does `BaseModel` lack?",
    "Which of these has been removed?",
    "Which is the odd one out?",
    "Which parameter makes a field not required?",
    "Which type is returned, not raised, by `f`?",
    "Which is not a correct way to set an alias?",
    "Which is NOT the recommended way to copy a model?",
    "Which approach should not be used?",
    "Which of these is the least efficient way to parse JSON?",
    "Which of the following is LEAST likely to work?",
    "How do you not validate a default?",
    "Which of the following is not invalid?",
    "Which parameter is required but not validated?",
    "Which type is not copied but shared?",
    "Which is a parameter that does not exist?",
    "All but one are valid (EXCEPT the last). Which one?",
    "Which of these is not a reason why the call fails?",
    "Which parameter has no default?",
    "Is the default not validated?",
    "The parameter that does NOT exist is",
    "Which is neither a field nor an alias?",
]


def _named(kind: StemKind, texts: list[str]) -> list[object]:
    return [pytest.param(kind, text, id=f"{kind}: {text}") for text in texts]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *_named(StemKind.ONE_TRUE, ONE_TRUE),
        *_named(StemKind.ONE_FALSE, ONE_FALSE),
        *_named(StemKind.SUPERLATIVE, SUPERLATIVE),
        *_named(StemKind.WHY, WHY),
        *_named(StemKind.OTHER, OTHER),
    ],
)
def test_wordings(kind: StemKind, text: str) -> None:
    stem = classify(text)
    assert (stem.kind, stem.clear) == (kind, True), stem


@pytest.mark.parametrize("text", NOT_CLEAR)
def test_a_negation_that_may_be_meant_either_way_makes_the_stem_unclear(text: str) -> None:
    stem = classify(text)
    assert not stem.clear
    assert not stem.strict


@pytest.mark.parametrize("text", ONE_FALSE)
def test_a_negated_question_is_never_taken_for_its_opposite_in_other_dress(text: str) -> None:
    for dressed in (f"  {text} ", f"Consider this code.\n\n```python\nx = 1\n```\n\n{text}"):
        assert classify(dressed).kind is StemKind.ONE_FALSE


@pytest.mark.parametrize("text", ONE_TRUE)
def test_code_and_quotations_negate_nothing(text: str) -> None:
    code = "```python\nassert x is not None  # NOT ok, except here\n```\n"
    assert classify(code + text).kind is StemKind.ONE_TRUE


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("Which of these is NOT a field?", "NOT"),
        ("Which import is wrong?", "wrong"),
        ("All of the following are fields except which?", "except"),
        ("Which of these doesn't exist?", "doesn't"),
    ],
)
def test_the_sign_is_the_word_that_negates(text: str, sign: str) -> None:
    assert classify(text).sign == sign


@pytest.mark.parametrize("words", ["what is a that ", "which is the option that ", "all but "])
def test_an_endless_sentence_is_not_read(words: str) -> None:
    assert not classify(words * 2000).clear


@given(st.text())
def test_every_text_has_a_stem(text: str) -> None:
    stem = classify(text)
    assert stem.clear or not stem.strict


@given(st.sampled_from(ONE_TRUE + SUPERLATIVE + OTHER), st.sampled_from(["NOT", "EXCEPT"]))
def test_a_shouted_negation_is_never_overlooked(text: str, word: str) -> None:
    stem = classify(f"{text} Mind the word {word} here.")
    assert stem.negated or not stem.clear
