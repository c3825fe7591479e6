"""The parsers, as existing verifiers call them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.submissions.cases import CLIResult
from assay.submissions.slopcode import parsers
from assay.submissions.slopcode.models import VerifierError
from tests.conftest import json_values


def result(**fields: Any) -> CLIResult:
    return CLIResult(id="one", group="core", **fields)


def test_streams() -> None:
    assert parsers.convert_to_io("ü").read() == "ü"
    assert parsers.convert_to_io(b"\xff").read() == b"\xff"
    with pytest.raises(ValueError, match="int"):
        parsers.convert_to_io(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "text"), [("a", "a"), (b"\xc3\xbc", "ü"), (3, "3"), (None, "")])
def test_texts(value: Any, text: str) -> None:
    assert parsers.ensure_non_null_string(value, allow_empty=True) == text


@pytest.mark.parametrize("value", [None, "", b""])
def test_empty_texts_have_to_be_allowed(value: Any) -> None:
    with pytest.raises(VerifierError, match="empty"):
        parsers.ensure_non_null_string(value)


def test_an_expected_value_must_be_there() -> None:
    assert parsers.ensure_expected_is_not_none(b"a") == "a"
    assert parsers.ensure_expected_is_not_none({"a": 1}) == {"a": 1}
    with pytest.raises(VerifierError):
        parsers.ensure_expected_is_not_none(None)
    with pytest.raises(VerifierError, match="utf-8"):
        parsers.ensure_expected_is_not_none(b"\xff")


def test_the_output_of_a_result() -> None:
    parts = result(output="log\n---\n body \n", stderr=b" no ")
    assert parsers.extract_actual_output(parts) == "log\n---\n body \n"
    assert parsers.extract_actual_output(parts, "---\n", strip=True) == "body"
    assert parsers.extract_actual_output(parts, "---\n", 0) == "log\n"
    assert parsers.extract_actual_output(parts, output_key="stderr", strip=True) == "no"
    assert parsers.extract_actual_output(result(output=None)) is None
    assert parsers.extract_actual_output(result(output={"a": 1}), "x", strip=True) == {"a": 1}
    with pytest.raises(VerifierError, match="'outputs'"):
        parsers.extract_actual_output(parts, output_key="outputs")


@pytest.mark.parametrize(
    ("content", "separator", "index", "part"),
    [
        ("a|b|c", "|", -1, "c"),
        ("a|b|c", "|", 1, "b"),
        ("a", None, -1, "a"),
        (None, "|", -1, ""),
    ],
)
def test_parts(content: str | None, separator: str | None, index: int, part: str) -> None:
    assert parsers.maybe_split_string(content, separator, index) == part


def test_a_part_that_is_not_there_equals_nothing() -> None:
    # An empty text in its place would equal that of an expectation that lacks the part as well.
    with pytest.raises(VerifierError, match=r"no part 1 between '\|': the text has 1"):
        parsers.maybe_split_string("a", "|", 1)


def test_markdown_tables() -> None:
    table = "| a | b |\n|:--|--:|\n| 1 | x \\| y |\n\n| 2 |  |\n"
    rows = [{"a": "1", "b": "x | y"}, {"a": "2", "b": ""}]
    assert parsers.parse_markdown_table(table) == rows
    assert parsers.parse_markdown_table("a | b\n-|-\n1 | 2") == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("", []),
        (None, []),
        ("| a | b |\n", []),
        ("| a | b |\n|---\n| 1 | 2\n3 | 4 |\n", [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]),
        ("a | b\n=====\n | 2\n", [{"a": "", "b": "2"}]),
        ("| | a |\n|-|-|\n| x | 1 |\n", [{"a": "1"}]),
        # The reference drops the line below the headings, whatever it is.
        ("| a |\n| 1 |\n| 2 |\n", [{"a": "1"}, {"a": "2"}]),
    ],
)
def test_sloppy_markdown_tables_are_read_and_lose_no_row(
    content: str | None, rows: list[dict[str, str]]
) -> None:
    assert parsers.parse_markdown_table(content) == rows


@pytest.mark.parametrize("content", ["text", "a\nb\nc", "|a|\n|-|\n|1|2|\n", "|a|b|\n|-|-|\n|1\n"])
def test_what_is_no_table(content: str | None) -> None:
    with pytest.raises(VerifierError):
        parsers.parse_markdown_table(content)
    assert parsers.parse_markdown_table(content, allow_errors=True) == [
        {"error": "Invalid markdown table"}
    ]


def test_keys_are_dropped() -> None:
    rows = [{"a": 1, "b": 2}]
    assert parsers.drop_keys_from_dicts(rows, {"b"}) == [{"a": 1}]
    assert parsers.drop_keys_from_dicts(rows) == rows


def test_csv() -> None:
    text = "a,b,c\n1,x,\n2,,1.5\n"
    rows = [{"a": 1, "b": "x", "c": None}, {"a": 2, "b": None, "c": 1.5}]
    assert parsers.parse_csv_content(text) == rows
    assert parsers.parse_csv_content(text.encode()) == rows
    # Numbers that JSON knows, so that a diff of them can be written.
    assert json.loads(json.dumps(parsers.parse_csv_content(text))) == rows
    assert parsers.parse_csv_content(None) == parsers.parse_csv_content(" \n") == []
    broken = "a\n1,2,3\n1\n4,5,6,7\n"
    assert parsers.parse_csv_content(broken) == [{"error": "Invalid CSV"}]
    with pytest.raises(VerifierError):
        parsers.parse_csv_content(broken, allows_error=False)
    with pytest.raises(VerifierError):
        parsers.parse_csv_content("", allows_error=False)


def test_rows_that_were_read_already_are_taken_as_they_are() -> None:
    assert (
        parsers.parse_csv_content([{"a": 1}]) == parsers.parse_csv_content({"a": 1}) == [{"a": 1}]
    )
    with pytest.raises(VerifierError, match="not from int"):
        parsers.parse_csv_content(3)


def test_yaml() -> None:
    assert parsers.parse_yaml("a: 1") == parsers.parse_yaml(b"a: 1") == {"a": 1}
    assert parsers.parse_yaml(" ") == parsers.parse_yaml(None) == {}
    assert parsers.parse_yaml({"a": 1}) == {"a": 1}
    # As the reference it does not raise; unlike its {}, this equals no expectation of {}.
    assert parsers.parse_yaml("a: [") == {"error": "Invalid YAML"}
    files = result(files={"a.yaml": "a: 1"})
    assert parsers.parse_yaml_file(files, "a.yaml") == {"a": 1}
    assert parsers.parse_yaml_file(files, "b.yaml", allow_missing=True) == {}
    with pytest.raises(VerifierError, match=r"'b\.yaml'"):
        parsers.parse_yaml_file(files, "b.yaml")


def test_json_and_json_lines() -> None:
    assert parsers.parse_json('{"a": 1}') == parsers.parse_json(b'{"a": 1}') == {"a": 1}
    assert parsers.parse_json(" ") == parsers.parse_json(None) == {}
    assert parsers.parse_json([1]) == [1]
    assert parsers.parse_json("{", allow_invalid=True) == {"error": "Invalid JSON"}
    with pytest.raises(VerifierError, match="not JSON"):
        parsers.parse_json("{")
    assert parsers.parse_jsonl('1\nnot\n\n{"a": 2}') == [1, {"a": 2}]
    assert parsers.parse_jsonl(None) == []


@given(json_values)
def test_json_of_any_value_is_read_again(value: Any) -> None:
    text = json.dumps(value)
    assert parsers.parse_json(text) == value
    assert parsers.parse_jsonl(text) == [value]


@given(st.lists(st.fixed_dictionaries({"a": st.text("xyz|\\ ", max_size=5)}), max_size=4))
def test_tables_of_any_cells_have_their_rows(rows: list[dict[str, str]]) -> None:
    written = ["| a |", "| --- |"]
    written += [f"| {row['a'].replace(chr(92), '').replace('|', chr(92) + '|')} |" for row in rows]
    found = parsers.parse_markdown_table("\n".join(written))
    assert found == [{"a": row["a"].replace("\\", "").strip()} for row in rows]
