"""Writes blocks of evidence as escaped HTML, up to a limit.

There is no script and no style attribute in it, so that it can be shown under a strict content
security policy; `page_style` has the rules for its classes.
"""

from __future__ import annotations

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
from assay.reports.highlight import render_code, render_inline, render_prose
from assay.reports.markup import Html, element, join
from assay.reports.side_by_side import Gap, Line, LinePair, align_texts
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
        return element("h4", self._title(block.text), *note)

    def paragraph(self, block: Paragraph) -> Html:
        text = self._take(block.text)
        body = element("p", text) if block.is_verbatim else render_prose(text)
        return element("div", body, class_=_classes("prose", block.tone))

    def code(self, block: Code) -> Html:
        code = render_code(self._take(block.text), block.language)
        body = element("pre", code, class_=block.tone or None, tabindex=0)
        return _add_caption(self._line(block.caption) if block.caption else "", body)

    def facts(self, block: Facts) -> Html:
        pairs = (
            element("div", element("dt", self._line(label)), element("dd", self._line(text)))
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
        rows: list[Html] = []
        for row in align_texts(block.expected, block.actual):
            if len(rows) >= self._limits.lines or self._left <= 0:
                rows.append(_gap("more lines are left out"))
                break
            if isinstance(row, Gap):
                rows.append(_gap(count(row.lines, "equal line")))
            else:
                rows.append(
                    element(
                        "tr",
                        *self._side(row.expected, row),
                        *self._side(row.actual, row, is_actual=True),
                    )
                )
        head = (element("th", one, scope="colgroup", colspan=2) for one in ("expected", "actual"))
        columns = (element("col", class_=one) for one in ("number", None, "number", None))
        table = element(
            "table",
            element("colgroup", *columns),
            element("thead", element("tr", *head)),
            element("tbody", *rows),
            class_="diff",
        )
        return element("div", table, class_="scroll", tabindex=0)

    def _side(self, line: Line | None, row: LinePair, *, is_actual: bool = False) -> Iterator[Html]:
        """Yield the number and the text of a line; what differs is marked as removed or added."""
        if line is None:
            yield element("td", class_="number absent")
            yield element("td", class_="absent")
            return
        kind = None if row.is_equal else "added" if is_actual else "removed"
        sign = "" if row.is_equal else "+" if is_actual else "\u2212"
        start, changed, end = _clip(line)
        self._left -= len(start) + len(changed) + len(end) + 60
        mark = element("ins" if is_actual else "del", changed) if changed and kind else changed
        yield element("td", f"{line.number}{sign}", class_=_classes("number", kind))
        yield element("td", start, mark, end, class_=kind)

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
            if cell.chart is not None:
                text = element("div", cell.chart, element("span", text), class_="charted")
            if has_label and place == 0:
                yield element("th", text, scope="row")
                continue
            marks = (cell.is_changed and "changed", cell.is_number and "number")
            yield element("td", text, class_=_classes(cell.tone, *marks))

    def figure(self, block: Figure) -> Html:
        self._left -= len(block.chart)
        return _add_caption(self._line(block.caption) if block.caption else "", block.chart)

    def panel(self, block: Panel) -> Html:
        badges = [*self._badges(block.badges, block.note)]
        has_title = block.title or badges
        title = [element("h4", self._title(block.title), *badges)] if has_title else []
        return element(
            "div", *title, self.write(block.blocks), class_=_classes("panel", block.tone)
        )

    def fold(self, block: Fold) -> Html:
        title = element("span", self._title(block.title), class_="title")
        summary = element("summary", title, *self._badges(block.badges, block.note))
        body = element("div", self.write(block.blocks), class_="body")
        return element(
            "details", summary, body, class_=_classes("fold", block.tone), open=block.is_open
        )

    def _title(self, text: str) -> Html:
        return render_inline(self._line(text))

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


def _add_caption(caption: str, body: Html) -> Html:
    if not caption:
        return body
    return element("figure", element("figcaption", caption), body)


_LINE_END = 120
_LINE_MIDDLE = 600


def _clip(line: Line) -> tuple[str, str, str]:
    """Return the parts of a line, short, with the end of the line shown if that is what differs."""
    start, missing = line.start.removesuffix("\n"), len(line.start) - _LINE_END
    if missing > _LINE_END:
        start = f"[{count(missing, 'more character')}] … {start[-_LINE_END:]}"
    changed = line.changed.removesuffix("\n")
    is_part = bool(line.start or line.end) or line.changed == "\n"
    if is_part and line.changed.endswith("\n"):
        changed += "↵"
    end = shorten(line.end.removesuffix("\n"), _LINE_END, None)
    return start, shorten(changed, _LINE_MIDDLE, None), end


def _gap(text: str) -> Html:
    return element("tr", element("td", f"\u2026 {text}", colspan=4), class_="gap")
