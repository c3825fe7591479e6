"""What the prover settles about a small library, and above all what it leaves alone."""

from __future__ import annotations

import pytest

from tests.questions.lexical.support import Settle, states

CODE = """\
from lanterns import Lamp

lamp = Lamp(colour="red")
print(lamp.light())
"""

INDENTED = """\
What is printed?

    from lanterns import Lamp

    print(Lamp('r').light(), 1)
"""


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        pytest.param(
            "Which is the correct import statement for the `Lamp` class?",
            [
                "from lanterns import Lamp",
                "from lanterns.core import Lamp",
                "from lamps import Lamp",
            ],
            "HFU",
            id="imports: a foreign module says nothing",
        ),
        pytest.param(
            "Which of these import statements works?",
            ["from lanterns import Lamp", "from lanterns.core import Lamp"],
            "HF",
            id="imports: that one runs is all that is asked",
        ),
        pytest.param(
            "Which import statement do you need to sell lamps?",
            ["from lanterns import Lamp", "from lanterns.shop import Shop", "import lanterns.core"],
            "UUF",
            id="imports: what it is for is not shown by running it",
        ),
        pytest.param(
            "You want to sell lamps. Which import statement works?",
            ["from lanterns import Lamp", "from lanterns.shop import Shop", "import lanterns.core"],
            "UUF",
            id="imports: a purpose that is told before",
        ),
        pytest.param(
            "Which is the correct import for lighting lamps one after the other?",
            ["from lanterns import light_all", "from lanterns import Lamp"],
            "UU",
            id="imports: correct for a purpose",
        ),
        pytest.param(
            "Which is the public import of `Lamp`?",
            ["from lanterns import Lamp", "from lanterns.lamps import Lamp"],
            "UU",
            id="imports: which is public is not shown by running it",
        ),
        pytest.param(
            "Which is the correct import statement for `OilLamp`?",
            ["from lanterns import OilLamp", "from lanterns._oil import OilLamp"],
            "HU",
            id="imports: through a private module one runs and is still not right",
        ),
        pytest.param(
            "Which import statement brings in both `Lamp` and `Box`?",
            ["from lanterns import Lamp", "from lanterns import Lamp, Box", "import lanterns.box"],
            "UUF",
            id="imports: one of two names is not enough",
        ),
        pytest.param(
            "Which import statement lets you write `lanterns.light_all([])`?",
            ["from lanterns import light_all", "import lanterns"],
            "UU",
            id="imports: how it is to be called says more than the name",
        ),
        pytest.param(
            "Which of these can be imported from `lanterns`?",
            ["`light_all`", "`light_none`"],
            "HF",
            id="what can be imported",
        ),
        pytest.param(
            "Which import makes `GasLamp` available?",
            ["from lanterns.gas import GasLamp", "from lanterns.fuel import GasLamp"],
            "UF",
            id="a module that needs what is not installed",
        ),
        pytest.param(
            "Which of these is a method of `Lamp`?",
            ["`refill`", "`extinguish`", "`fuel`"],
            "HFU",
            id="an attribute that is no method is neither",
        ),
        pytest.param(
            "Which parameter of `Lamp` sets how much light it gives?",
            ["`brightness`", "`lumen`", "`timeout`", "`fuel`"],
            "UFUU",
            id="existence does not confirm",
        ),
        pytest.param(
            "Which parameter of the `Lamp` constructor sets how much light it gives?",
            ["`brightness`", "`fuel`"],
            "UF",
            id="what is given to a constructor is a parameter, not any attribute",
        ),
        pytest.param(
            "You want a red lamp. Which argument do you pass to `Lamp`?",
            ["`colour='red'`", "`tint='red'`", "`paint=1`"],
            "UFF",
            id="keyword arguments as options",
        ),
        pytest.param(
            "What's the default of `brightness` when you create a `Lamp`?",
            ["5", "10"],
            "HF",
            id="the default when one is made",
        ),
        pytest.param(
            "What does the parameter `delay` of `light_all` default to?",
            ["0.5", "1", "It has no default."],
            "HFU",
            id="what it defaults to",
        ),
        pytest.param(
            "What is the default value of the parameter `timeout` of `Lamp`?",
            ["30", "60"],
            "UU",
            id="behind a None there may be another default",
        ),
        pytest.param(
            "Which exception is raised by `Lamp(brightness=-1)`?",
            ["`DarkError`", "`KeyError`"],
            "HF",
            id="raised by a call",
        ),
        pytest.param(
            "After `lamp = Lamp('red')`, what is the value of `lamp.fuel`?",
            ["10", "`'red'`", "None"],
            "HFF",
            id="an attribute after an assignment",
        ),
        pytest.param(
            "After `lamp = Lamp('red')` was lit, what is the value of `lamp.fuel`?",
            ["10", "9"],
            "UU",
            id="circumstances that no code shows",
        ),
        pytest.param(
            "Which of these calls raises an exception?",
            ["`Lamp(brightness=-1)`", "`Lamp('red', brightness=1)`", "`Lamp(unknown_thing)`"],
            "HFU",
            id="calls as options",
        ),
        pytest.param(
            "Which of these calls works?",
            ["`Lamp()`", "`Lamp(1, 2)`", "`lanterns.Lamp.light()`"],
            "HFF",
            id="calls that work",
        ),
        pytest.param(
            'Which of these expressions gives the string "red"?',
            ["`Lamp('red').light()`", "`Lamp().light()`"],
            "HF",
            id="expressions with a value",
        ),
        pytest.param(
            "Which of these expressions is true?",
            ["`Lamp().fuel == 10`", "`Lamp().fuel > 10`"],
            "HF",
            id="expressions that are true",
        ),
        pytest.param(
            INDENTED,
            ["r 1", "r, 1", "Nothing, for a DarkError is raised.", "white 1"],
            "HFFF",
            id="indented code, and output without any marks",
        ),
        pytest.param(
            INDENTED,
            ["The letter r and the number one", "r, 1"],
            "UU",
            id="words about output are not the output",
        ),
        pytest.param(
            "Which of these is NOT a parameter of the function `light_all`?",
            ["`delay`", "`speed`"],
            "HF",
            id="claims are in positive form",
        ),
        pytest.param(
            "Which parameter of `Box` holds a lid?",
            ["`lid`", "`cover`"],
            "UU",
            id="whatever takes any keyword has no absent parameters",
        ),
        pytest.param(
            "Which method of `Magic` shines?",
            ["`shine`", "`glow`"],
            "UU",
            id="whatever makes attributes up has no absent ones",
        ),
        pytest.param(
            "What is the default value of the parameter `brightness` of `Lamp`?",
            ["5", "`'5'`", "10", "None"],
            "HFFF",
            id="defaults",
        ),
        pytest.param(
            "How is a lamp made red?",
            ["`Lamp(colour='red')`", "`Lamp(tint='red')`", "`lanterns.Lamp.paint()`"],
            "UFF",
            id="calls and full paths",
        ),
        pytest.param(
            "How is a lamp made red?",
            [
                "Do not use `Lamp(tint='red')`.",
                "Set `tint` in your `MyLamp`.",
                "Pass `tint='red'` to the `Lamp` constructor.",
            ],
            "UUF",
            id="what may be denied or is the reader's own",
        ),
        pytest.param(
            "Which exception does `Lamp(brightness=-1)` raise?",
            ["`DarkError`", "`ValueError`", "`KeyError`", "`OSError`"],
            "HFFF",
            id="the closest exception",
        ),
        pytest.param(
            "What does `Lamp().refill(2)` return?",
            ["12", "10", "`'12'`"],
            "HFF",
            id="the value of an expression",
        ),
        pytest.param(
            "What does `unknown_lamp.refill(2)` return?",
            ["12", "10"],
            "UU",
            id="a name that nothing defines",
        ),
        pytest.param(
            "Which lamp should you use?",
            ["`OilLamp`", "`Box`"],
            "UF",
            id="what is no lamp",
        ),
    ],
)
def test_what_is_settled(settle: Settle, text: str, options: list[str], expected: str) -> None:
    found = settle(text, *options)
    assert states(found) == expected, "\n".join(one.reason for one in found.values())


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        pytest.param(
            "Which of these is a member of the enum `Wick`?",
            ["`COTTON`", "`Wick.GLASS`", "`PAPER`", "`cotton`"],
            "HHFU",
            id="names of an enumeration",
        ),
        pytest.param(
            "Which is a valid value of `Wick`?",
            ["`'fibre'`", "`'paper'`", "`'GLASS'`"],
            "HFU",
            id="values of an enumeration",
        ),
    ],
)
def test_what_is_written_about_enumerations(
    settle: Settle, text: str, options: list[str], expected: str
) -> None:
    found = settle(text, *options)
    assert states(found) == expected, "\n".join(one.reason for one in found.values())


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        pytest.param(
            "Which of these is an option of the `lanterns` command?",
            ["`--colour`", "`-c`", "`--col`", "`--tint`", "`--help`"],
            "HHUFH",
            id="argparse, which takes beginnings",
        ),
        pytest.param(
            "Which of these is an option of `lanterns refill`?",
            ["`--litres`", "`--colour`"],
            "HF",
            id="a subcommand",
        ),
        pytest.param(
            "Which of these is an option of `old-lanterns`?",
            ["`--bright`", "`-b`", "`--dim`"],
            "HHF",
            id="optparse",
        ),
    ],
)
def test_options_of_commands(settle: Settle, text: str, options: list[str], expected: str) -> None:
    found = settle(text, *options)
    assert states(found) == expected, "\n".join(one.reason for one in found.values())


