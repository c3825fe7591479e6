"""Code in a question is found wherever it stands, and nothing else is taken for code."""

from __future__ import annotations

import pytest

from assay.questions.claims import Library
from assay.questions.lexical.parsed_question import parse_question
from assay.questions.lexical.programs import Program, read_program
from assay.questions.lexical.stem import split_blocks
from tests.questions.lexical.support import question


def program(text: str, library: Library) -> Program | str:
    return read_program(parse_question(question(text, "1", "2"), ["A", "B"], library))


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("What is printed?\n\n    print(1)\n", ("print(1)",)),
        (
            "What is printed?\n\n    if x:\n        f(1)\n\n    g()\n\nSay.",
            ("if x:\n    f(1)\n\ng()",),
        ),
        ("Somebody said:\n\n    to be or not to be\n\nWho?", ()),
        ("Which?\n\n    word\n", ()),
        ("```python\nf()\n```\n\n    g()\n", ("f()",)),
    ],
)
def test_blocks(text: str, blocks: tuple[str, ...]) -> None:
    assert split_blocks(text)[0] == blocks


def test_what_comes_before_is_part_of_the_program(library: Library) -> None:
    found = program("After `lamp = Lamp()`, what is the value of `lamp.fuel`?", library)
    assert isinstance(found, Program)
    assert found.setup == "from lanterns import Lamp\nlamp = Lamp()"
    assert (found.code, found.expression) == ("lamp.fuel", True)


@pytest.mark.parametrize(
    "text",
    [
        "After a while, what is the value of `lamp.fuel`?",
        "What is the value of `Lamp`?",
        "Which exception is raised by `Lamp(`?",
        "If the oil is old, which exception is raised by `Lamp()`?",
    ],
)
def test_there_is_no_program(library: Library, text: str) -> None:
    assert isinstance(program(text, library), str)


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("import trio", "__import__('trio').run(main)"),
        ("from anyio import sleep", "__import__('anyio').run(main)"),
        ("import asyncio", "__import__('asyncio').run(main())"),
        ("from lanterns import Lamp", "__import__('asyncio').run(main())"),
    ],
)
def test_a_coroutine_runs_in_the_loop_its_code_imports(
    library: Library, imports: str, call: str
) -> None:
    code = f"{imports}\n\nasync def main():\n    print(1)\n"
    for text in ("What is printed?", "What does running `main` print?"):
        found = program(f"{text}\n\n```python\n{code}```", library)
        assert isinstance(found, Program)
        assert found.code == call


@pytest.mark.parametrize(
    ("text", "setup"),
    [
        ('What does `lanterns.shop.Shop.open("x")` return?', "import lanterns.shop"),
        ("What does `lanterns.light_all([])` return?", "import lanterns"),
    ],
)
def test_a_full_path_is_imported_with_its_module(library: Library, text: str, setup: str) -> None:
    found = program(text, library)
    assert isinstance(found, Program)
    assert found.setup == setup


@pytest.mark.parametrize(
    "text",
    [
        "What is the default value of the `litres` parameter of `Lamp.refill()`?",
        "What does `light_all()` return?",
        "`Lamp(brightness=-1)` reports it with `DarkError`. Which class is a base class of that?",
    ],
)
def test_a_call_that_only_names_a_function_is_not_run(library: Library, text: str) -> None:
    assert isinstance(program(text, library), str)
