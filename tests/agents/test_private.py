"""Private data is what no test looks at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.agents.connections import Answer
from assay.agents.model import Check, Interaction
from assay.agents.secrets import find_private_in_answers, find_private_in_errors
from assay.documents import Place

PLACE = Place(Path("test.hocon"), 1)


def interaction(sly_data: dict[str, Any], *checks: tuple[str, Any]) -> Interaction:
    return Interaction(
        1,
        PLACE,
        sly_data=sly_data,
        checks=tuple(
            Check(section, tuple(path), "value", value, PLACE)  # type: ignore[arg-type]
            for (section, *path), value in ((where.split("."), value) for where, value in checks)
        ),
    )


def test_what_was_sent_and_what_came_back_is_private() -> None:
    sent = interaction(
        {"card": "4929-1234", "deep": [{"pin": 98765432}], "flag": True}, ("text", "x")
    )
    returned = Answer(sly_data={"session": "abcdefgh", "nothing": None, "short": "seven77"})
    assert find_private_in_answers([sent], [returned, Answer()]) == {
        "4929-1234": "<sly_data.card>",
        "98765432": "<sly_data.deep.0.pin>",
        "abcdefgh": "<sly_data.session>",
    }


def test_what_a_test_looks_at_is_not() -> None:
    sly_data = {"order": {"id": "order-4711", "note": "left at the door"}, "card": "4929-1234"}
    looking = interaction(sly_data, ("sly_data.order.id", 1))
    assert find_private_in_answers([looking], []).keys() == {"left at the door", "4929-1234"}
    whole = interaction(sly_data, ("sly_data.order", {}))
    assert find_private_in_answers([whole], []).keys() == {"4929-1234"}
    naming = interaction(sly_data, ("text", "your card 4929-1234"))
    assert find_private_in_answers([naming], []).keys() == {"order-4711", "left at the door"}
    # The same value in another place is the same value.
    twice = interaction({**sly_data, "last": "order-4711"}, ("sly_data.last", 1))
    assert "order-4711" not in find_private_in_answers([twice], [])


def test_an_error_quotes_none_of_it() -> None:
    looking = interaction({"order": "4711", "pin": "123"}, ("sly_data.order", 1))
    assert find_private_in_errors([looking], [Answer(sly_data={"more": "abcd"})]) == {
        "4711": "<sly_data.order>",
        "abcd": "<sly_data.more>",
    }