def test_a_source_folder_has_files_to_look_into(settle: Settle) -> None:
    """A folder of sources has no record of its files; its packages lead to them."""
    text = "Which class of this library burns oil?"
    found = settle(text, "`OilLamp`", "`WaxLamp`", "`Lamp`", "`TallowLamp`")
    assert states(found) == "UFUF", "\n".join(one.reason for one in found.values())


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("What does this code print?", ["`red`", "`white`", "It raises `DarkError`."], "HFF"),
        ("What happens when this code runs?", ["No error is raised.", "It prints `red`."], "HH"),
        ("What happens if the colour is left out?", ["It prints `red`.", "It fails."], "UU"),
    ],
)
def test_a_snippet_is_run_just_as_it_stands(
    settle: Settle, text: str, options: list[str], expected: str
) -> None:
    assert states(settle(text, *options, snippet=CODE)) == expected


def test_words_and_code_that_disagree_settle_nothing(settle: Settle) -> None:
    text = "The lamp is made with `colour='blue'`. What does this code print?"
    found = settle(text, "`red`", "`blue`", snippet=CODE)
    assert states(found) == "UU"
    assert "says otherwise" in found["A"].reason


def test_trouble_of_the_machine_is_no_outcome(settle: Settle) -> None:
    code = "import socket\nsocket.create_connection(('203.0.113.1', 80), timeout=1)\n"
    found = settle(
        "Which exception does this code raise?", "`ValueError`", "`OSError`", snippet=code
    )
    assert states(found) == "UU"


def test_an_open_option_says_why(settle: Settle) -> None:
    found = settle("What is the purpose of `Lamp`?", "Seeing in the dark.", "Selling oil.")
    assert states(found) == "UU"
    assert "judgement" in found["A"].reason
