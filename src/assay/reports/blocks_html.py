"""Writes blocks of evidence as escaped HTML, up to a limit.

There is no script and no style attribute in it, so that it can be shown under a strict content
security policy; `page_style` has the rules for its classes.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.reports.blocks import (
    Badge,
    Block,
    Cell,
    Code,
    Diff,
    Facts,
    Figure,
    Fold,
    Heading,
    Panel,
    Paragraph,
    Sides,
    Table,
    Turn,
)
from assay.reports.markup import Html, element, join
from assay.reports.text import count, one_line, shorten

_TEMPLATES = Path(__file__).parent / "templates"


class BlockLimits(NamedTuple):
    """How much is written: of one text, and of everything."""

    characters: int = 20_000
    lines: int = 400
    rows: int = 200
    total: int = 2_000_000


def page_style() -> str:
    """Return the style sheet of evidence and charts, with variables for light and dark."""
    return (_TEMPLATES / "evidence.css").read_text("utf-8")


def render_blocks(blocks: Iterable[Block], limits: BlockLimits, more: str = "") -> Html:
    """Return blocks as HTML; `more` says where to see what is left out, if anything is."""
    return _Writer(limits, more).write(blocks)


class _Writer:
    """Writes blocks until their total limit is reached, and says what is missing."""

    def __init__(self, limits: BlockLimits, more: str) -> None:
        self._limits, self._more = limits, more
        self._left = limits.total
        self._is_cut = False

    def write(self, blocks: Iterable[Block]) -> Html:
        pieces: list[Html] = []
        for block in blocks:
            if self._left <= 0:
                pieces += self._cut()
                break
            pieces.append(_WRITERS[type(block)](self, block))
        return join(pieces)

    def _cut(self) -> list[Html]:
        """Return the note of what is missing, once."""
        if self._is_cut:
            return []
        self._is_cut = True
        text = "The rest of this case is left out here."
        return [element("p", f"{text} {self._more}".rstrip(), class_="note")]

    def _take(self, text: str) -> str:
        """Return a text within the limits."""
        short = shorten(
            text, min(self._limits.characters, max(self._left, 200)), self._limits.lines
        )
        self._left -= len(short) + 50
        return short

    def _line(self, text: str) -> str:
        self._left -= 50
        return one_line(text)

    def heading(self, block: Heading) -> Html:
        note = [element("small", " ", self._line(block.note))] if block.note else []
        return element("h4", self._line(block.text), *note)

    def paragraph(self, block: Paragraph) -> Html:
        return element("p", self._take(block.text), class_=_classes("prose", block.tone))

    def code(self, block: Code) -> Html:
        body = element("pre", self._take(block.text),
                       class_=block.tone or None, tabindex=0)  # fmt: skip
        return _captioned(self._line(block.caption) if block.caption else "", body)

    def facts(self, block: Facts) -> Html:
        pairs = (
            element("div", element("dt", self._line(label)), element("dd", self._take(text)))
            for label, text in block.items
        )
        return element("dl", *pairs, class_="facts")

    def sides(self, block: Sides) -> Html:
        columns = (
            element("div", element("p", self._line(caption), class_="caption"), self.write(blocks))
            for caption, blocks in block.columns
        )
        return element("div", *columns, class_="sides")

    def diff(self, block: Diff) -> Html:
        expected, actual = self._take(block.expected), self._take(block.actual)
        lines = [
            element("tr", _side("-", before), _side("+", after))
            if before != after
            else element("tr", _side(" ", before), _side(" ", after))
            for before, after in _pair_lines(expected.split("\n"), actual.split("\n"))
        ]
        head = element(
            "thead",
            element("tr", *(element("th", one, scope="col") for one in ("expected", "actual"))),
        )
        table = element("table", head, element("tbody", *lines), class_="diff")
        return element("div", table, class_="scroll", tabindex=0)

    def table(self, block: Table) -> Html:
        rows: list[Html] = []
        left_out = 0
        for row in block.rows:
            if len(rows) >= self._limits.rows or self._left <= 0:
                left_out += 1
                continue
            rows.append(element("tr", *self._cells(row, has_label=block.has_labels)))
        head = element(
            "tr", *(element("th", self._line(one), scope="col") for one in block.columns)
        )
        caption = [element("caption", self._line(block.caption))] if block.caption else []
        table = element("table", *caption, element("thead", head), element("tbody", *rows))
        note = [element("p", f"… {count(left_out, 'more row')}", class_="note")] if left_out else []
        return join([element("div", table, class_="scroll", tabindex=0), *note])

    def _cells(self, row: Sequence[Cell | str], *, has_label: bool) -> Iterator[Html]:
        for place, one in enumerate(row):
            cell = Cell(one) if isinstance(one, str) else one
            text = self._take(cell.text)
            if has_label and place == 0:
                yield element("th", text, scope="row")
            else:
                yield element("td", text, class_=_classes(cell.tone, cell.is_changed and "changed"))

    def figure(self, block: Figure) -> Html:
        self._left -= len(block.chart)
        return _captioned(self._line(block.caption) if block.caption else "", block.chart)

    def panel(self, block: Panel) -> Html:
        title = element("h4", self._line(block.title), *self._badges(block.badges, block.note))
        return element("div", title, self.write(block.blocks), class_=_classes("panel", block.tone))

    def fold(self, block: Fold) -> Html:
        title = element("span", self._line(block.title), class_="title")
        summary = element("summary", title, *self._badges(block.badges, block.note))
        return element("details", summary, self.write(block.blocks),
                       class_=_classes("fold", block.tone), open=block.is_open)  # fmt: skip

    def _badges(self, badges: Sequence[Badge], note: str) -> Iterator[Html]:
        for badge in badges:
            yield Html(" ")
            yield element("span", self._line(badge.text), class_=_classes("badge", badge.tone))
        if note:
            yield Html(" ")
            yield element("small", self._line(note), class_="note")

    def turn(self, block: Turn) -> Html:
        note = (
            [Html(" "), element("small", self._line(block.note), class_="note")]
            if block.note
            else []
        )
        head = element("p", element("b", self._line(block.speaker)), *note, class_="speaker")
        said = element("div", head, self.write(block.blocks), class_="said")
        beside = [element("div", self.write(block.beside), class_="beside")] if block.beside else []
        return element("div", said, *beside, class_=_classes("turn", block.side))


_WRITERS: dict[type, Callable[[_Writer, Any], Html]] = {
    Heading: _Writer.heading,
    Paragraph: _Writer.paragraph,
    Code: _Writer.code,
    Facts: _Writer.facts,
    Sides: _Writer.sides,
    Diff: _Writer.diff,
    Table: _Writer.table,
    Figure: _Writer.figure,
    Panel: _Writer.panel,
    Fold: _Writer.fold,
    Turn: _Writer.turn,
}


def _classes(*names: object) -> str | None:
    return " ".join(str(one) for one in names if one) or None


def _captioned(caption: str, body: Html) -> Html:
    if not caption:
        return body
    return element("figure", element("figcaption", caption), body)


def _pair_lines(expected: list[str], actual: list[str]) -> Iterator[tuple[str | None, str | None]]:
    matcher = difflib.SequenceMatcher(None, expected, actual, autojunk=False)
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        before, after = expected[i1:i2], actual[j1:j2]
        for place in range(max(len(before), len(after))):
            yield (
                before[place] if place < len(before) else None,
                after[place] if place < len(after) else None,
            )


def _side(sign: str, line: str | None) -> Html:
    if line is None:
        return element("td", class_="absent")
    kind = {"-": "removed", "+": "added"}.get(sign)
    return element("td", line, class_=kind)
