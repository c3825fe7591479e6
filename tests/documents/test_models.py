"""From a node to a model: strict or not, with the file of every mistake, and no value shown raw."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, ConfigDict

from assay.documents import (
    InvalidValue,
    find_places,
    parse_yaml,
    read_hocon,
    read_model,
    to_node,
    to_values,
)

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=15,
)


def refuse(value: Any) -> Any:
    raise InvalidValue("must not be {}", value, "write another")


class Loose(BaseModel):
    name: str


class Strict(Loose):
    model_config = ConfigDict(strict=True)


class Part(BaseModel):
    size: int


class Whole(BaseModel):
    part: Part
    word: Annotated[str, BeforeValidator(refuse)] = ""


@given(values)
def test_a_value_made_into_a_tree_is_the_same_value(value: Any) -> None:
    assert to_values(to_node(value, 1)) == value


def test_a_number_that_is_none_stays_one() -> None:
    assert math.isnan(to_values(to_node(math.nan, 1)))


@pytest.mark.parametrize("text", ["name: 12", "name: true", "name: 1.5"])
def test_a_strict_model_takes_a_scalar_as_what_it_means(text: str) -> None:
    node = parse_yaml(text)
    places = find_places(node, Path("f.yaml"))
    loose, mistakes = read_model(Loose, node, places)
    assert loose is not None
    assert (loose.name, mistakes) == (text.removeprefix("name: "), [])
    strict, (mistake,) = read_model(Strict, node, places)
    assert (strict, mistake.message) == (None, "`name` must be text")


def test_a_mistake_names_the_file_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "shared.hocon").write_text("\npart {\n size: 1\n siez: 2 }\n")
    (tmp_path / "main.hocon").write_text('include "shared"\nword: secret\n')
    read = read_hocon(tmp_path / "main.hocon")
    _, (unknown, wrong) = read_model(Whole, read.node, read.places, preview=lambda _: "<hidden>")
    assert (unknown.message, unknown.advice) == (
        "there is no key `siez` here", "did you mean 'size'?",
    )  # fmt: skip
    assert (unknown.place.file.name, unknown.place.line) == ("shared.hocon", 4)
    assert (wrong.message, wrong.advice) == ("`word` must not be <hidden>", "write another")
    assert (wrong.place.file.name, wrong.place.line) == ("main.hocon", 2)
