"""The viewer's pages as HTML: the same for its server and for the files of a bundle.

The templates escape everything, and every text has its hidden characters made visible before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay._version import __version__
from assay.errors import InputError
from assay.escaping import escape_hidden
from assay.model import Outcome, Share
from assay.reports import (
    Html,
    Summary,
    count,
    describe_chance,
    describe_change,
    describe_difference,
    describe_verdict,
    draw_outcomes,
    draw_sparkline,
    list_notes,
    one_line,
    page_style,
    percent,
    render_evidence,
    seconds,
)
from assay.runs import Run, RunComparison
from assay.view.comparison import (
    KINDS,
    ChangePage,
    Comparisons,
    choose_changes,
    draw_difference,
    find_beside,
    list_changed,
)
from assay.view.history import draw_rates, list_rates, read_history
from assay.view.library import RunEntry, RunLibrary
from assay.view.links import Links
from assay.view.queries import (
    ORDERS,
    CaseFilter,
    CaseLine,
    Neighbours,
    Page,
    find_case,
    find_neighbours,
    find_page,
)
from assay.view.search_index import SearchIndex

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
RUNS_PER_PAGE = 100
ASSETS = {"view.css": "text/css", "view.js": "text/javascript"}
# A page that is opened from a file has no origin, so `self` alone would not be enough everywhere.
BUNDLE_POLICY = (
    "default-src 'none'; script-src 'self' file:; style-src 'self' file:; "
    "form-action 'self'; base-uri 'none'"
)
_TREND = 20
_OTHER_RUNS = 30
_OUTCOMES = (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.UNVERIFIED)
_VERDICTS = {0: "passed", 1: "failed", 2: "error", 3: "error"}
# What one case of a subject is called.
_NOUNS = {"questions": "question", "drift": "question", "calibration": "mutant", "agents": "test"}


class NotFoundError(Exception):
    """There is no such page."""


class RunLine(NamedTuple):
    """A run as lists show it."""

    entry: RunEntry
    trend: list[float | None]
    """The rates of the runs of this title up to this one, oldest first."""


def render_message(links: Links, title: str, text: str) -> str:
    """Return a page that says one thing."""
    return _render("message.html", links, title=title, text=text, token="", events="")


def read_asset(name: str) -> str:
    """Return a style sheet or a script of the pages."""
    text = (FOLDER / "assets" / name).read_text("utf-8")
    return page_style() + text if name == "view.css" else text


class Pages:
    """Renders pages about the runs of a library."""

    def __init__(self, library: RunLibrary) -> None:
        self._library = library
        self._comparisons = Comparisons()

    def list_runs(self, links: Links, query: Mapping[str, str]) -> str:
        """Return the list of runs: the newest first, and what cannot be shown by its name."""
        entries = self.list_entries()
        search, subject = query.get("q", "").strip()[:200], query.get("subject", "")
        lines = [
            line
            for line in list_lines(entries)
            if (not subject or _subject(line.entry) == subject) and _has_words(line.entry, search)
        ]
        number = _read_number(query, "page", -(-len(lines) // RUNS_PER_PAGE))
        most = len(lines) if links.is_static else RUNS_PER_PAGE
        return _render(
            "runs.html",
            links,
            lines=lines[(number - 1) * RUNS_PER_PAGE :][:most],
            total=len(lines),
            number=number,
            pages=1 if links.is_static else max(1, -(-len(lines) // RUNS_PER_PAGE)),
            search=search,
            subject=subject,
            subjects=sorted({_subject(one) for one in entries if one.state.manifest is not None}),
            unreadable=[one for one in entries if one.state.problem],
            folder=str(self._library.folder),
            token=self.token(None),
            events="events/runs",
        )

    def token(self, key: str | None) -> str:
        """Return a text that differs whenever the page of a run would, or the list of all."""
        if key is not None:
            return self._find(key).state.token
        return _digest(f"{one.key} {one.state.token}" for one in self.list_entries())

    def list_entries(self) -> list[RunEntry]:
        """Return the folders that pages may name."""
        return self._library.entries()

    def choose_page(
        self, entry: RunEntry, index: SearchIndex, wanted: CaseFilter, number: int
    ) -> Page:
        """Return the cases that the page of a run shows."""
        return find_page(index, wanted, number)

    def find_beside(
        self, entry: RunEntry, index: SearchIndex, wanted: CaseFilter, case: CaseLine
    ) -> Neighbours:
        """Return the cases before and after one."""
        return find_neighbours(index, wanted, case)

    def has_page(self, run: str, case: str) -> bool:
        """Return whether a case of a run has a page of its own."""
        return True

    def describe_static(self, entry: RunEntry, index: SearchIndex) -> dict[str, Any]:
        """Return what only the pages of a bundle need."""
        return {"static": {}, "left_out": 0, "searched": 0}

    def show_run(self, links: Links, key: str, query: Mapping[str, str]) -> str:
        """Return a run: its totals, and the cases that match a filter."""
        wanted = CaseFilter.of(query)
        entry = self._find_whole(key)
        if not entry.database.exists():
            return self._ask_for_patience(links, entry)
        with entry.open() as (run, index):
            page = self.choose_page(entry, index, wanted, _read_number(query, "page"))
            return _render(
                "run.html",
                links,
                **self._describe_run(entry, run, index),
                **self.describe_static(entry, index),
                wanted=wanted,
                page=page,
                orders=ORDERS,
                whole=entry.state.whole,
                token=entry.state.token,
                events=f"events/runs/{key}",
            )

    def show_case(self, links: Links, key: str, case: str, query: Mapping[str, str]) -> str:
        """Return one case with all its evidence, and what stands beside it in the list."""
        wanted = CaseFilter.of(query)
        entry = self._find_whole(key)
        if not entry.database.exists():
            return self._ask_for_patience(links, entry)
        with entry.open() as (run, index):
            line = find_case(index, case)
            if line is None:
                raise NotFoundError(f"This run has no such case{_so_far(entry)}.")
            return _render(
                "case.html",
                links,
                entry=entry,
                manifest=run.manifest,
                line=line,
                wanted=wanted,
                beside=self.find_beside(entry, index, wanted, line),
                evidence=Html(render_evidence(run, line.row)),
                others=list(self._find_in_other_runs(entry, case)),
                has_page=self.has_page,
                token=entry.state.token,
                events="",
            )

    def _find(self, key: str) -> RunEntry:
        entry = self._library.get(key)
        if entry is None:
            raise NotFoundError("There is no such run in the folder.")
        return entry

    def _find_whole(self, key: str) -> RunEntry:
        """Return a run, which may be still being read; raise InputError if it cannot be shown."""
        entry = self._find(key)
        if entry.state.problem:
            raise InputError(entry.state.problem, where=entry.name)
        return entry

    def _ask_for_patience(self, links: Links, entry: RunEntry) -> str:
        """Return the page of a run of which nothing has been read."""
        events = f"events/runs/{entry.key}"
        return _render("reading.html", links, entry=entry, token="", events=events)

    def _describe_run(self, entry: RunEntry, run: Run, index: SearchIndex) -> dict[str, Any]:
        summary = entry.summarize(run)
        same_title = self.list_title(entry.title_key)
        before = [one for one in same_title if _started(one) < _started(entry)]
        return {
            "entry": entry,
            "manifest": run.manifest,
            "summary": summary,
            "headline": make_headline(summary),
            "noun": _NOUNS.get(summary.subject, "case"),
            "remarks": list_remarks(summary),
            "share": Share(summary.counts[Outcome.PASSED], summary.total),
            "verdict": "live" if entry.state.is_live else _VERDICTS[summary.exit_code],
            "bar": draw_bar(summary.counts, summary.verdict_line()),
            "facets": entry.read_facets(index),
            "previous": before[-1] if before else None,
            "runs_of_title": len(same_title),
        }

    def show_title(self, links: Links, title: str) -> str:
        """Return the history of a title: its rates over time, and the cases that changed."""
        runs = self.list_title(title)
        if not runs:
            raise NotFoundError("There is no run of this title in the folder.")
        noun, rates = list_rates(runs)
        return _render(
            "title.html",
            links,
            runs=runs,
            manifest=runs[-1].state.manifest,
            noun=noun,
            rates=rates,
            chart=draw_rates(runs, rates),
            history=read_history(runs),
            has_page=self.has_page,
            token=self.token(None),
            events="events/runs",
        )

    def order_comparison(self, links: Links, chosen: Sequence[str]) -> str:
        """Return the address of the comparison of two runs, the earlier one first."""
        if len(chosen) != 2:
            raise InputError("select two runs to compare them")
        before, after = sorted(map(self._find_shown, chosen), key=_started)
        return links.comparison(before.key, after.key)

    def compare(self, links: Links, before: str, after: str, query: Mapping[str, str]) -> str:
        """Return two runs side by side, with the cases that changed."""
        runs = [self._find_shown(before), self._find_shown(after)]
        found = self.find_comparison(before, after)
        page = self.choose_changes(found, query)
        return _render(
            "compare.html",
            links,
            runs=runs,
            found=found,
            page=page,
            kinds=KINDS,
            verdict=describe_verdict(found),
            verdict_class={0: "passed", 1: "failed"}.get(found.exit_code(), "error"),
            change=describe_change(found) if sum(found.table) else "",
            chart=draw_difference(found),
            notes=list(list_notes(found)),
            has_compared=self.has_compared,
            token=_digest(one.state.token for one in runs),
            events="",
        )

    def find_comparison(self, before: str, after: str) -> RunComparison:
        """Compare two runs by their keys."""
        return self._comparisons.compare(self._find_shown(before), self._find_shown(after))

    def list_compared(self, before: str, after: str) -> list[str]:
        """Return the changed cases of a comparison in order, by their keys."""
        return [line.key for line in list_changed(self.find_comparison(before, after))]

    def choose_changes(self, found: RunComparison, query: Mapping[str, str]) -> ChangePage:
        """Return the changed cases that a comparison's page shows."""
        return choose_changes(found, query.get("kind", ""), _read_number(query, "page"))

    def has_compared(self, before: str, after: str, case: str) -> bool:
        """Return whether a case has a page that shows it in both runs."""
        return True

    def compare_case(self, links: Links, before: str, after: str, case: str) -> str:
        """Return the evidence of one case in two runs, side by side."""
        runs = [self._find_shown(before), self._find_shown(after)]
        sides: list[tuple[RunEntry, CaseLine | None, Html]] = []
        for entry in runs:
            with entry.open() as (run, index):
                line = find_case(index, case)
                shown = "" if line is None else render_evidence(run, line.row)
                sides.append((entry, line, Html(shown)))
        known = [line for _, line, _ in sides if line is not None]
        if not known:
            raise NotFoundError("Neither run has such a case.")
        return _render(
            "compare_case.html",
            links,
            runs=runs,
            sides=sides,
            name=known[0].row.id,
            case=case,
            beside=find_beside(self.list_compared(before, after), case),
            has_page=self.has_page,
            token="",
            events="",
        )

    def _find_shown(self, key: str) -> RunEntry:
        entry = self._find_whole(key)
        if not entry.database.exists():
            raise InputError("is still being read", where=entry.name)
        return entry

    def list_title(self, title: str) -> list[RunEntry]:
        """Return the runs of a title that can be shown, the oldest first."""
        several = [one for one in self.list_entries() if one.title_key == title]
        return sorted(filter(_can_be_shown, several), key=_started)

    def _find_in_other_runs(
        self, entry: RunEntry, case: str
    ) -> Iterable[tuple[RunEntry, CaseLine | None]]:
        """Yield how the same case ended in the other runs of the title, the oldest first."""
        for other in self.list_title(entry.title_key)[-_OTHER_RUNS:]:
            with other.open() as (_, index):
                yield other, find_case(index, case)


