"""The history of a title: the rates of its runs, and the cases that did not always end alike."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple

from assay.model import Share
from assay.reports import Html, draw_history
from assay.view.library import RunEntry
from assay.view.queries import CaseLine, find_case
from assay.view.search_index import SearchIndex

RUNS = 12
"""The newest runs whose cases are compared."""
CHANGED = 50
"""Cases that are listed."""
# About half a second of reading: of very large runs only the newest are compared.
_COMPARED_CASES = 300_000


class ChangedCase(NamedTuple):
    """A case that ended differently, and its line in each run; None where it is missing."""

    id: str
    key: str
    lines: list[CaseLine | None]


class History(NamedTuple):
    """What changed in the newest runs of a title, the oldest of them first."""

    runs: list[RunEntry]
    cases: list[ChangedCase]
    is_complete: bool
    """False if more cases changed than are listed."""


def read_history(runs: Sequence[RunEntry]) -> History:
    """Find the cases that ended differently in two consecutive runs, those of the newest first."""
    chosen = _choose_runs(runs)
    with ExitStack() as opened:
        indexes = [opened.enter_context(one.open())[1] for one in chosen]
        keys: dict[str, None] = {}
        for at in range(len(indexes) - 1, 0, -1):
            before = chosen[at - 1]
            keys |= dict.fromkeys(_find_changed(indexes[at], before, CHANGED + 1 - len(keys)))
            if len(keys) > CHANGED:
                break
        listed = [_read_case(indexes, key) for key in list(keys)[:CHANGED]]
    return History(chosen, listed, len(keys) <= CHANGED)


def _choose_runs(runs: Sequence[RunEntry]) -> list[RunEntry]:
    """Return as many of the newest runs as can be compared in a moment."""
    chosen: list[RunEntry] = []
    cases = 0
    for entry in reversed(runs[-RUNS:]):
        cases += entry.state.progress.cases
        if len(chosen) >= 2 and cases > _COMPARED_CASES:
            break
        chosen.append(entry)
    return chosen[::-1]


def _find_changed(index: SearchIndex, before: RunEntry, most: int) -> list[str]:
    database = index.database
    database.execute("ATTACH DATABASE ? AS earlier", (before.database.absolute().as_uri(),))
    try:
        found = database.execute(
            "SELECT later.key FROM main.cases AS later JOIN earlier.cases AS old USING (id) "
            "WHERE later.outcome <> old.outcome ORDER BY later.place LIMIT ?",
            (most,),
        ).fetchall()
    finally:
        database.execute("DETACH DATABASE earlier")
    return [key for (key,) in found]


def _read_case(indexes: Sequence[SearchIndex], key: str) -> ChangedCase:
    lines = [find_case(index, key) for index in indexes]
    known = next(line for line in lines if line is not None)
    return ChangedCase(known.row.id, key, lines)


def list_rates(runs: Sequence[RunEntry]) -> tuple[str, list[Share]]:
    """Return what the rates of a title count, and the rate of each run.

    Samples say more than the few tests that they belong to, if every run took all of them.
    """
    samples = [run.state.sample_rate for run in runs]
    if all(share is not None for share in samples):
        return "samples", [share for share in samples if share is not None]
    return "cases", [run.state.judged for run in runs]


def draw_rates(runs: Sequence[RunEntry], rates: Sequence[Share]) -> Html:
    """Return the chart of the rates of runs over time."""
    shares = []
    for entry, share in zip(runs, rates, strict=True):
        manifest = entry.state.manifest
        assert manifest is not None
        name = manifest.started.astimezone().strftime("%-d %b %Y, %H:%M")
        shares.append((name, share.value, *share.interval))
    last = shares[-1]
    now = "no cases" if last[1] is None else f"{last[1]:.1%}"
    return draw_history(shares, title=f"Rate of {len(shares):,} runs over time, now {now}")
