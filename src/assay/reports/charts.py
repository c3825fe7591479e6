"""Charts as SVG text: accessible (a title and a description), coloured by classes, no scripts.

They are pure functions of numbers. Labels may be text from cases and are escaped. The colours are
in `templates/evidence.css`; an outcome is also told by its shape.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from assay.reports.markup import Attribute, Html, element, join, start
from assay.reports.matrix import Matrix, MatrixCell
from assay.reports.text import one_line

_PER_ROW = 25
_CELL = 14
_MOST_SAMPLES = 1_000


def draw_strip(outcomes: Sequence[str], *, title: str) -> Html:
    """Return one mark per sample, in order: a tick, a cross, a ring or a bar by its outcome."""
    shown = outcomes[:_MOST_SAMPLES]
    marks = [
        _mark(one, _CELL * (place % _PER_ROW), _CELL * (place // _PER_ROW), place + 1)
        for place, one in enumerate(shown)
    ]
    # As wide as a full row, so that a mark has the same size however many there are.
    width = _CELL * _PER_ROW
    height = _CELL * math.ceil(len(shown) / _PER_ROW)
    left_out = len(outcomes) - len(shown)
    more = f"{left_out:,} more are not drawn" if left_out else ""
    return _svg("strip", width, height, title, more, marks)


_SHAPES = {
    "passed": "M3.5 6.2 5.4 8.2 8.7 4",
    "failed": "M3.8 3.8 8.2 8.2M8.2 3.8 3.8 8.2",
    "error": "M6 3.2V6.8M6 8.6V8.7",
    "unverified": "M3.5 6H8.5",
}


def _mark(outcome: str, x: float, y: float, number: int) -> Html:
    return element(
        "g",
        element("title", f"{number}: {one_line(outcome)}"),
        element("rect", class_=one_line(outcome), width=12, height=12, rx=3),
        element("path", class_="sign", d=_SHAPES.get(outcome, "")),
        transform=f"translate({x + 1:g} {y + 1:g})",
    )


def draw_interval(
    value: float,
    low: float,
    high: float,
    *,
    title: str,
    minimum: float = 0.0,
    maximum: float = 1.0,
    reference: float | None = None,
    reference_label: str = "",
    labels: tuple[str, str] | None = ("0%", "100%"),
) -> Html:
    """Return a value with its interval on an axis, and a reference to compare it with.

    Without labels it is small enough for a table.
    """

    def place(number: float) -> float:
        share = (number - minimum) / ((maximum - minimum) or 1.0)
        return round(10 + 280 * min(max(share, 0.0), 1.0), 2)

    left, right = place(low), place(high)
    y = 30 if labels else 10
    parts = [
        element("line", class_="axis", x1=10, y1=y, x2=290, y2=y),
        element("rect", class_="interval", x=left, y=y - 6, width=max(right - left, 1.0),
                height=12, rx=6),
        element("circle", class_="value", cx=place(value), cy=y, r=6),
    ]  # fmt: skip
    if labels:
        parts += [
            element("text", one_line(labels[0]), class_="label", x=10, y=54),
            element("text", one_line(labels[1]), class_="label end", x=290, y=54),
        ]
    if reference is not None:
        x = place(reference)
        anchor = "end" if x > 200 else "start" if x < 100 else "middle"
        parts.append(element("line", class_="reference", x1=x, y1=y - 14, x2=x, y2=y + 14))
        if labels:
            parts.append(
                element("text", one_line(reference_label), class_=f"label {anchor}", x=x, y=12)
            )
    return _svg("rate", 300, 58 if labels else 20, title, "", parts)


def draw_curve(
    points: Sequence[tuple[float, float]],
    *,
    title: str,
    description: str = "",
    x_label: str = "",
    y_label: str = "",
    point: tuple[float, float] | None = None,
    point_label: str = "",
    band: tuple[float, float] | None = None,
) -> Html:
    """Return a curve of shares over shares, both from 0 to 1.

    One point may be marked on it, and a range of what is on the horizontal axis.
    """

    def x_of(share: float) -> float:
        return round(40 + 240 * share, 2)

    def y_of(share: float) -> float:
        return round(160 - 135 * share, 2)

    parts: list[Html] = []
    if band is not None:
        left, right = x_of(band[0]), x_of(band[1])
        parts.append(
            element("rect", class_="band", x=left, y=25, width=max(right - left, 1.0), height=135)
        )
    for share in (0.0, 0.5, 1.0):
        parts += [
            element("line", class_="grid", x1=40, y1=y_of(share), x2=280, y2=y_of(share)),
            element("text", f"{share:.0%}", class_="label end", x=34, y=y_of(share) + 4),
            element("text", f"{share:.0%}", class_="label middle", x=x_of(share), y=176),
        ]
    line = " ".join(f"{x_of(x):g},{y_of(y):g}" for x, y in points)
    parts.append(element("polyline", class_="curve", points=line))
    if point is not None:
        x, y = x_of(point[0]), y_of(point[1])
        anchor = "end" if x > 160 else "start"
        parts += [
            element("path", class_="reference", d=f"M{x:g} 160V{y:g}H40"),
            element("circle", class_="value", cx=x, cy=y, r=5),
            element("text", one_line(point_label), class_=f"label strong {anchor}",
                    x=x - 10 if anchor == "end" else x + 10, y=max(y - 7, 22.0)),
        ]  # fmt: skip
    parts += [
        element("text", one_line(x_label), class_="label middle", x=160, y=194),
        element("text", one_line(y_label), class_="label", x=4, y=11),
    ]
    return _svg("curve", 300, 200, title, description, parts)


def draw_sparkline(values: Sequence[float | None], *, title: str) -> Html:
    """Return a small line of shares from 0 to 1; None leaves a gap."""
    step = 112 / max(len(values) - 1, 1)
    spots = [
        None if one is None else (round(4 + step * place, 2), round(24 - 20 * one, 2))
        for place, one in enumerate(values)
    ]
    parts = [
        element("polyline", class_="curve", points=" ".join(f"{x:g},{y:g}" for x, y in piece))
        for piece in _split(spots)
        if len(piece) > 1
    ]
    # A value between two gaps has no line.
    ends = [piece[0] for piece in _split(spots) if len(piece) == 1]
    ends += [spot for spot in spots[-1:] if spot is not None]
    parts += [element("circle", class_="value", cx=x, cy=y, r=3) for x, y in ends]
    return _svg("sparkline", 120, 28, title, "", parts)


def _split(
    spots: Iterable[tuple[float, float] | None],
) -> list[list[tuple[float, float]]]:
    pieces: list[list[tuple[float, float]]] = [[]]
    for spot in spots:
        if spot is None:
            pieces.append([])
        else:
            pieces[-1].append(spot)
    return [piece for piece in pieces if piece]


def draw_history(
    shares: Sequence[tuple[str, float | None, float, float]], *, title: str, description: str = ""
) -> Html:
    """Return rates over time, each with its interval; a share is its name, value, low and high."""
    width, step = 720, 640 / max(len(shares) - 1, 1)

    def y_of(share: float) -> float:
        return round(170 - 155 * share, 2)

    spots: list[tuple[float, float] | None] = []
    parts: list[Html] = []
    for share in (0.0, 0.5, 1.0):
        y = y_of(share)
        parts += [
            element("line", class_="grid", x1=44, y1=y, x2=width - 16, y2=y),
            element("text", f"{share:.0%}", class_="label end", x=38, y=y + 4),
        ]
    for place, (name, value, low, high) in enumerate(shares):
        x = round(54 + step * place, 2) if len(shares) > 1 else 374.0
        spots.append(None if value is None else (x, y_of(value)))
        if value is None:
            continue
        told = f"{name}: {value:.1%}, 95% interval {low:.1%} to {high:.1%}"
        parts.append(
            element("g", element("title", told),
                    element("path", class_="whisker", d=f"M{x:g} {y_of(high):g}V{y_of(low):g}"),
                    element("circle", class_="value", cx=x, cy=y_of(value), r=4))
        )  # fmt: skip
    lines = [
        element("polyline", class_="curve", points=" ".join(f"{x:g},{y:g}" for x, y in piece))
        for piece in _split(spots)
        if len(piece) > 1
    ]
    if shares:
        parts.append(element("text", shares[0][0], class_="label", x=44, y=190))
    if len(shares) > 1:
        parts.append(element("text", shares[-1][0], class_="label end", x=width - 16, y=190))
    return _svg("history", width, 196, title, description, [*lines, *parts])


def draw_outcomes(counts: Mapping[str, int], *, title: str) -> Html:
    """Return a bar of outcomes by their share, in the given order."""
    total = sum(counts.values())
    parts, start = [], 0.0
    for outcome, number in counts.items():
        width = 1000 * number / max(total, 1)
        if number:
            name = one_line(outcome)
            parts.append(
                element("rect", element("title", f"{number:,} {name}"), class_=name,
                        x=round(start, 2), y=0, width=round(width, 2), height=10)
            )  # fmt: skip
        start += width
    return _svg("bar", 1000, 10, title, "", parts, preserveAspectRatio="none")


def draw_matrix(matrix: Matrix, most: int = 1_000) -> Iterator[Html]:
    """Yield the pieces of a table of cases by columns, with what changed marked.

    Of more rows than `most` only those that changed are shown.
    """
    rows = list(islice(matrix.rows(), most + 1))
    if len(rows) > most:
        rows = list(islice((row for row in matrix.rows() if row.is_changed), most))
    left_out = sum(1 for _ in matrix.rows()) - len(rows)
    head = [element("th", name, scope="col") for name in (matrix.corner, *matrix.columns)]
    yield element("p", element("b", matrix.title), f": {matrix.summary}", class_="summary")
    region = start("div", class_="matrix", role="region", aria_label=matrix.title, tabindex=0)
    yield Html(f"{region}<table>{element('thead', element('tr', *head))}<tbody>")
    for row in rows:
        yield element(
            "tr",
            element("th", one_line(row.label), scope="row", class_="id"),
            *map(_matrix_cell, row.cells),
        )
    yield Html("</tbody></table>")
    # As many as may be shown: others that changed may be among those left out.
    kind = "rows" if len(rows) == most else "rows without a change"
    notes = [f"{left_out:,} {kind} are left out."] if left_out else []
    yield Html("</div>")
    yield join(element("p", one_line(one), class_="note") for one in (*notes, *matrix.notes))


def _matrix_cell(cell: MatrixCell) -> Html:
    if not cell.is_changed:
        return element("td", cell.text, class_=cell.style)
    mark = element("small", "changed")
    return element("td", cell.text, " ", mark, class_=f"{cell.style} changed")


def _svg(
    kind: str,
    width: float,
    height: float,
    title: str,
    description: str,
    parts: Iterable[Html],
    **attributes: Attribute,
) -> Html:
    return element(
        "svg",
        element("title", one_line(title)),
        *([element("desc", one_line(description))] if description else []),
        *parts,
        class_=f"chart {kind}",
        role="img",
        viewBox=f"0 0 {max(width, 1):g} {max(height, 1):g}",
        **attributes,
    )
