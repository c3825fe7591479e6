"""The viewer's pages as files, for a web server or an artifact of CI: bounded, complete in itself.

A page of a run has all the cases of the bundle at once, and a script filters them where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from assay.documents import replace_file
from assay.errors import InfrastructureError, InputError
from assay.reports import count
from assay.runs import RunComparison
from assay.view.comparison import KINDS, ChangePage, list_changed
from assay.view.library import RunEntry, RunLibrary
from assay.view.links import link_from
from assay.view.pages import ASSETS, Pages, read_asset
from assay.view.queries import CaseFilter, CaseLine, Neighbours, Page, select_worst
from assay.view.search_index import SearchIndex

RUNS = 50
"""The newest runs of a folder that are written."""
CASES = 1_000
"""The cases of each run that are written: what did not pass first, then the others, in order."""
COMPARED = 200
"""The changed cases of a comparison that are written side by side."""
TEXT = 600
"""Characters of each case that can be searched in a bundle."""


class Searched(NamedTuple):
    """What the script of a bundle searches and filters a case by."""

    labels: str
    text: str


class BundlePages(Pages):
    """Pages about the runs and cases that are in a bundle, and no others."""

    def __init__(self, library: RunLibrary, chosen: Mapping[str, list[CaseLine]]) -> None:
        super().__init__(library)
        self._chosen = chosen
        self._cases = {run: {case.key for case in cases} for run, cases in chosen.items()}
        self._compared: dict[tuple[str, str], list[str]] = {}

    def list_entries(self) -> list[RunEntry]:
        return [
            one for one in super().list_entries() if one.key in self._chosen or one.state.problem
        ]

    def choose_page(
        self, entry: RunEntry, index: SearchIndex, wanted: CaseFilter, number: int
    ) -> Page:
        cases = self._chosen[entry.key]
        return Page(cases, 1, entry.state.progress.cases, True, False)

    def find_beside(
        self, entry: RunEntry, index: SearchIndex, wanted: CaseFilter, case: CaseLine
    ) -> Neighbours:
        around = [None, *self._chosen[entry.key], None]
        at = next(at for at, one in enumerate(around) if one is not None and one.key == case.key)
        return Neighbours(around[at - 1], around[at + 1], at, len(around) - 2)

    def choose_changes(self, found: RunComparison, query: Mapping[str, str]) -> ChangePage:
        lines = list(list_changed(found))[:COMPARED]
        unlisted = sum(found.counts[kind] for kind in KINDS) - len(lines)
        return ChangePage(None, lines, 1, 1, unlisted)

    def has_compared(self, before: str, after: str, case: str) -> bool:
        return case in self.list_compared(before, after)

    def list_compared(self, before: str, after: str) -> list[str]:
        """Return the cases of a comparison that have pages."""
        pair = before, after
        if pair not in self._compared:
            found = self.find_comparison(before, after)
            self._compared[pair] = [line.key for line in self.choose_changes(found, {}).lines]
        return self._compared[pair]

    def has_page(self, run: str, case: str) -> bool:
        return case in self._cases.get(run, ())

    def describe_static(self, entry: RunEntry, index: SearchIndex) -> dict[str, Any]:
        cases = self._chosen[entry.key]
        return {
            "static": {case.key: _read_searched(index, case) for case in cases},
            "left_out": entry.state.progress.cases - len(cases),
            "searched": TEXT,
        }


def _read_searched(index: SearchIndex, case: CaseLine) -> Searched:
    offset = case.row.span.offset
    labels = index.database.execute(
        "SELECT label FROM labels WHERE offset = ? ORDER BY label", (offset,)
    )
    (text,) = index.database.execute(
        "SELECT substr(text, 1, ?) FROM texts WHERE rowid = ?", (TEXT, offset)
    ).fetchone() or ("",)
    return Searched("\n".join(label for (label,) in labels), " ".join(text.split()))


class Bundle(NamedTuple):
    """What was written."""

    page: Path
    """The first page."""
    runs: int
    files: int
    left_out: int
    """Runs that are older than those that were written."""
    unreadable: int

    def __str__(self) -> str:
        more = f"; {count(self.left_out, 'older run')} left out" if self.left_out else ""
        if self.unreadable:
            more += f"; {count(self.unreadable, 'folder')} could not be read"
        return f"{count(self.runs, 'run')} in {count(self.files, 'file')}{more}: {self.page}"


def write_bundle(folder: Path, out: Path) -> Bundle:
    """Write the runs of a folder as pages into another folder."""
    _check_place(out)
    with closing(RunLibrary(folder)) as library:
        library.finish(texts_of=lambda entry: True)
        entries = library.entries()
        shown = sorted((one for one in entries if not one.state.problem), key=_started)[::-1]
        chosen = {one.key: _choose_cases(one) for one in shown[:RUNS]}
        pages = BundlePages(library, chosen)
        files = 0
        try:
            for name, text in _render_all(pages, chosen):
                path = out / name
                path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(path, [text.encode("utf-8", "backslashreplace")])
                files += 1
        except OSError as error:
            raise InfrastructureError(
                f"the pages could not be written: {error.strerror}", where=str(out)
            ) from None
    left_out, unreadable = len(shown) - len(chosen), len(entries) - len(shown)
    return Bundle(out / "index.html", len(chosen), files, left_out, unreadable)


def _check_place(out: Path) -> None:
    """Refuse a folder with other things in it: files of a bundle replace what is there."""
    if out.is_dir() and any(out.iterdir()) and not (out / "assets" / "view.css").is_file():
        raise InputError(
            "is not empty and holds no bundle", where=str(out), advice="name a new folder"
        )
    if out.exists() and not out.is_dir():
        raise InputError("is not a folder", where=str(out), advice="name a new folder")


def _started(entry: RunEntry) -> Any:
    assert entry.state.manifest is not None
    return entry.state.manifest.started


def _choose_cases(entry: RunEntry) -> list[CaseLine]:
    with entry.open() as (_, index):
        return select_worst(index, CASES)


def _render_all(
    pages: BundlePages, chosen: Mapping[str, list[CaseLine]]
) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file."""
    for name in ASSETS:
        yield f"assets/{name}", read_asset(name)
    yield "index.html", pages.list_runs(link_from(0), {})
    for run, cases in chosen.items():
        yield f"runs/{run}.html", pages.show_run(link_from(1), run, {})
        for case in cases:
            yield f"runs/{run}/{case.key}.html", pages.show_case(link_from(2), run, case.key, {})
    yield from _render_titles(pages)


def _render_titles(pages: BundlePages) -> Iterator[tuple[str, str]]:
    """Yield the history of each title, and the comparisons of its runs with those before."""
    for title in {one.title_key for one in pages.list_entries() if not one.state.problem}:
        yield f"titles/{title}.html", pages.show_title(link_from(1), title)
        runs = pages.list_title(title)
        for before, after in pairwise(runs):
            yield from _render_comparison(pages, before.key, after.key)


def _render_comparison(pages: BundlePages, before: str, after: str) -> Iterator[tuple[str, str]]:
    name = f"compare/{before}/{after}"
    yield f"{name}.html", pages.compare(link_from(2), before, after, {})
    for case in pages.list_compared(before, after):
        yield f"{name}/{case}.html", pages.compare_case(link_from(3), before, after, case)
