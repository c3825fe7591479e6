"""A matrix that the runs of a subject have besides their cases, for every report that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.reports.subjects import find_function

if TYPE_CHECKING:
    from assay.runs import Run


@dataclass(frozen=True)
class MatrixCell:
    """One cell: its text, the style that colours it, and whether it differs from the one before."""

    text: str
    style: str
    is_changed: bool = False


@dataclass(frozen=True)
class MatrixRow:
    """The cells of one case."""

    label: str
    cells: tuple[MatrixCell, ...]

    @property
    def is_changed(self) -> bool:
        return any(one.is_changed for one in self.cells)


@dataclass(frozen=True)
class Matrix:
    """Cases by columns; the rows are read anew for every use, so that none is kept."""

    title: str
    corner: str
    columns: tuple[str, ...]
    rows: Callable[[], Iterator[MatrixRow]]
    summary: str
    notes: tuple[str, ...] = ()


def find_matrix(run: Run) -> Matrix | None:
    """Return the matrix of a run, if its subject has one and it has a column."""
    if (make := find_function("matrix", run)) is None:
        return None
    matrix: Matrix = make(run)
    return matrix if matrix.columns else None
