"""Code that needs a model or a service: a stand-in where it only has to be there, else nothing."""

from __future__ import annotations

import pytest

from tests.questions.lexical.support import Settle, states

NAMED = """\
from lanterns.keepers import Keeper

keeper = Keeper(name="Ann", adviser=adviser)
print(keeper.name)
"""
NAMELESS = """\
from lanterns.keepers import Keeper

keeper = Keeper("", adviser)
"""
WORKING = NAMED + "print(keeper.work())\n"
PLACED = NAMED + "print(keeper.adviser.place)\n"
TELEGRAPH = "from lanterns.keepers import Telegraph\n\nprint(Telegraph())\n"
QUIET = "from lanterns.keepers import QuietTelegraph\n\nprint(QuietTelegraph().is_connected)\n"


def test_an_abstract_class_that_is_only_held_gets_a_stand_in(settle: Settle) -> None:
    text = "What does this code print?"
    found = settle(text, "`Ann`", "`Bob`", "It raises `TypeError`.", snippet=NAMED)
    assert states(found) == "HFF", "\n".join(one.reason for one in found.values())


def test_what_is_refused_before_the_stand_in_is_asked_counts(settle: Settle) -> None:
    text = "Which exception does this code raise?"
    found = settle(text, "`ValueError`", "`TypeError`", snippet=NAMELESS)
    assert states(found) == "HF", "\n".join(one.reason for one in found.values())


@pytest.mark.parametrize("code", [WORKING, PLACED, TELEGRAPH, QUIET])
def test_what_needs_a_real_one_settles_nothing(settle: Settle, code: str) -> None:
    """Also where the target swallows the error and goes on."""
    found = settle(
        "What happens when this code runs?",
        "No error is raised.",
        "It prints `False`.",
        "It raises `RuntimeError`.",
        snippet=code,
    )
    assert states(found) == "UUU"
    assert (
        "network" in found["A"].reason
        or "stands in" in found["A"].reason
        or ("no line" in found["A"].reason)
    )


def test_a_name_of_no_abstract_class_stays_unknown(settle: Settle) -> None:
    code = NAMED.replace('name="Ann"', "name=name")
    found = settle("What does this code print?", "`Ann`", "`Bob`", snippet=code)
    assert states(found) == "UU"
    assert "`name`, which nothing defines" in found["A"].reason