def list_lines(entries: Iterable[RunEntry]) -> list[RunLine]:
    """Return the runs that can be shown, the newest first, each with the trend of its title."""
    titles: dict[str, list[RunEntry]] = {}
    lines = []
    for entry in sorted(filter(_can_be_shown, entries), key=_started):
        runs = titles.setdefault(entry.title_key, [])
        runs.append(entry)
        _, rates = list_rates(runs[-_TREND:])
        lines.append(RunLine(entry, [share.value for share in rates]))
    return lines[::-1]


def make_headline(summary: Summary) -> str:
    """Return the result in words that say what is counted."""
    noun = _NOUNS.get(summary.subject, "case")
    if not summary.total:
        return f"no {noun}s"
    return f"{summary.counts[Outcome.PASSED]:,} of {count(summary.total, noun)} passed"


def list_remarks(summary: Summary) -> list[str]:
    """Return what else decides about a run, each in a few words."""
    remarks = []
    if summary.known:
        remarks.append(f"{summary.known:,} accepted by the baseline")
    if summary.outdated:
        remarks.append(f"{len(summary.outdated):,} no longer needed in the baseline")
    if summary.mistakes:
        remarks.append(f"{summary.mistakes:,} of the errors are mistakes in the cases")
    if summary.wrong_inputs:
        remarks.append(f"{summary.wrong_inputs:,} errors because of wrong input")
    if summary.gate is not None:
        met = "met" if summary.gate.is_met else "not met"
        remarks.append(f"{summary.gate.name} is {met}: {summary.gate.reason}")
    return remarks


