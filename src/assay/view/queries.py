"""Which cases of a run a page shows: a filter as an address carries it, and its sqlite query."""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from assay.errors import InputError
from assay.model import Outcome
from assay.runs import ROW_COLUMNS, Row, make_row
from assay.view.record_text import LONGEST_NAME, fold
from assay.view.search_index import SearchIndex

PAGE = 50
"""Cases of one page."""
LONGEST_SEARCH = 200
_MOST_WORDS = 8
_MOST_TRIGRAMS = 12
_FACETS = 200
_SHORTEST_PREFIX = 6
COUNTED = 1_000
"""Cases that a search counts: every one of them takes reading its text."""

ORDERS = {
    "": ("run order", "place, id"),
    "slowest": ("slowest first", "duration DESC, place, id"),
    "worst": ("lowest score first", "score, place, id"),
}
_COLUMNS = f"{ROW_COLUMNS}, key, grp, reason"
_WORD = re.compile(r'"([^"]*)"?|(\S+)')


class CaseLine(NamedTuple):
    """A case as lists show it."""

    row: Row
    key: str
    group: str
    reason: str


class Page(NamedTuple):
    """One page of the cases that match."""

    cases: list[CaseLine]
    number: int
    total: int
    is_exact: bool
    """False if there are more than `total`: too many texts would have to be read to know."""
    has_next: bool

    @property
    def pages(self) -> int:
        return max(1, -(-self.total // PAGE))


class Facet(NamedTuple):
    """A value that cases can be filtered by, and how many have it."""

    value: str
    number: int


@dataclass(frozen=True)
class CaseFilter:
    """What the user asked for; everything empty is every case."""

    search: str = ""
    outcome: str = ""
    code: str = ""
    group: str = ""
    label: str = ""
    slower: float = 0.0
    order: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> CaseFilter:
        """Read a filter from the query of an address; raise InputError if it is none."""
        texts = {name: query.get(name, "") for name in ("outcome", "code", "group", "label")}
        order, search = query.get("order", ""), query.get("q", "").strip()
        if order not in ORDERS or texts["outcome"] not in ("", *Outcome):
            raise InputError("no such filter")
        if len(search) > LONGEST_SEARCH or any(len(one) > LONGEST_NAME for one in texts.values()):
            raise InputError("the filter is too long")
        return cls(search=search, slower=_read_seconds(query), order=order, **texts)

    @property
    def words(self) -> list[str]:
        """Return the folded words that must all occur; quotes keep words together."""
        found = (quoted or bare for quoted, bare in _WORD.findall(self.search))
        return [fold(word) for word in found if word][:_MOST_WORDS]

    @property
    def is_empty(self) -> bool:
        return replace(self, order="") == CaseFilter()

    def query(self, **changes: Any) -> str:
        """Return the filter as the query of an address, without what is empty."""
        changed = replace(self, **{k: v for k, v in changes.items() if k != "page"})
        values = {
            "q": changed.search,
            "outcome": changed.outcome,
            "code": changed.code,
            "group": changed.group,
            "label": changed.label,
            "slower": f"{changed.slower:g}" if changed.slower else "",
            "order": changed.order,
            "page": changes["page"] if changes.get("page", 1) > 1 else "",
        }
        given = {name: value for name, value in values.items() if value}
        return f"?{urlencode(given)}" if given else ""


def _read_seconds(query: Mapping[str, str]) -> float:
    text = query.get("slower", "").strip()
    if not text:
        return 0.0
    if not re.fullmatch(r"\d{1,7}(\.\d{1,6})?|\.\d{1,6}", text, re.ASCII):
        raise InputError("`slower` is not a number of seconds")
    return float(text)


class _Condition(NamedTuple):
    """A condition of sqlite with its values; `doubtful` if meeting it takes reading texts."""

    text: str
    values: list[Any]
    doubtful: bool = False


# Read for one case at a time, so that a page of a frequent word reads only the texts it shows.
_HAS_TEXT = "instr((SELECT text FROM texts WHERE texts.rowid = cases.offset), ?) > 0"
# Until its texts are there, the id and the reason of a case are searched.
_HAS_NO_TEXT_YET = "(is_cut IS NULL AND instr(fold(id || ' ' || reason), ?) > 0)"


def _condition(wanted: CaseFilter, *, has_trigrams: bool) -> _Condition:
    parts: list[str] = ["1"]
    values: list[Any] = []
    for column, value in (
        ("outcome", wanted.outcome),
        ("code", wanted.code),
        ("grp", wanted.group),
    ):
        if value:
            parts.append(f"{column} = ?")
            values.append(value)
    if wanted.slower:
        parts.append("duration >= ?")
        values.append(wanted.slower)
    if wanted.label:
        parts.append("offset IN (SELECT offset FROM labels WHERE label = ?)")
        values.append(wanted.label)
    words = wanted.words
    long = [word for word in words if len(word) >= 3] if has_trigrams else []
    if long:
        parts.append("(offset IN (SELECT rowid FROM texts WHERE texts MATCH ?) OR is_cut IS NULL)")
        values.append(" AND ".join(map(_match_trigrams, long)))
    for word in words:
        parts.append(f"({_HAS_TEXT} OR {_HAS_NO_TEXT_YET})")
        values += [word, word]
    return _Condition(" AND ".join(parts), values, doubtful=bool(words))


def _match_trigrams(word: str) -> str:
    """Return the query for texts that have all trigrams of a word, or some of a long one's."""
    several = list(dict.fromkeys(word[at : at + 3] for at in range(len(word) - 2)))
    step = -(-len(several) // _MOST_TRIGRAMS)
    chosen = several[::step]
    return " AND ".join('"' + one.replace('"', '""') + '"' for one in chosen)


def find_page(index: SearchIndex, wanted: CaseFilter, number: int = 1) -> Page:
    """Return one page of the cases that match a filter; the last one if there are not as many."""
    condition = _condition(wanted, has_trigrams=index.has_trigrams)
    skipped = (number - 1) * PAGE
    if not condition.doubtful:
        total = _count(index.database, condition)
        number = min(number, max(1, -(-total // PAGE)))
        cases = _select(index.database, condition, wanted.order, (number - 1) * PAGE, PAGE)
        return Page(cases, number, total, True, number * PAGE < total)
    # All that are counted at once, because reading the texts is what takes long.
    found = _select(index.database, condition, wanted.order, 0, COUNTED + 1)
    total, is_exact = min(len(found), COUNTED), len(found) <= COUNTED
    if is_exact or skipped + PAGE <= COUNTED:
        number = min(number, max(1, -(-total // PAGE)))
        return Page(_slice(found, number), number, total, is_exact, number * PAGE < len(found))
    cases = _select(index.database, condition, wanted.order, skipped, PAGE + 1)
    return Page(cases[:PAGE], number, total, is_exact, len(cases) > PAGE)


def _slice(cases: list[CaseLine], number: int) -> list[CaseLine]:
    return cases[(number - 1) * PAGE : number * PAGE]


def _count(database: sqlite3.Connection, condition: _Condition) -> int:
    found = database.execute(
        f"SELECT count(*) FROM cases WHERE {condition.text}",  # noqa: S608 - values are bound
        condition.values,
    ).fetchone()
    return int(found[0])


def _select(
    database: sqlite3.Connection, condition: _Condition, order: str, skipped: int, most: int
) -> list[CaseLine]:
    return _select_by(database, condition, ORDERS[order][1], skipped, most)


def _select_by(
    database: sqlite3.Connection, condition: _Condition, order: str, skipped: int, most: int
) -> list[CaseLine]:
    found = database.execute(
        f"SELECT {_COLUMNS} FROM cases WHERE {condition.text} "  # noqa: S608 - values are bound
        f"ORDER BY {order} LIMIT ? OFFSET ?",
        [*condition.values, most, skipped],
    )
    return [_line(fields) for fields in found]


def _line(fields: tuple[Any, ...]) -> CaseLine:
    *row, key, group, reason = fields
    return CaseLine(make_row(row), key, group, reason)


def select_worst(index: SearchIndex, most: int) -> list[CaseLine]:
    """Return the first cases that did not pass, then others, all in the order of the run."""
    found = _select_by(
        index.database, _Condition("1", []), "outcome = 'passed', place, id", 0, most
    )
    return sorted(found, key=lambda case: (case.row.place, case.row.id))


def find_case(index: SearchIndex, key: str) -> CaseLine | None:
    """Return the case that has this key in addresses."""
    found = _select(index.database, _Condition("key = ?", [key]), "", 0, 1)
    return found[0] if found else None


class Neighbours(NamedTuple):
    """The cases before and after one among those that match a filter."""

    before: CaseLine | None
    after: CaseLine | None
    position: int
    """1 for the first; 0 if it would take too long to know, as `total`."""
    total: int


def find_neighbours(index: SearchIndex, wanted: CaseFilter, case: CaseLine) -> Neighbours:
    """Return what stands beside a case in the list that a filter makes."""
    database = index.database
    condition = _condition(wanted, has_trigrams=index.has_trigrams)
    if condition.doubtful:
        found = _select(database, condition, wanted.order, 0, COUNTED + 1)
        at = next((at for at, one in enumerate(found) if one.key == case.key), None)
        if at is not None and (at < COUNTED or len(found) <= COUNTED):
            around = [None, *found, None]
            total = len(found) if len(found) <= COUNTED else 0
            return Neighbours(around[at], around[at + 2], at + 1, total)
    later, earlier, values = _sides(wanted.order, case.row)
    after = _select(database, _and(condition, later, values), wanted.order, 0, 1)
    before = _select_last(database, _and(condition, earlier, values), wanted.order)
    position = total = 0
    if not condition.doubtful:
        total = _count(database, condition)
        position = 1 + _count(database, _and(condition, earlier, values))
    return Neighbours(before, after[0] if after else None, position, total)


def _sides(order: str, row: Row) -> tuple[str, str, list[Any]]:
    """Return the conditions of what comes after and before a row, and their values."""
    place: list[Any] = [row.place, row.id]
    if order == "slowest":
        return (
            "(-duration, place, id) > (?, ?, ?)", "(-duration, place, id) < (?, ?, ?)",
            [-row.duration, *place],
        )  # fmt: skip
    if order == "worst":
        return (
            "(score, place, id) > (?, ?, ?)", "(score, place, id) < (?, ?, ?)",
            [row.score, *place],
        )  # fmt: skip
    return "(place, id) > (?, ?)", "(place, id) < (?, ?)", place


def _and(condition: _Condition, text: str, values: list[Any]) -> _Condition:
    return _Condition(f"{condition.text} AND {text}", [*condition.values, *values])


_REVERSED = {
    "": "place DESC, id DESC",
    "slowest": "duration, place DESC, id DESC",
    "worst": "score DESC, place DESC, id DESC",
}


def _select_last(
    database: sqlite3.Connection, condition: _Condition, order: str
) -> CaseLine | None:
    found = database.execute(
        f"SELECT {_COLUMNS} FROM cases WHERE {condition.text} "  # noqa: S608 - values are bound
        f"ORDER BY {_REVERSED[order]} LIMIT 1",
        condition.values,
    ).fetchone()
    return None if found is None else _line(found)


class Facets(NamedTuple):
    """What the cases of a run can be filtered by; the most frequent values first."""

    outcomes: list[Facet]
    codes: list[Facet]
    groups: list[Facet]
    labels: list[Facet]
    total: int
    cut: int
    """Cases whose text is longer than what is searched."""
    prefix: str
    """What all ids begin with, up to a separator: a suite, a folder."""


def read_facets(index: SearchIndex) -> Facets:
    """Count what the cases of a run can be filtered by."""
    database = index.database
    total, cut = database.execute("SELECT count(*), coalesce(sum(is_cut), 0) FROM cases").fetchone()
    return Facets(
        outcomes=_facets(database, "outcome", "cases"),
        codes=_facets(database, "code", "cases"),
        groups=_useful(_facets(database, "grp", "cases"), total),
        labels=_useful(_facets(database, "label", "labels JOIN cases USING (offset)"), total),
        total=total,
        cut=cut,
        prefix=_find_prefix(*database.execute("SELECT min(id), max(id) FROM cases").fetchone()),
    )


def _find_prefix(first: str | None, last: str | None) -> str:
    """Return the common beginning of all texts between two, up to its last `::` or `/`."""
    if first is None or last is None or first == last:
        return ""
    pairs = zip(first, last, strict=False)
    common = "".join(one for one, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    found = re.match(r".*(::|/)", common, re.DOTALL)
    return found[0] if found and len(found[0]) >= _SHORTEST_PREFIX else ""


def _facets(database: sqlite3.Connection, column: str, table: str) -> list[Facet]:
    found = database.execute(
        f"SELECT {column}, count(*) FROM {table} "  # noqa: S608 - constant text
        f"WHERE {column} <> '' AND length({column}) <= ? "
        "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?",
        (LONGEST_NAME, _FACETS),
    )
    return [Facet(*one) for one in found]


def _useful(facets: list[Facet], total: int) -> list[Facet]:
    """Leave out what every case has: there is nothing to choose."""
    return [one for one in facets if one.number < total]
