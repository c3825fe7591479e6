"""Two texts beside each other: every line is there or counted, and what differs is marked."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.reports.side_by_side import Gap, Line, LinePair, align_texts

line = st.sampled_from(["", "a", "b", "same", "x = 1", "x = 2", "  indented"])
texts = st.lists(line, max_size=30).map("\n".join) | st.text(max_size=60)


def side(rows: list[LinePair | Gap], name: str, text: str) -> str:
    """One side put together again, with what the gaps hide taken from the original."""
    lines = [part + "\n" for part in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    lines = [one for one in lines if one]
    built, place = "", 0
    for row in rows:
        if isinstance(row, Gap):
            built += "".join(lines[place : place + row.lines])
            place += row.lines
            continue
        found: Line | None = getattr(row, name)
        if found is not None:
            assert found.number == place + 1
            built += found.text
            place += 1
    return built


@given(texts, texts)
def test_both_sides_can_be_read_in_full(expected: str, actual: str) -> None:
    rows = list(align_texts(expected, actual))
    assert side(rows, "expected", expected) == expected
    assert side(rows, "actual", actual) == actual


@given(texts, texts)
def test_equal_lines_are_equal_and_others_differ_where_they_are_marked(
    expected: str, actual: str
) -> None:
    for row in align_texts(expected, actual):
        if isinstance(row, Gap):
            assert row.lines > 0
        elif row.expected is None or row.actual is None:
            assert not row.is_equal
        elif row.is_equal:
            assert row.expected.text == row.actual.text
        else:
            assert row.expected.changed != row.actual.changed
            assert row.expected.start == row.actual.start
            assert row.expected.end == row.actual.end


@given(texts)
def test_a_text_is_equal_to_itself(text: str) -> None:
    assert all(isinstance(row, Gap) or row.is_equal for row in align_texts(text, text))


def test_only_the_lines_around_a_difference_are_shown() -> None:
    lines = [f"line {number}\n" for number in range(5_000)]
    changed = [*lines]
    changed[4_000] = "another line\n"
    rows = list(align_texts("".join(lines), "".join(changed)))
    assert [row.lines for row in rows if isinstance(row, Gap)] == [3_997, 996]
    [pair] = [row for row in rows if isinstance(row, LinePair) and not row.is_equal]
    assert pair.actual is not None
    assert (pair.actual.number, pair.actual.text) == (4_001, "another line\n")


def test_texts_that_differ_everywhere_are_compared_by_number() -> None:
    before = "".join(f"a {number}\n" for number in range(4_000))
    after = "".join(f"b {number}\n" for number in range(4_000))
    rows = list(align_texts(before, after))
    assert len(rows) == 4_000
    first = rows[0]
    assert isinstance(first, LinePair)
    assert first.expected is not None
    assert (first.expected.start, first.expected.changed, first.expected.end) == ("", "a", " 0\n")
