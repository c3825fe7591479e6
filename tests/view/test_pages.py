"""What the pages say: what is counted, what is missing, and what is still to come."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.model import Outcome
from assay.reports import summarize
from assay.runs import Gate, Run, write_gate
from assay.view.history import list_rates, read_history
from assay.view.library import RunLibrary
from assay.view.links import SERVER, link_from
from assay.view.pages import NotFoundError, Pages, list_lines, list_remarks, make_headline
from assay.view.search_index import make_key
from tests.runs.making import make_record, write_run

DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[RunLibrary]:
    (tmp_path / "runs").mkdir()
    with closing(RunLibrary(tmp_path / "runs")) as library:
        yield library


def write(library: RunLibrary, number: int, cases: dict[str, str], **more: object) -> None:
    given = {"title": "t.py", "started": DAY + timedelta(days=number), **more}
    write_run(library.folder / f"run-{number}", cases, **given)  # type: ignore[arg-type]


def read_all(library: RunLibrary) -> Pages:
    library.finish(texts_of=lambda entry: True)
    return Pages(library)


def text_of(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page.partition("<main")[2]).split())


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        ("agents", "1 of 2 tests passed"),
        ("questions", "1 of 2 questions passed"),
        ("drift", "1 of 2 questions passed"),
        ("evaluation", "1 of 2 cases passed"),
    ],
)
def test_the_headline_says_what_it_counts(tmp_path: Path, subject: str, words: str) -> None:
    with Run(write_run(tmp_path / "run", {"a": "P", "b": "F"}, subject=subject)) as run:
        assert make_headline(summarize(run)) == words


def test_samples_are_counted_beside_the_tests(library: RunLibrary) -> None:
    write(library, 1, {"a": "F:PPPFF"}, subject="agents")
    pages = read_all(library)
    run = text_of(pages.show_run(SERVER, "run-1", {}))
    assert "0 of 1 test passed , 3 of 5 samples" in run
    # Half of the samples is not 0%.
    assert "60.0% 23.1% to 88.2%" in run
    assert "60.0% 23.1% to 88.2% of samples" in text_of(pages.list_runs(SERVER, {}))


def test_what_else_decides_is_said(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", {"a": "P", "b": "F"})
    write_gate(folder, Gate(name="core-cases", is_met=True, reason="1 of 1 core cases"))
    with Run(folder) as run:
        assert list_remarks(summarize(run)) == ["core-cases is met: 1 of 1 core cases"]


def test_a_title_has_a_trend_of_its_own(library: RunLibrary) -> None:
    for number, cases in enumerate([{"a": "P", "b": "F"}, {"a": "P", "b": "P"}]):
        write(library, number, cases)
    write(library, 5, {"a": "E", "b": "P"})
    write(library, 6, {"a": "P"}, title="other.py")
    read_all(library)
    lines = list_lines(library.entries())
    assert [line.entry.key for line in lines] == ["run-6", "run-5", "run-1", "run-0"]
    # An error says nothing about the subject.
    assert [line.trend for line in lines] == [[1.0], [0.5, 1.0, 1.0], [0.5, 1.0], [0.5]]


def test_rates_of_a_title_are_of_samples_if_all_runs_took_all(library: RunLibrary) -> None:
    write(library, 0, {"a": "P:PPF"})
    write(library, 1, {"a": "F:PFF"})
    read_all(library)
    noun, rates = list_rates(library.entries())
    assert (noun, rates) == ("samples", [(2, 3), (1, 3)])
    write(library, 2, {"a": "F"})
    library.finish()
    assert list_rates(library.entries())[0] in ("samples", "cases")


def test_the_history_lists_the_cases_that_did_not_end_alike(library: RunLibrary) -> None:
    write(library, 0, {"same": "P", "flips": "P", "fixed": "F"})
    write(library, 1, {"same": "P", "flips": "F", "fixed": "F"})
    write(library, 2, {"same": "P", "flips": "P", "fixed": "P", "new": "F"})
    pages = read_all(library)
    runs = pages.list_title(library.entries()[0].title_key)
    history = read_history(runs)
    assert history.is_complete
    assert {
        case.id: "".join(line.row.outcome.value[0] if line else "-" for line in case.lines)
        for case in history.cases
    } == {"flips": "pfp", "fixed": "ffp"}
    text = text_of(pages.show_title(SERVER, runs[0].title_key))
    assert "Cases that ended differently in the last 3 runs" in text


def test_a_run_that_is_still_read_says_how_far(library: RunLibrary) -> None:
    write(library, 1, {f"case {n}": "P" for n in range(30)})
    library.finish()
    (entry,) = library.entries()
    progress = entry.state.progress
    assert (progress.cases, progress.texts) == (30, 0)
    page = Pages(library).show_run(SERVER, "run-1", {})
    assert "Texts are still being indexed: 0%" in page
    entry.update(progress=progress._replace(covered=progress.size // 2))
    page = Pages(library).show_run(SERVER, "run-1", {})
    assert "Reading the run: 49%" in page or "Reading the run: 50%" in page
    assert "reading 49%" in (text := text_of(Pages(library).list_runs(SERVER, {}))) or (
        "reading 50%" in text
    )


def test_a_case_shows_how_it_ended_in_the_other_runs(library: RunLibrary) -> None:
    write(library, 0, {"a": "P"})
    write(library, 1, {"b": "P"})
    write(library, 2, {"a": "F"})
    page = read_all(library).show_case(SERVER, "run-2", make_key("a"), {})
    assert f'href="/runs/run-0/{make_key("a")}"' in page
    assert "not in this run" in page
    assert "(this run)" in page


def test_runs_of_different_subjects_are_not_compared(library: RunLibrary) -> None:
    write(library, 0, {"a": "P"}, subject="agents")
    write(library, 1, {"a": "P"}, subject="questions")
    pages = read_all(library)
    with pytest.raises(InputError, match="is a run of agents and"):
        pages.compare(SERVER, "run-0", "run-1", {})
    assert pages.order_comparison(SERVER, ["run-1", "run-0"]) == "/compare/run-0/run-1"


def test_a_comparison_lists_each_kind_of_change(library: RunLibrary) -> None:
    write(library, 0, {"a": "P", "b": "F", "c": "P", "gone": "P"})
    write(library, 1, {"a": "F", "b": "P", "c": "E", "new": "P"})
    pages = read_all(library)
    found = pages.find_comparison("run-0", "run-1")
    assert pages.find_comparison("run-0", "run-1") is found
    first = text_of(pages.compare(SERVER, "run-0", "run-1", {}))
    assert "Regression: 1 case newly fails." in first
    assert "passed → failed" in first
    for kind, name in (("newly_passing", "b"), ("newly_errored", "c"), ("removed", "gone")):
        page = pages.compare(SERVER, "run-0", "run-1", {"kind": kind})
        assert f'/compare/run-0/run-1/{make_key(name)}"' in page
    gone = text_of(pages.compare_case(SERVER, "run-0", "run-1", make_key("gone")))
    assert "Not in this run." in gone
    with pytest.raises(NotFoundError):
        pages.compare_case(SERVER, "run-0", "run-1", make_key("never"))


@pytest.mark.parametrize("outcome", list(Outcome))
def test_an_outcome_is_told_by_a_sign_and_a_word_too(library: RunLibrary, outcome: Outcome) -> None:
    write(library, 0, {"a": outcome.value[0].upper()})
    page = read_all(library).show_run(SERVER, "run-0", {})
    assert f'role="img" aria-label="{outcome.value}"' in page


def test_links_of_a_bundle_are_relative() -> None:
    links = link_from(2)
    assert links.run("r") == "../../runs/r.html"
    assert links.runs() == "../../index.html"
    assert link_from(0).asset("view.js") == "./assets/view.js"


def test_hidden_characters_are_visible_wherever_a_text_is(library: RunLibrary) -> None:
    record = make_record("a\u202eb", "F", reason="r\x1b[31m", code="c\u2066", detail={"type": "t"})
    write_run(library.folder / "run", [record], title="title\x9b2J")
    pages = read_all(library)
    for page in (
        pages.list_runs(SERVER, {"q": "\u202e"}),
        pages.show_run(SERVER, "run", {"q": "a\u202e", "code": "c\u2066"}),
        pages.show_case(SERVER, "run", make_key("a\u202eb"), {}),
        pages.compare(SERVER, "run", "run", {}),
    ):
        assert not set("\u202e\x1b\u2066\x9b") & set(page)
