"""Charts: well-formed, accessible, without script or style, right about the numbers."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.reports import (
    Html,
    Matrix,
    MatrixCell,
    MatrixRow,
    draw_curve,
    draw_history,
    draw_interval,
    draw_matrix,
    draw_outcomes,
    draw_sparkline,
    draw_strip,
)
from tests.reports.conftest import HOSTILE

shares = st.floats(0, 1)
outcomes = st.lists(st.sampled_from(["passed", "failed", "error", "unverified"]), max_size=60)


def parse(chart: Html) -> ElementTree.Element:
    """The chart as XML, after what must be true of every chart."""
    svg = ElementTree.fromstring(chart)
    assert (svg.tag, svg.attrib["role"]) == ("svg", "img")
    assert svg[0].tag == "title"
    assert (svg[0].text or "").strip()
    for element in svg.iter():
        assert element.tag not in ("script", "style", "a", "image", "foreignObject", "use")
        assert not {"style", "href", "onload"} & element.attrib.keys()
    return svg


def numbers(svg: ElementTree.Element, tag: str, name: str) -> list[float]:
    return [float(one.attrib[name]) for one in svg.iter(tag) if name in one.attrib]


@given(outcomes)
def test_a_strip_has_a_mark_for_every_sample_in_order(several: list[str]) -> None:
    svg = parse(draw_strip(several, title="Samples"))
    marks = [one.attrib["class"].split()[-1] for one in svg.iter("rect")]
    assert marks == several
    titles = [one[0].text for one in svg.iter("g")]
    assert titles == [f"{place}: {one}" for place, one in enumerate(several, 1)]


def test_a_very_long_strip_says_what_it_leaves_out() -> None:
    svg = parse(draw_strip(["passed"] * 1_200, title="Samples"))
    assert len(list(svg.iter("rect"))) == 1_000
    assert svg.findtext("desc") == "200 more are not drawn"


@given(st.tuples(shares, shares, shares).map(sorted))
def test_a_value_is_drawn_within_its_interval(three: list[float]) -> None:
    low, value, high = three
    svg = parse(draw_interval(value, low, high, title="Rate", reference=value))
    [bar] = svg.iter("rect")
    left, width = float(bar.attrib["x"]), float(bar.attrib["width"])
    [place] = numbers(svg, "circle", "cx")
    assert left - 0.02 <= place <= left + width + 0.02
    assert left >= 0
    assert left + width <= 301
    reference = next(one for one in svg.iter("line") if one.attrib["class"] == "reference")
    assert float(reference.attrib["x1"]) == place


def test_an_interval_of_a_difference_has_its_own_axis() -> None:
    svg = parse(draw_interval(0, -0.5, 0.5, title="Difference", minimum=-1, maximum=1, labels=None))
    assert numbers(svg, "circle", "cx") == [150]
    assert not list(svg.iter("text"))


@given(st.lists(shares, min_size=2, max_size=20).map(sorted), shares, shares)
def test_a_curve_rises_where_its_values_do(values: list[float], x: float, y: float) -> None:
    points = [(place / (len(values) - 1), one) for place, one in enumerate(values)]
    svg = parse(draw_curve(points, title="Curve", description="d", point=(x, y), band=(0.2, 0.4)))
    [line] = svg.iter("polyline")
    drawn = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]
    assert [one for one, _ in drawn] == sorted(one for one, _ in drawn)
    # On a screen y grows downwards.
    assert [two for _, two in drawn] == sorted((two for _, two in drawn), reverse=True)
    assert svg.findtext("desc") == "d"


@given(st.lists(st.none() | shares, max_size=30))
def test_a_history_has_a_point_with_its_interval_for_every_known_rate(
    values: list[float | None],
) -> None:
    runs = [(f"run <{at}>", one, (one or 0) / 2, 1.0) for at, one in enumerate(values)]
    tree = parse(draw_history(runs, title="history"))
    points = list(tree.iter("circle"))
    known = [one for one in values if one is not None]
    assert len(points) == len(known)
    # The higher the rate, the higher the point.
    heights = [-float(point.attrib["cy"]) for point in points]
    assert sorted(heights) == [height for _, height in sorted(zip(known, heights, strict=True))]
    assert all(0 <= float(point.attrib["cx"]) <= 720 for point in points)


@given(st.lists(st.none() | shares, max_size=12))
def test_a_sparkline_leaves_gaps_where_nothing_is_known(values: list[float | None]) -> None:
    svg = parse(draw_sparkline(values, title="Trend"))
    drawn = sum(len(one.attrib["points"].split()) for one in svg.iter("polyline"))
    alone = [
        place
        for place, one in enumerate(values)
        if one is not None
        and (place == 0 or values[place - 1] is None)
        and (place + 1 == len(values) or values[place + 1] is None)
    ]
    assert drawn == sum(one is not None for one in values) - len(alone)


@given(st.dictionaries(st.sampled_from(["passed", "failed", "error"]), st.integers(0, 10**6)))
def test_the_parts_of_a_bar_fill_it_in_proportion(counts: dict[str, int]) -> None:
    svg = parse(draw_outcomes(counts, title="Outcomes"))
    widths = {one.attrib["class"]: float(one.attrib["width"]) for one in svg.iter("rect")}
    total = sum(counts.values())
    assert widths.keys() == {name for name, number in counts.items() if number}
    for name, width in widths.items():
        assert width == pytest.approx(1000 * counts[name] / total, abs=0.01)


@pytest.mark.parametrize(
    "chart",
    [
        draw_strip([HOSTILE], title=HOSTILE),
        draw_interval(0.5, 0, 1, title=HOSTILE, reference=0.1, reference_label=HOSTILE,
                      labels=(HOSTILE, HOSTILE)),
        draw_curve([(0, 0), (1, 1)], title=HOSTILE, description=HOSTILE, x_label=HOSTILE,
                   y_label=HOSTILE, point=(0.5, 0.5), point_label=HOSTILE),
        draw_sparkline([0.5], title=HOSTILE),
        draw_outcomes({HOSTILE: 1}, title=HOSTILE),
    ],
)  # fmt: skip
def test_labels_are_text_whatever_they_say(chart: Html) -> None:
    svg = parse(chart)
    assert "<script>alert(1)</script>" in (svg[0].text or "")
    assert not set(chart) & set("\x00\x1b\x07\x9b\u202e\u2066\u2028\ufeff\r")


def _matrix(rows: int, changed: frozenset[int] = frozenset()) -> Matrix:
    def make(number: int) -> MatrixRow:
        cell = MatrixCell("Valid", "passed")
        last = MatrixCell("Gone", "failed", is_changed=True) if number in changed else cell
        return MatrixRow(f"question {number}", (cell, last))

    return Matrix(
        HOSTILE, HOSTILE, ("1.0", "2.0"), lambda: map(make, range(rows)), "summary", (HOSTILE,)
    )


def test_a_matrix_is_a_table_with_headings_on_both_sides() -> None:
    text = "".join(draw_matrix(_matrix(3, frozenset({1}))))
    tree = ElementTree.fromstring(f"<all>{text}</all>")
    assert [one.text for one in tree.iter("th") if one.attrib["scope"] == "col"][1:] == [
        "1.0",
        "2.0",
    ]
    rows = [one.text for one in tree.iter("th") if one.attrib["scope"] == "row"]
    assert rows == ["question 0", "question 1", "question 2"]
    [changed] = [one for one in tree.iter("td") if "changed" in one.attrib["class"]]
    # The change is a word too, not only a colour.
    assert "".join(changed.itertext()) == "Gone changed"
    [region] = list(tree.iter("div"))
    assert region.attrib["aria-label"].startswith("<script>alert(1)</script>")


def test_of_a_large_matrix_the_changes_are_shown() -> None:
    text = "".join(draw_matrix(_matrix(2_000, frozenset({1_500})), most=100))
    assert text.count("<tr>") == 2
    assert "question 1500" in text
    assert "1,999 rows without a change are left out." in text
    many = "".join(draw_matrix(_matrix(2_000, frozenset(range(150))), most=100))
    assert "1,900 rows are left out." in many
