"""Whatever stands in the place of a value, an answer is an answer, a failure or an outage."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.answers import ANSWERS, BETWEEN
from tests.fuzz.loaders import LOADERS

_OTHERS: tuple[Any, ...] = (None, 5, "x", "\ud800\n", "y" * 70_000, [], [5], {"a": 5})


def _changed(value: Any) -> Iterator[Any]:
    """Yield the value with another in the place of each of its parts."""
    yield from (other for other in _OTHERS if other != value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {name: one for name, one in value.items() if name != key}
            yield from ({**value, key: other} for other in _changed(inner))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ([*value[:place], other, *value[place + 1 :]] for other in _changed(inner))


def _inputs(sound: bytes) -> Iterator[bytes]:
    answers = sound.split(BETWEEN)
    for place, answer in enumerate(answers):
        head, mark, text = answer.rpartition(b"data: ")
        for other in _changed(json.loads(text)):
            end = b"\n\n" if mark else b"\n"
            changed = head + mark + json.dumps(other).encode() + end
            yield BETWEEN.join([*answers[:place], changed, *answers[place + 1 :]])


@pytest.mark.parametrize("name", ANSWERS)
def test_a_value_of_another_kind_is_never_a_defect(name: str, tmp_path: Path) -> None:
    inputs = list(dict.fromkeys(_inputs(ANSWERS[name][1])))
    assert len(inputs) > 20
    for data in inputs:
        said = LOADERS[name].load(tmp_path, data)
        assert len(said) <= 1, data
