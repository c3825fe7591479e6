"""Options that leave room for something of the reader's own: "`X` (or one inheriting from `Y`)"."""

from __future__ import annotations

import pytest

from tests.questions.provers.introspection.support import Settle, states

QUESTION = "Which class of this library burns oil?"


@pytest.mark.parametrize(
    "option",
    [
        "`OilLamp` (or a custom lamp inheriting from `BaseLamp`)",
        "OilLamp (or your own lamp derived from the BaseLamp).",
    ],
)
def test_what_the_reader_may_write_takes_nothing_from_the_answer(
    settle: Settle, option: str
) -> None:
    found = settle(QUESTION, option, "`WaxLamp`", "`TallowLamp`")
    assert states(found) == "HFF", found["A"].reason


@pytest.mark.parametrize(
    "option",
    [
        pytest.param("`OilLamp` (or `Lamp`)", id="another answer"),
        pytest.param("`Lamp` (or a custom lamp inheriting from `OilLamp`)", id="not its base"),
        pytest.param("`OilLamp` (or a custom lamp inheriting from `Shop`)", id="not of that sort"),
        pytest.param("`OilLamp` (or a custom lamp inheriting from `WaxLamp`)", id="no such base"),
        pytest.param("`WaxLamp` (or a custom lamp inheriting from `BaseLamp`)", id="no such name"),
        pytest.param("Either `OilLamp` or `BaseLamp`", id="a choice"),
    ],
)
def test_any_other_choice_stays_open(settle: Settle, option: str) -> None:
    found = settle(QUESTION, option, "`OilLamp`", "`TallowLamp`")
    assert states(found) == "UHF", found["A"].reason
