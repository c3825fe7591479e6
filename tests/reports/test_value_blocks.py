"""Values beside each other: as the kind of value that they are, with what differs marked."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from assay.reports import (
    Block,
    BlockLimits,
    Code,
    Diff,
    Paragraph,
    Sides,
    Table,
    describe_comparison,
    describe_value,
    render_blocks,
)
from tests.conftest import json_values


def compare(expected: Any, actual: Any, diff: Any = None) -> list[Block]:
    return list(describe_comparison(expected, actual, diff))


def cells(table: Block) -> list[list[tuple[str, bool]]]:
    assert isinstance(table, Table)
    return [
        [(cell, False) if isinstance(cell, str) else (cell.text, cell.is_changed) for cell in row]
        for row in table.rows
    ]


def test_texts_of_several_lines_are_compared_line_by_line() -> None:
    assert compare("a\nb\n", "a\nc\n") == [Diff("a\nb\n", "a\nc\n")]


def test_a_text_that_should_contain_another_is_not_compared_with_it() -> None:
    [sides, said] = compare("missing.csv", "Traceback\n  line 1\n", "it does not contain it")
    assert isinstance(sides, Sides)
    assert said == Paragraph("it does not contain it", "quiet", is_verbatim=True)


def test_json_in_a_text_is_compared_as_the_value_that_it_is() -> None:
    [diff] = compare({"a": 1, "b": [2]}, '{"b": [3], "a": 1}\n')
    assert isinstance(diff, Diff)
    # In the order of the expected value, so that only what differs does.
    assert diff.expected.replace("2", "3") == diff.actual
    assert diff.language == "json"


def test_what_a_check_said_of_json_is_a_table() -> None:
    found = {
        "compared": "as JSON",
        "differences": [{"path": "a", "problem": "different value", "expected": 1, "actual": 2}],
    }
    [_, table] = compare({"a": 1}, {"a": 2}, found)
    assert isinstance(table, Table)
    assert table.caption == "compared as JSON"
    assert cells(table) == [[("a", False), ("different value", False), ("1", False), ("2", False)]]


def test_tables_stand_beside_each_other_with_changed_cells_marked() -> None:
    rows = [{"item": "tea", "price": 1}, {"item": "bread", "price": 2}]
    [sides] = compare(rows, "item,price\ntea,1\nbread,3\nmilk,4\n")
    assert isinstance(sides, Sides)
    (_, [expected]), (_, [actual]) = sides.columns
    assert cells(expected)[1] == [("bread", False), ("2", True)]
    assert cells(actual)[1:] == [[("bread", False), ("3", True)], [("milk", True), ("4", True)]]
    # A row that is missing on one side leaves its place empty.
    assert cells(expected)[2] == [("", False), ("", False)]


def test_rows_of_objects_are_a_table_and_others_are_not() -> None:
    assert isinstance(describe_value([{"a": 1}, {"a": 2, "b": "x"}]), Table)
    assert isinstance(describe_value([{"a": {"deep": 1}}]), Code)
    assert isinstance(describe_value([{str(n): n for n in range(50)}]), Code)
    assert describe_value("42") == Code('"42"')


def test_a_unified_diff_is_not_said_twice() -> None:
    unified = "only white space differs\n--- expected\n+++ actual\n@@ -1 +1 @@\n-a \n+a\n"
    [diff, hint] = compare("a \nb\n", "a\nb\n", unified)
    assert isinstance(diff, Diff)
    assert hint == Paragraph("only white space differs", "quiet", is_verbatim=True)


@given(json_values, json_values, json_values)
def test_any_values_can_be_compared(expected: Any, actual: Any, diff: Any) -> None:
    render_blocks(compare(expected, actual, diff), BlockLimits())
    render_blocks(compare([{"a": expected}], [{"a": actual}], {"differences": [{"x": diff}]}),
                  BlockLimits())  # fmt: skip
