"""The viewer's index agrees with the journal, however the run grows, and finds what is there."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.model import CaseRecord, Outcome
from assay.runs import JOURNAL, RunIndex, Unit
from assay.runs.writer import RunWriter
from assay.view import search_index
from assay.view.queries import (
    COUNTED,
    PAGE,
    CaseFilter,
    find_case,
    find_neighbours,
    find_page,
    read_facets,
    select_worst,
)
from assay.view.record_text import fold, gather_text
from assay.view.search_index import SearchIndex, make_key, write_index
from tests.runs.making import make_record, write_run


def build(run: Path, database: Path, *, texts: bool = True) -> None:
    with write_index(database, run) as index:
        assert index is not None
        while (texts or not index.measure_progress(run / JOURNAL).has_cases) and index.extend(
            run / JOURNAL
        ):
            pass


@contextmanager
def opened(database: Path) -> Iterator[SearchIndex]:
    index = SearchIndex.for_viewing(database)
    try:
        yield index
    finally:
        index.close()


def found(database: Path, **wanted: Any) -> list[str]:
    with opened(database) as index:
        return [case.row.id for case in find_page(index, CaseFilter(**wanted)).cases]


RECORDS = [
    make_record("suite/alpha", "P", reason="fine", duration=0.5, detail={"type": "one"}),
    make_record("suite/beta", "F", reason="Straße closed", duration=2.0, detail={"type": "two"}),
    make_record("suite/gamma", "F:PPF", code="odd", duration=9.0, detail={"note": 'say "hi" 100%'}),
    make_record("suite/delta", "E", reason="no network", detail={"labels": ["net"]}),
    make_record("suite/epsilon", "U", reason="ab"),
]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", RECORDS)


@pytest.fixture
def database(run: Path, tmp_path: Path) -> Path:
    build(run, tmp_path / "index.sqlite")
    return tmp_path / "index.sqlite"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, ["alpha", "beta", "gamma", "delta", "epsilon"]),
        ({"outcome": "failed"}, ["beta", "gamma"]),
        ({"code": "odd"}, ["gamma"]),
        ({"group": "g"}, ["alpha", "beta", "gamma", "delta", "epsilon"]),
        ({"label": "type: two"}, ["beta"]),
        ({"label": "net"}, ["delta"]),
        ({"slower": 2.0}, ["beta", "gamma"]),
        ({"search": "STRASSE"}, ["beta"]),
        ({"search": "clos straße"}, ["beta"]),
        ({"search": '"straße closed"'}, ["beta"]),
        ({"search": '"closed straße"'}, []),
        ({"search": "say 100%"}, ["gamma"]),
        ({"search": '"i" 10'}, ["gamma"]),
        ({"search": "ab"}, ["epsilon"]),
        ({"search": "suite/", "outcome": "error"}, ["delta"]),
        ({"search": "' OR 1=1 --"}, []),
        ({"search": "NEAR(a b) * ^col:"}, []),
        ({"order": "slowest"}, ["gamma", "beta", "alpha", "delta", "epsilon"]),
        ({"order": "worst"}, ["delta", "beta", "gamma", "alpha", "epsilon"]),
    ],
)
def test_filters_and_searches(database: Path, wanted: dict[str, Any], expected: list[str]) -> None:
    assert found(database, **wanted) == [f"suite/{name}" for name in expected]


def test_without_fts_everything_is_found_too(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "_TRIGRAMS", "CREATE VIRTUAL TABLE texts USING nothing_here")
    plain = tmp_path / "plain.sqlite"
    build(run, plain)
    with opened(plain) as index:
        assert not index.has_trigrams
    assert found(plain, search="strasse") == ["suite/beta"]


def test_facets_count_what_can_be_chosen(database: Path) -> None:
    with opened(database) as index:
        facets = read_facets(index)
    assert dict(facets.outcomes) == {"failed": 2, "passed": 1, "error": 1, "unverified": 1}
    assert dict(facets.codes)["odd"] == 1
    # Every case is in it, so there is nothing to choose.
    assert facets.groups == []
    assert dict(facets.labels)["type: two"] == 1
    assert (facets.total, facets.prefix, facets.cut) == (5, "suite/", 0)


def test_a_case_is_found_by_its_key_and_has_neighbours(database: Path) -> None:
    with opened(database) as index:
        gamma = find_case(index, make_key("suite/gamma"))
        assert gamma is not None
        assert (gamma.row.samples.passed, gamma.row.samples.taken) == (2, 3)
        for order in ("", "slowest", "worst"):
            for search in ("", "suite"):
                wanted = CaseFilter(search=search, order=order)
                ids = [case.row.id for case in find_page(index, wanted).cases]
                for at, identifier in enumerate(ids):
                    case = find_case(index, make_key(identifier))
                    assert case is not None
                    before, after, position, total = find_neighbours(index, wanted, case)
                    around = ["", *ids, ""]
                    names = [one.row.id if one else "" for one in (before, after)]
                    assert names == [around[at], around[at + 2]]
                    assert (position, total) == (at + 1, 5)
        assert find_case(index, "0" * 18) is None


def test_pages_and_the_number_of_cases_that_match(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {f"case {n:04}": "P" for n in range(COUNTED + 120)})
    build(run, tmp_path / "index.sqlite")
    with opened(tmp_path / "index.sqlite") as index:
        first = find_page(index, CaseFilter(), 1)
        assert (first.total, first.pages, first.is_exact, first.has_next) == (1120, 23, True, True)
        last = find_page(index, CaseFilter(), 10**6)
        assert (last.number, len(last.cases), last.has_next) == (23, 20, False)
        many = find_page(index, CaseFilter(search="case"), 2)
        assert (many.total, many.is_exact, many.has_next) == (COUNTED, False, True)
        assert many.cases[0].row.id == f"case {PAGE:04}"
        beyond = find_page(index, CaseFilter(search="case"), COUNTED // PAGE + 2)
        assert beyond.cases[0].row.id == f"case {COUNTED + PAGE:04}"
        few = find_page(index, CaseFilter(search="case 000"), 7)
        # 0000 to 0009, and 1000.
        assert (few.total, few.number, few.is_exact) == (11, 1, True)


def test_the_worst_cases_are_chosen_in_the_order_of_the_run(database: Path) -> None:
    with opened(database) as index:
        ids = [case.row.id for case in select_worst(index, 4)]
    assert ids == ["suite/beta", "suite/gamma", "suite/delta", "suite/epsilon"]


def test_the_index_grows_with_the_journal(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", RECORDS[:2], is_finished=False)
    database = tmp_path / "index.sqlite"
    build(folder, database)
    units = [Unit(one.id, at, one.fingerprint, None) for at, one in enumerate(RECORDS)]
    with RunWriter(folder) as writer:
        for unit, record in zip(units, RECORDS, strict=True):
            if writer.wants(unit):
                writer.add(unit, record)
        # Before the writer has finished, as a page sees it.
        build(folder, database)
        assert len(found(database)) == 5
        assert found(database, search="network") == ["suite/delta"]
        writer.finish()
    with write_index(database, folder) as index:
        assert index is not None
        # Nothing was made anew.
        assert not index.extend(folder / JOURNAL)


def test_a_resumed_run_replaces_moves_and_drops_cases(tmp_path: Path) -> None:
    first = [make_record(name, "E", reason=f"old {name}") for name in ("a", "b", "c")]
    folder = write_run(tmp_path / "run", first)
    database = tmp_path / "index.sqlite"
    build(folder, database)
    again = [make_record("c", "P", reason="new c"), make_record("a", "P", reason="new a")]
    with RunWriter(folder) as writer:
        for place, record in enumerate(again):
            unit = Unit(record.id, place, record.fingerprint, None)
            assert writer.wants(unit)
            writer.add(unit, record)
        writer.finish()
    build(folder, database)
    assert found(database) == ["c", "a"]
    assert found(database, search="old") == []
    assert found(database, search="new") == ["c", "a"]
    with opened(database) as index, closing(RunIndex.for_reading(folder)) as own:
        assert list(index.rows()) == list(own.rows())
        assert index.counts() == own.counts()
        assert index.count_samples() == own.count_samples()


def test_until_texts_are_there_ids_and_reasons_are_searched(run: Path, tmp_path: Path) -> None:
    database = tmp_path / "index.sqlite"
    build(run, database, texts=False)
    with opened(database) as index:
        progress = index.measure_progress(run / JOURNAL)
    assert (progress.cases, progress.texts, progress.is_complete) == (5, 0, False)
    assert found(database, search="STRASSE") == ["suite/beta"]
    assert found(database, search="say") == []


@pytest.mark.parametrize("harm", ["other journal", "edited", "older version", "no database"])
def test_an_index_that_does_not_match_is_made_anew(
    run: Path, database: Path, tmp_path: Path, harm: str
) -> None:
    if harm == "other journal":
        other = write_run(tmp_path / "other", [make_record("new", "P") for _ in range(1)])
        (run / JOURNAL).write_bytes((other / JOURNAL).read_bytes())
        expected = ["new"]
    else:
        expected = [record.id for record in RECORDS]
    if harm == "edited":
        text = (run / JOURNAL).read_text()
        (run / JOURNAL).write_text(text.replace("suite/alpha", "suite/ALPHA"))
        expected[0] = "suite/ALPHA"
    elif harm == "older version":
        with sqlite3.connect(database) as raw:
            raw.execute("UPDATE about SET version = 'old'")
        raw.close()
    elif harm == "no database":
        database.write_bytes(b"not a database" * 100)
    build(run, database)
    assert found(database) == expected


def test_one_process_writes_and_the_other_does_not_wait(run: Path, database: Path) -> None:
    with database.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with write_index(database, run) as index:
            assert index is None


def test_the_run_folder_is_not_touched(run: Path, tmp_path: Path) -> None:
    def look() -> dict[str, tuple[int, bytes]]:
        return {one.name: (one.stat().st_mtime_ns, one.read_bytes()) for one in run.iterdir()}

    before = look()
    build(run, tmp_path / "index.sqlite")
    assert look() == before


@pytest.mark.parametrize(
    "query",
    [
        {"order": "sideways"},
        {"outcome": "great"},
        {"q": "x" * 201},
        {"group": "x" * 121},
        {"slower": "-1"},
        {"slower": "1e9"},
        {"slower": "nan"},
        {"slower": "١"},
    ],
)
def test_a_query_that_is_no_filter_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(InputError):
        CaseFilter.of(query)


@given(
    st.builds(
        CaseFilter,
        search=st.text(max_size=60).map(str.strip),
        outcome=st.sampled_from(["", *(one.value for one in Outcome)]),
        code=st.text(max_size=20),
        slower=st.integers(0, 5000).map(lambda n: n / 8),
        order=st.sampled_from(["", "slowest", "worst"]),
    )
)
def test_a_filter_survives_its_address(wanted: CaseFilter) -> None:
    from urllib.parse import parse_qsl

    query = wanted.query().removeprefix("?").encode("utf-8", "replace").decode()
    if "\ud800" <= max(wanted.search + wanted.code, default="") <= "\udfff":
        return
    assert CaseFilter.of(dict(parse_qsl(query))) == wanted


_words = st.text(st.sampled_from("abÄß/ \"'%_*:-\n0."), min_size=1, max_size=8)


@settings(max_examples=20)
@given(
    texts=st.lists(_words, min_size=1, max_size=8),
    endings=st.lists(st.sampled_from("PFUE"), min_size=8, max_size=8),
    search=_words,
    outcome=st.sampled_from(["", "passed", "failed"]),
)
def test_a_search_finds_exactly_the_cases_that_have_all_words(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    endings: list[str],
    search: str,
    outcome: str,
) -> None:
    records = [
        make_record(f"{at}", endings[at], reason=text, detail={"text": text * 2})
        for at, text in enumerate(texts)
    ]
    folder = tmp_path_factory.mktemp("property")
    run = write_run(folder / "run", records)
    wanted = CaseFilter(search=search.strip(), outcome=outcome)

    def matches(record: CaseRecord) -> bool:
        text, _ = gather_text(record.pack())
        is_wanted = not outcome or record.outcome.value == outcome
        return is_wanted and all(word in text for word in wanted.words)

    expected = [record.id for record in records if matches(record)]
    build(run, folder / "index.sqlite")
    with opened(folder / "index.sqlite") as index:
        page = find_page(index, wanted)
        assert [case.row.id for case in page.cases] == expected
        assert (page.total, page.is_exact) == (len(expected), True)


def test_words_are_folded_and_limited() -> None:
    assert CaseFilter(search='Ä "B c" d').words == [fold("ä"), "b c", "d"]
    assert len(CaseFilter(search=" ".join("abcdefghijkl")).words) == 8
