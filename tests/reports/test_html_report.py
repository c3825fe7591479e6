"""The HTML report: its structure from a parser; `test_browser.py` has its behaviour."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING, Any

import pytest

from assay.reports import html_report, render_report
from assay.runs import Baseline, Run
from tests.reports.pages import Page

if TYPE_CHECKING:
    from tests.reports.conftest import Make


def rendered(run: Run) -> str:
    return b"".join(render_report(run, "html")).decode()


def mixed_run(make: Make) -> Run:
    known = make.record("known one", "failed")
    baseline = Baseline.of(make.run([known], name="first").rows())
    records = [
        make.record("good one"),
        known,
        make.record("bad one", "failed"),
        make.record("broken one", "error"),
        make.record("open one", "unverified"),
    ]
    return make.run(records, name="mixed", baseline=baseline)


def test_the_page_has_the_totals_and_every_case(make: Make) -> None:
    text = rendered(mixed_run(make))
    page = Page(text)
    assert (page.open, page.unbalanced) == ([], [])
    assert [case["data-id"] for case in page.all("details", "case")] == [
        "bad one",
        "known one",
        "broken one",
        "open one",
        "good one",
    ]
    assert [section["id"] for section in page.all("section")] == [
        "failed",
        "error",
        "unverified",
        "passed",
    ]
    assert "Failed: 1 of 5 cases passed (20.0%), 2 failed, 1 error, 1 unverified" in text
    # The titles of charts come later.
    assert page.texts["title"][0] == "Failed: mixed · Assay"
    assert not any("open" in case for case in page.all("details", "case"))


def test_the_page_loads_nothing_and_allows_only_its_own(make: Make) -> None:
    text = rendered(mixed_run(make))
    page = Page(text)
    policy = next(
        meta["content"] or ""
        for meta in page.all("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    names = {name for _, attributes in page.elements for name in attributes}
    assert not names & {"src", "style", "srcset", "action"}
    assert not any(name.startswith("on") for name in names)
    links = [attributes["href"] or "" for _, attributes in page.elements if "href" in attributes]
    assert links
    assert all(link.startswith("#") for link in links)


def test_of_those_that_passed_only_some_are_shown(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert html_report.PASSED_AT_MOST == 1_000
    monkeypatch.setattr(html_report, "PASSED_AT_MOST", 10)
    records = [make.record(f"good {n}") for n in range(12)]
    records += [make.record(f"bad {n}", "failed") for n in range(12)]
    text = rendered(make.run(records))
    assert len(Page(text).all("details", "case")) == 22
    assert "2 more cases passed and are left out of this page" in text


def test_a_run_without_cases_has_a_page(make: Make) -> None:
    text = rendered(make.run([]))
    assert "The run has no cases." in text
    assert Page(text).unbalanced == []


def test_the_evidence_of_samples_is_folded(make: Make) -> None:
    good, bad = make.record("x").reports[0], make.record("x", "failed").reports[0]
    page = Page(rendered(make.run([make.record("x", "failed", reports=[good, bad])])))
    first, _, second = page.all("details", "fold")
    assert "open" not in first
    assert "open" in second


def test_a_newline_at_the_beginning_is_seen(make: Make) -> None:
    reports = [make.report(error="\na\nb"), make.report(error="a\nb")]
    text = rendered(make.run([make.record("x", "error", reports=reports)]))
    # A browser drops the first newline of every <pre>.
    assert '<pre class="error" tabindex="0">\n\na\nb</pre>' in text
    assert '<pre class="error" tabindex="0">\na\nb</pre>' in text


def test_hostile_text_makes_no_element(make: Make) -> None:
    text = rendered(make.hostile_run())
    page = Page(text)
    assert (page.open, page.unbalanced) == ([], [])
    assert len(page.all("script")) == 1
    assert page.all("img") == []
    assert not set(text) & set("\x00\x1b\x07\x9b\u202e\u2066\u2028\ufeff\r")
    assert "{{ 7*7 }}" in "".join(page.texts["pre"])
    assert "49" not in "".join(page.texts["pre"])


def test_cases_are_drawn_when_the_page_comes_to_them(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html_report, "_PIECES_AT_ONCE", 2)
    run = make.run(make.record(f"{n}", "failed") for n in range(50))
    read = 0
    reading = run.read

    def counting(row: Any) -> Any:
        nonlocal read
        read += 1
        return reading(row)

    run.read = counting  # type: ignore[method-assign]
    pieces = render_report(run, "html")
    next(pieces)
    assert read == 0
    assert sum(1 for _ in pieces) > 50
    assert read == 50
