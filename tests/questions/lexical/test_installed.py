"""The target `current`: the distribution is found by what a question names, or left alone."""

from __future__ import annotations

import pytest

from assay.questions.lexical.prover import (
    find_distributions,
    guess_distributions,
)
from tests.questions.lexical.support import Settle, question, states


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (
            "Which of these can be imported from `pydantic`?",
            ["`conint`", "`ConstrainedInt`", "`BoundedInt`"],
            "HFF",
        ),
        # `BaseModel` is offered by several packages, and then nothing is claimed.
        (
            "Which of these is a method of `TypeAdapter`?",
            ["`validate_python`", "`to_dict`"],
            "HF",
        ),
        (
            "Which of these is NOT a parameter of the function `pydantic.Field`?",
            ["`pattern`", "`regex`"],
            "HF",
        ),
        ("Which of these is a setting of `ConfigDict`?", ["`frozen`", "`orm_mode`"], "HF"),
        (
            "Which class of `pydantic` should you use for a list?",
            ["`ListShapedModel`", "`RootModel`", "`dict`", "`MyModel`"],
            "FUUU",
        ),
    ],
)
def test_pydantic(settle_here: Settle, text: str, options: list[str], expected: str) -> None:
    assert states(settle_here(text, *options)) == expected


def test_options_of_a_command(settle_here: Settle) -> None:
    text = "Which flag of `hypothesis write` picks a style of tests?"
    assert states(settle_here(text, "`--style`", "`--manner`")) == "UF"


def test_nothing_is_absent_from_a_package_that_was_only_guessed(settle_here: Settle) -> None:
    found = settle_here("What makes `BaseModel` fast?", "`CompiledCoreThing`", "`dict`")
    assert states(found) == "UU"


def test_a_distribution_is_named_by_imports_quotes_or_words() -> None:
    assert find_distributions(question("Which import?", "from click import echo")) == ("click",)
    assert find_distributions(question("`pydantic.Field` is what?", "x")) == ("pydantic",)
    assert find_distributions(question("Why is pydantic fast?", "x")) == ("pydantic",)
    assert find_distributions(question("Why is the sky blue?", "x")) == ()


def test_a_distribution_is_guessed_by_what_its_package_offers() -> None:
    assert guess_distributions(question("What is `TypeAdapter`?", "x")) == ("pydantic",)
    assert guess_distributions(question("What is `Frobnicator`?", "x")) == ()
