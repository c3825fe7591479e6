"""What the prover settles about a small library, and above all what it leaves alone."""

from __future__ import annotations

import pytest

from assay.questions.claims import Grounds
from assay.questions.findings import Finding
from tests.questions.provers.introspection.support import Settle

CODE = """\
from lanterns import Lamp

lamp = Lamp(colour="red")
print(lamp.light())
"""


def states(findings: dict[str, Finding]) -> str:
    """H, F, U or C for each option."""
    return "".join(finding.state.value[0] for finding in findings.values())


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
            "HFUU",
            id="the documentation confirms, existence does not",
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
            "Which abstract base class must you inherit from?",
            ["`BaseLamp`", "`OilLamp`"],
            "UF",
            id="abstract or not",
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
    assert states(settle(text, *options)) == expected


def test_documentation_is_told_as_such(settle: Settle) -> None:
    found = settle("Which method of `Lamp` pours oil into the tank?", "`refill`", "`light`")
    assert states(found) == "HU"
    assert found["A"].grounds is Grounds.DOCUMENTED


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
