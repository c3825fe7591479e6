"""Advice is followed to the letter: what it leads to must not be refused in its turn."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay.agents.testfile import read_file
from assay.agents.testfile.criteria import TESTS
from assay.findings import Finding
from tests.agents.testfile.support import whole, written

ODD: list[Any] = [None, [], {}, {"a": 1}, [1, 2], [[]], [None], [{"a": 1}], 5, True, "", "x", ["x"]]
Keys = tuple[str, ...]


def places() -> list[tuple[Keys, Any]]:
    """Odd values wherever a response may have a value."""
    tests: list[Keys] = [("structure", "key", test) for test in TESTS]
    tests += [("text", test) for test in TESTS]
    wrong: list[Keys] = [("structure", "key"), ("sly_data", "key"), ("structure", "key", "valu")]
    found = [(keys, value) for keys in (*tests, *wrong) for value in ODD]
    # Two values of one text are a mistake of their own, whatever they are.
    return [(keys, value) for keys, value in found if keys != ("text", "value") or value != [1, 2]]


def problems(folder: Path, keys: Keys, value: Any, beside: dict[str, Any]) -> list[Finding]:
    for key in reversed(keys[1:]):
        value = {key: value, **(beside if key == keys[-1] != "key" else {})}
    response = json.dumps({keys[0]: value})[1:-1]
    return read_file(written(folder, whole(response=response))).problems


def follow(advice: str, keys: Keys, value: Any) -> tuple[Keys, Any] | None:
    """What the advice, taken at its word, makes of the keys and the value; None if it is open."""
    if found := re.fullmatch(r"did you mean '(\w+)'\?", advice):
        return (*keys[:-1], found[1]), value
    if found := re.fullmatch(r"(?:for example|to compare, write) (.*)", advice):
        return (keys, json.loads(found[1])) if "…" not in found[1] else None
    if "write it in a list: [{…}]" in advice:
        return keys, [value]
    if advice == "put it in quotes":
        return keys, [str(one) for one in value] if isinstance(value, list) else str(value)
    return None


@pytest.mark.parametrize("beside", [{}, {"not_keywords": "zzz"}], ids=["alone", "beside another"])
def test_advice_on_a_response_is_accepted_when_it_is_followed(
    tmp_path: Path, beside: dict[str, Any]
) -> None:
    followed = 0
    for keys, value in places():
        for problem in problems(tmp_path, keys, value, beside)[:1]:
            led = follow(problem.advice, keys, value)
            if led is None or (problem.advice.startswith("did you") and not is_plain(value)):
                continue
            followed += 1
            left = problems(tmp_path, *led, beside)
            assert left == [], (keys, value, problem.message, problem.advice)
    assert followed > 20


def is_plain(value: Any) -> bool:
    """Whether nothing else is wrong with a value than the word before it."""
    return isinstance(value, str | int) and value != ""


def test_the_advice_on_a_key_that_stands_twice_leads_to_a_file_that_is_right(
    tmp_path: Path,
) -> None:
    twice = whole(response='"text": {"keywords": "a", "keywords": "b"}')
    (problem,) = read_file(written(tmp_path, twice)).problems
    assert problem.advice.startswith("remove one of them")
    assert "several values of a test are a list" in problem.advice
    for followed in ('"keywords": "b"', '"keywords": ["a", "b"]'):
        right = whole(response=f'"text": {{{followed}}}')
        assert read_file(written(tmp_path, right)).problems == []
