"""Two runs side by side: what a page of a comparison shows, computed once for each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.reports import Html, describe_difference, describe_flip, draw_interval
from assay.runs import CaseChange, ChangeKind, RunComparison, compare_runs
from assay.view.library import RunEntry
from assay.view.queries import PAGE
from assay.view.search_index import make_key

KINDS = {
    ChangeKind.NEWLY_FAILING: ("newly failing", "failed"),
    ChangeKind.NEWLY_ERRORED: ("newly in error", "error"),
    ChangeKind.FINDING_CHANGED: ("other finding", "unverified"),
    ChangeKind.NEWLY_PASSING: ("newly passing", "passed"),
    ChangeKind.SCORE_CHANGED: ("score changed", ""),
    ChangeKind.ADDED: ("added", ""),
    ChangeKind.REMOVED: ("removed", ""),
}
_REMEMBERED = 8


class ChangedLine(NamedTuple):
    """A changed case as the list shows it."""

    change: CaseChange
    key: str
    text: str
    """What it ended with before and after."""


class ChangePage(NamedTuple):
    """One page of the changes of a kind."""

    kind: ChangeKind | None
    lines: list[ChangedLine]
    number: int
    pages: int
    unlisted: int
    """How many more there are than a comparison lists."""


class Comparisons:
    """The last few comparisons; they take seconds for very large runs."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], RunComparison] = {}

    def compare(self, before: RunEntry, after: RunEntry) -> RunComparison:
        """Compare two runs, or return what was found when nothing has changed since."""
        name = (before.key, after.key, before.state.token, after.state.token)
        if name not in self._known:
            with before.open() as (first, _), after.open() as (second, _):
                found = compare_runs(first, second)
            while len(self._known) >= _REMEMBERED:
                self._known.pop(next(iter(self._known)))
            self._known[name] = found
        return self._known[name]


def choose_changes(found: RunComparison, kind: str, number: int) -> ChangePage:
    """Return a page of the changes of a kind; of the worst that there are if none is named."""
    present = [one for one in KINDS if found.counts[one]]
    chosen = next((one for one in present if one.value == kind), next(iter(present), None))
    if chosen is None:
        return ChangePage(None, [], 1, 1, 0)
    listed = found.changes[chosen]
    pages = max(1, -(-len(listed) // PAGE))
    number = min(number, pages)
    shown = listed[(number - 1) * PAGE : number * PAGE]
    lines = [ChangedLine(one, make_key(one.id), _describe(found, one)) for one in shown]
    return ChangePage(chosen, lines, number, pages, found.counts[chosen] - len(listed))


def list_changed(found: RunComparison) -> Iterator[ChangedLine]:
    """Yield the changes of every kind, the worst first, as far as the comparison lists them."""
    for kind in KINDS:
        for one in found.changes[kind]:
            yield ChangedLine(one, make_key(one.id), _describe(found, one))


def find_beside(keys: Sequence[str], case: str) -> tuple[str, str, int]:
    """Return the cases before and after one in a list of changes, and its number in it."""
    if case not in keys:
        return "", "", 0
    around = ["", *keys, ""]
    at = keys.index(case)
    return around[at], around[at + 2], at + 1


def _describe(found: RunComparison, change: CaseChange) -> str:
    if change.before is None or change.after is None:
        return ""
    return describe_flip(found.subject, change.before, change.after)


def draw_difference(found: RunComparison) -> Html | None:
    """Return the change of the rate with its interval, and the line of no change."""
    difference = found.difference
    if difference.value is None:
        return None
    low, high = difference.interval
    most = max(0.05, abs(low), abs(high))
    return draw_interval(
        difference.value,
        low,
        high,
        title=f"Change of the rate: {describe_difference(difference)}",
        minimum=-most,
        maximum=most,
        reference=0.0,
        reference_label="no change",
        labels=(f"−{100 * most:.0f} points", f"+{100 * most:.0f} points"),
    )