def draw_bar(counts: Mapping[Outcome, int], title: str) -> Html:
    """Return the bar of outcomes."""
    return draw_outcomes({one.value: counts.get(one, 0) for one in _OUTCOMES}, title=title)


def _can_be_shown(entry: RunEntry) -> bool:
    state = entry.state
    return not state.problem and state.manifest is not None and entry.database.exists()


def _started(entry: RunEntry) -> datetime:
    assert entry.state.manifest is not None
    return entry.state.manifest.started


def _subject(entry: RunEntry) -> str:
    return "" if entry.state.manifest is None else entry.state.manifest.subject


def _has_words(entry: RunEntry, search: str) -> bool:
    manifest = entry.state.manifest
    text = f"{entry.name} {'' if manifest is None else manifest.title}".casefold()
    return all(word in text for word in search.casefold().split())


def _so_far(entry: RunEntry) -> str:
    return "" if entry.state.is_current else "; it is still being read"


def _read_number(query: Mapping[str, str], name: str, most: int = 10**6) -> int:
    text = query.get(name, "1")
    if not (text.isascii() and text.isdigit() and len(text) <= 7):
        raise InputError(f"`{name}` is not a number")
    return min(max(1, int(text)), max(1, most))


def _digest(texts: Iterable[str]) -> str:
    from hashlib import blake2b

    digest = blake2b(digest_size=8)
    for text in texts:
        digest.update(text.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _render(template: str, links: Links, **context: Any) -> str:
    return _environment().get_template(template).render(links=links, **context)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_make_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "interval": lambda share: f"{share.interval.low:.1%} to {share.interval.high:.1%}",
        "line": one_line,
        "number": lambda number: f"{number:,}",
        "percent": percent,
        "seconds": seconds,
        "moment": lambda moment: moment.astimezone().strftime("%-d %b %Y, %H:%M"),
        "day": lambda moment: moment.astimezone().strftime("%-d %b"),
        "clock": lambda moment: moment.astimezone().strftime("%H:%M"),
        "capitalize_first": lambda text: text[:1].upper() + text[1:],
        "chance": describe_chance,
        "points": describe_difference,
        "spark": _draw_trend,
    }
    environment.globals |= {
        "version": __version__,
        "signs": _SIGNS,
        "verdicts": _VERDICTS,
        "draw_bar": draw_bar,
        "bundle_policy": BUNDLE_POLICY,
    }
    return environment


# An outcome is told by a sign too, not by its colour alone.
_SIGNS = {"passed": "✓", "failed": "✕", "error": "!", "unverified": "?"}


def _make_visible(value: Any) -> Any:
    """Escape hidden characters of every text that a template writes; HTML has it done already."""
    return escape_hidden(value) if type(value) is str else value


def _draw_trend(rates: list[float | None]) -> Html:
    last = rates[-1]
    now = "no cases" if last is None else f"now {percent(last)}"
    return draw_sparkline(rates, title=f"Rate of the last {count(len(rates), 'run')}, {now}")
