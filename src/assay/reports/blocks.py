"""The evidence of a case as plain blocks, which a subject makes and any format can show.

Text in blocks is as it was recorded. Whoever shows a block makes hidden characters visible,
escapes the text for the format and limits its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.reports.markup import Html

# The colour of a block: an outcome, quiet, or the accent of the page.
Tone: TypeAlias = Literal["", "passed", "failed", "error", "unverified", "quiet", "accent"]


@dataclass(frozen=True)
class Badge:
    """A word that stands out: a state, an outcome."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Heading:
    """The title of the blocks that follow."""

    text: str
    note: str = ""


@dataclass(frozen=True)
class Paragraph:
    """Prose; newlines are kept. Code in backticks is shown as code, unless it is verbatim."""

    text: str
    tone: Tone = ""
    is_verbatim: bool = False


@dataclass(frozen=True)
class Code:
    """Text whose white space matters: code in a language, output, a value."""

    text: str
    language: str = ""
    caption: str = ""
    tone: Tone = ""


@dataclass(frozen=True)
class Facts:
    """Short values, each with its label."""

    items: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Sides:
    """Blocks beside each other, each column with its caption; stacked on a narrow page."""

    columns: Sequence[tuple[str, Sequence[Block]]]


@dataclass(frozen=True)
class Diff:
    """Two texts beside each other, with what differs coloured."""

    expected: str
    actual: str
    language: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell of a table: a text, with a small chart before it if there is one."""

    text: str
    tone: Tone = ""
    is_changed: bool = False
    is_number: bool = False
    chart: Html | None = None


@dataclass(frozen=True)
class Table:
    """Rows of cells; with `has_labels` the first cell of each row is its heading."""

    columns: Sequence[str]
    rows: Iterable[Sequence[Cell | str]]
    caption: str = ""
    has_labels: bool = False


@dataclass(frozen=True)
class Figure:
    """A chart of `assay.reports.charts`."""

    chart: Html
    caption: str = ""


@dataclass(frozen=True)
class Panel:
    """Blocks under a title, with a coloured edge."""

    title: str
    blocks: Iterable[Block]
    tone: Tone = ""
    badges: Sequence[Badge] = ()
    note: str = ""


@dataclass(frozen=True)
class Fold:
    """Blocks that are shown when their title is opened."""

    title: str
    blocks: Iterable[Block]
    tone: Tone = ""
    badges: Sequence[Badge] = ()
    note: str = ""
    is_open: bool = False


@dataclass(frozen=True)
class Turn:
    """What one side of a conversation says, with what was found out about it beside it."""

    speaker: str
    side: Literal["user", "agent", "other"]
    blocks: Sequence[Block]
    beside: Sequence[Block] = ()
    note: str = ""


Block: TypeAlias = (
    Heading | Paragraph | Code | Facts | Sides | Diff | Table | Figure | Panel | Fold | Turn
)
