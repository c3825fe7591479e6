"""YAML and JSON are read as text with lines; what is no document is refused with its line."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from assay.documents import (
    DocumentError,
    find_places,
    find_repetitions,
    parse_json,
    parse_yaml,
    read_document,
    to_texts,
    to_values,
)
from assay.documents import yaml_text as yaml_documents
from tests.questions.suite_support import write

texts = st.text()
trees: st.SearchStrategy[Any] = st.recursive(
    st.none() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=15,
)


@given(trees)
def test_json_reads_what_was_written(tree: Any) -> None:
    for text in (json.dumps(tree), json.dumps(tree, indent="\t", ensure_ascii=False)):
        assert to_texts(parse_json(text)) == tree


@given(st.text(alphabet='{}[]",: \n\t\\a1tn', max_size=30))
def test_json_is_refused_where_the_standard_library_refuses_it(text: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(DocumentError):
            parse_json(text)
    else:
        parse_json(text)


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml_documents._LOADER])
def test_scalars_stay_as_they_were_written(loader: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_documents, "_LOADER", loader)
    node = parse_yaml("a: No\nb: 1.10\nc: 2020-01-01\nd: ''\ne:\nf: null\ng: 'null'\nh: 0x1F\n")
    expected = {
        "a": "No", "b": "1.10", "c": "2020-01-01", "d": "", "e": None, "f": None, "g": "null",
        "h": "0x1F",
    }  # fmt: skip
    assert to_texts(node) == expected
    assert to_texts(parse_json('{"a": 1.10, "b": true, "c": null}')) == {
        "a": "1.10",
        "b": "true",
        "c": None,
    }


def test_every_part_has_its_line() -> None:
    text = "a:\n- x: 1\n  y: |\n    two\n    lines\n- z\nb: end\n"
    spots = find_places(parse_yaml(text), Path("f"))
    assert {path: place.line for path, place in spots.items()} == {
        "": 1, "a": 1, "a.0": 2, "a.0.x": 2, "a.0.y": 3, "a.1": 6, "b": 7,
    }  # fmt: skip
    tabs = '{\n\t"a": [\n\t\t{"x": 1,\n\t\t "y": "2"},\n\t\t"z"\n\t],\n\t"b": "end"\n}\n'
    spots = find_places(parse_json(tabs), Path("f"))
    assert {path: place.line for path, place in spots.items()} == {
        "": 1, "a": 2, "a.0": 3, "a.0.x": 3, "a.0.y": 4, "a.1": 5, "b": 7,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["suite.json", "suite.yaml"])
def test_json_with_tabs_is_read_under_any_name(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / name, '{\n\t"benchmarks":\t[]\n}\n')
    assert to_texts(read_document(path)) == {"benchmarks": []}


def test_a_flow_mapping_of_yaml_is_not_taken_for_json(tmp_path: Path) -> None:
    path = write(tmp_path / "suite.yaml", "{benchmarks: [], target: current}\n")
    assert to_texts(read_document(path)) == {"benchmarks": [], "target": "current"}


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: 1\nb\n  c: 2\n", 3, "not valid YAML"),
        ("a: [1,\nb: 2\n", 3, "not valid YAML"),
        ("a: 1\n---\nb: 2\n", 2, "more than one document"),
        ("", 1, "empty"),
        ("# nothing\n", 1, "empty"),
        ("a: 1\nb: \x07\n", 2, "character"),
        ("a: 1\nb: *nothing\n", 2, "alias"),
        ("a: 1\n? [x]\n: 2\n", 2, "key must be text"),
        ("a: &a [*a]\n", 1, "alias"),
        ("a: 1\n<<: text\n", 2, "mapping"),
        ("\n" + "[" * 60 + "]" * 60, 2, "nested"),
    ],
)
def test_what_is_no_yaml_is_refused_with_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_yaml(text)
    assert caught.value.line == line
    assert says in caught.value.what


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n"a": 1,\n}', 3),
        ('{"a": 1}\n{}', 2),
        ('{\n"a" 1}', 2),
        ("[\n1,\n]", 3),
        ('["a\nb"]', 1),
        ("", 1),
        ("\n\n[" + "[" * 60, 3),
        ("{a: 1}", 1),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_json(text)
    assert caught.value.line == line
    assert "not valid JSON" in caught.value.what


def test_text_in_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(DocumentError, match="UTF-8") as caught:
        read_document(path)
    assert caught.value.line == 2


def test_aliases_and_merges_are_followed() -> None:
    text = "base: &base {x: 1, y: 2}\none:\n  <<: *base\n  y: 3\ntwo: *base\n"
    assert to_texts(parse_yaml(text)) == {
        "base": {"x": "1", "y": "2"},
        "one": {"y": "3", "x": "1"},
        "two": {"x": "1", "y": "2"},
    }


def test_aliases_that_multiply_are_stopped() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(DocumentError, match="parts"):
        parse_yaml("\n".join(lines))


def test_a_key_given_twice_is_found_with_both_lines() -> None:
    node = parse_yaml("a:\n  x: 1\n  y: 2\n  x: 3\nb:\n- {z: 1, z: 2}\n")
    assert [(one.key, one.first, one.line) for one in find_repetitions(node)] == [
        ("x", 2, 4),
        ("z", 6, 6),
    ]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("12", 12),
        ("-3.5e2", -350.0),
        ('"12"', "12"),
        ("true", True),
        ("'true'", "true"),
        ("yes", "yes"),
        ("012", "012"),
        ("~", None),
        (".inf", math.inf),
        ("1.10", 1.1),
        ("2024-01-02", "2024-01-02"),
    ],
)
def test_typed_gives_what_a_bare_scalar_means_and_leaves_quoted_ones_text(
    written: str, value: object
) -> None:
    node = parse_yaml(f"key: {written}")
    assert repr(to_values(node)) == repr({"key": value})


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_typed_json_is_what_json_means(value: object) -> None:
    assert to_values(parse_json(json.dumps(value))) == value
