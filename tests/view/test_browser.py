"""The viewer in a real browser: every page, wide and narrow, light and dark, and by keyboard."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from assay.model import AttributeResult, CaseRecord, VerifierReport
from assay.reports import write_report
from assay.runs import MANIFEST, Run, Unit
from assay.runs.writer import RunWriter
from assay.view.search_index import make_key
from tests.browser import AXE, Watch, find_faults, needs_axe, needs_browser, start_browser
from tests.reports.conftest import HOSTILE
from tests.runs.making import make_record, write_run
from tests.view.conftest import Viewer, open_viewer
from tests.waiting import PATIENCE, wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser

WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 400, "height": 800}
TITLE = "prices.py"
DAY = datetime(2026, 3, 1, 9, tzinfo=UTC)


def make_runs(runs: Path) -> None:
    """Three runs of a title, of which the last is larger than a page; one is broken."""
    endings = ["PPFFPU", "PPFPPU", "PFFPPE"]
    for number, ending in enumerate(endings):
        cases = [
            make_record(f"suite::case {at}", letter, duration=float(at), reason=f"reason {at}")
            for at, letter in enumerate(ending)
        ]
        if number == 2:
            cases += [make_record(f"suite::more {at:03}", "P") for at in range(60)]
            cases.append(make_record("suite::sampled", "F:PPFFF", detail={"type": "talk"}))
        started = DAY + timedelta(days=number)
        write_run(runs / f"run-{number}", cases, title=TITLE, started=started)
    write_run(runs / "other", {"x": "P"}, title="other.py", started=DAY)
    (runs / "broken").mkdir()
    (runs / "broken" / MANIFEST).write_text("{")


def make_hostile_run(path: Path) -> Path:
    """A run in whose every field a text attacks the page."""
    long = "x" * 1_000_000
    results = {
        name: AttributeResult(
            attribute=name, actual=value, expected=HOSTILE, diff=HOSTILE, is_correct=False
        )
        for name, value in ((HOSTILE, HOSTILE), ("long", long), ("nested", {HOSTILE: [HOSTILE]}))
    }
    report = VerifierReport(
        id=HOSTILE, group=HOSTILE, type="Core", duration=1, results=results, case={HOSTILE: HOSTILE}
    )
    fields: dict[str, Any] = {
        "reason": HOSTILE,
        "code": HOSTILE,
        "detail": {"type": "<b>bold</b>", "verdict": '" onmouseover="alert(1)', HOSTILE: HOSTILE},
        "usage": {HOSTILE: 1.0},
    }
    cases: list[CaseRecord] = [
        make_record(HOSTILE, "F", reports=[report], **fields),
        make_record(f"several {HOSTILE}", "F", reports=[report, report], **fields),
        make_record(f"passed {HOSTILE}", "P", reason=HOSTILE),
        make_record(
            'a" onfocus="alert(1)" autofocus="', "E", reason="<img src=x onerror=alert(1)>"
        ),
        make_record("long", "U", reason=long),
    ]
    return write_run(path, cases, title=f"title {HOSTILE}", started=DAY)


class Site(NamedTuple):
    """A viewer over the runs, and a browser."""

    viewer: Viewer
    browser: Browser
    runs: Path


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("browser")
    make_runs(folder / "runs")
    with open_viewer(folder / "runs", folder / "cache") as viewer, start_browser() as browser:
        yield Site(viewer, browser, folder / "runs")


@contextmanager
def open_page(site: Site, **options: Any) -> Iterator[Page]:
    """Open the first address in a browser of its own; whatever it must not do fails the test."""
    context = site.browser.new_context(**{"viewport": WIDE, **options})
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    watch = Watch(page, site.viewer.origin)
    try:
        page.goto(site.viewer.address)
        page.wait_for_selector("h1")
        assert page.url == f"{site.viewer.origin}/"
        yield page
        watch.check()
    finally:
        context.close()


def go(page: Page, site: Site, path: str) -> None:
    page.goto(site.viewer.origin + path)


CASE = make_key("suite::case 1")
SAMPLED = make_key("suite::sampled")
PAGES = {
    "runs": "/",
    "run": "/runs/run-2",
    "filtered": "/runs/run-2?q=case&outcome=failed",
    "nothing": "/runs/run-2?q=nowhere",
    "case": f"/runs/run-1/{CASE}?outcome=failed",
    "samples": f"/runs/run-2/{SAMPLED}",
    "history": "",
    "comparison": "/compare/run-1/run-2",
    "compared case": f"/compare/run-1/run-2/{CASE}",
}
VIEWS = [
    pytest.param({"viewport": WIDE, "color_scheme": "light"}, id="wide and light"),
    pytest.param({"viewport": NARROW, "color_scheme": "dark"}, id="narrow and dark"),
]


@needs_axe
@pytest.mark.parametrize("view", VIEWS)
def test_every_page_fits_and_has_no_serious_fault_of_accessibility(
    site: Site, view: dict[str, Any]
) -> None:
    with open_page(site, **view) as page:
        title = page.locator("td.trend a").first.get_attribute("href") or ""
        for name, path in PAGES.items():
            go(page, site, path or title)
            assert page.locator("main h1").count() == 1, name
            # Nothing is wider than the page.
            assert (
                page.evaluate("document.documentElement.scrollWidth") <= view["viewport"]["width"]
            )
            assert find_faults(page) == [], name
        page.keyboard.press("?")
        page.wait_for_selector("#help[open]")
        assert find_faults(page) == []


@needs_axe
@pytest.mark.parametrize("view", VIEWS)
def test_the_html_report_has_no_serious_fault_of_accessibility(
    site: Site, tmp_path: Path, view: dict[str, Any]
) -> None:
    path = tmp_path / "report.html"
    with Run(site.runs / "run-1") as run:
        write_report(run, "html", path)
    context = site.browser.new_context(**view)
    try:
        page = context.new_page()
        watch = Watch(page, "file://")
        page.goto(path.as_uri())
        page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = true)")
        assert find_faults(page) == []
        watch.check()
    finally:
        context.close()


def test_axe_finds_a_fault_that_is_there(site: Site) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make browser` does it with npm")
    with open_page(site) as page:
        page.evaluate("() => document.querySelector('input').removeAttribute('aria-label')")
        page.evaluate("() => document.querySelector('input').removeAttribute('placeholder')")
        assert any("label" in fault for fault in find_faults(page))


def shown(page: Page) -> list[str]:
    """The ids of the cases that are listed."""
    return [text.strip() for text in page.locator("li.case:visible .id").all_inner_texts()]


def test_the_whole_viewer_by_keyboard(site: Site) -> None:
    with open_page(site) as page:
        press = page.keyboard.press
        press("j")
        press("k")
        focused = page.evaluate("() => document.activeElement.textContent")
        assert focused == TITLE
        press("Enter")
        page.wait_for_url("**/runs/run-2")
        press("/")
        page.keyboard.type("case")
        page.wait_for_url("**/runs/run-2?q=case")
        wait_until(lambda: len(shown(page)) == 6)
        # The field keeps what is typed, and Enter leads to what was found.
        assert page.evaluate("() => document.activeElement.value") == "case"
        press("Enter")
        wait_until(lambda: page.evaluate("() => document.activeElement.className") == "id")
        press("j")
        press("Enter")
        page.wait_for_url(f"**/runs/run-2/{CASE}?q=case")
        assert "2 of 6" in page.locator("nav.beside").inner_text()
        press("j")
        page.wait_for_url(f"**/{make_key('suite::case 2')}?q=case")
        press("k")
        page.wait_for_url(f"**/{CASE}?q=case")
        press("Escape")
        page.wait_for_url("**/runs/run-2?q=case")
        assert page.locator("input[type=search]").input_value() == "case"
        press("c")
        page.wait_for_url("**/compare/run-1/run-2")
        press("j")
        press("Enter")
        page.wait_for_url("**/compare/run-1/run-2/*")
        press("u")
        page.wait_for_url("**/compare/run-1/run-2")
        press("u")
        page.wait_for_url("**/runs/run-2")
        press("h")
        page.wait_for_url("**/titles/*")
        press("Escape")
        page.wait_for_url(f"{site.viewer.origin}/")
        press("?")
        page.wait_for_selector("#help[open]")
        # Keys of the page do nothing while the help is open.
        press("j")
        press("Escape")
        page.wait_for_selector("#help", state="hidden")
        assert page.url == f"{site.viewer.origin}/"


def test_keys_can_be_turned_off(site: Site) -> None:
    with open_page(site) as page:
        page.click("#help-button")
        page.uncheck("#keys-on")
        page.click("#help button")
        page.keyboard.press("j")
        assert page.evaluate("() => document.activeElement.closest('tr')") is None
        page.reload()
        page.keyboard.press("?")
        assert page.locator("#help[open]").count() == 0


def test_filters_change_the_list_and_the_address(site: Site) -> None:
    with open_page(site) as page:
        go(page, site, "/runs/run-2")
        assert len(shown(page)) == 50
        page.click("a[rel=next]")
        page.wait_for_url("**?page=2")
        assert len(shown(page)) == 17
        go(page, site, "/runs/run-2")
        page.check("input[value=failed]", force=True)
        page.wait_for_url("**?outcome=failed")
        assert shown(page) == ["case 1", "case 2", "sampled"]
        page.select_option("select[name=order]", "slowest")
        page.wait_for_url("**order=slowest")
        assert shown(page) == ["case 2", "case 1", "sampled"]
        page.fill("input[name=slower]", "2")
        page.keyboard.press("Enter")
        page.wait_for_url("**slower=2**")
        assert shown(page) == ["case 2"]
        assert "1 of 67 cases match" in page.locator("#found").inner_text()
        page.click("#clear")
        page.wait_for_url("**/runs/run-2")
        page.select_option("select[name=label]", "type: talk")
        page.wait_for_url("**label=**")
        assert shown(page) == ["sampled"]
        assert "2 of 5 samples" in page.locator("li.case").inner_text()


def test_without_its_script_every_page_works(site: Site) -> None:
    with open_page(site, java_script_enabled=False) as page:
        page.click("text=prices.py >> nth=0")
        page.fill("input[type=search]", '"reason 2"')
        page.click("form.filters button[type=submit]")
        assert shown(page) == ["case 2"]


def test_two_runs_are_chosen_and_compared(site: Site) -> None:
    with open_page(site) as page:
        assert page.locator("#compare-button").is_disabled()
        page.check("input[value=run-2]")
        page.check("input[value=run-0]")
        page.click("#compare-button")
        page.wait_for_url("**/compare/run-0/run-2")
        text = page.locator("main").inner_text()
        assert "McNemar" in text
        assert "Regression" in text
        page.click("text=Newly passing")
        page.wait_for_url("**kind=newly_passing")
        assert shown(page) == ["suite::case 3"]
        page.click("li.case a.id")
        assert page.locator(".sides-by-side .evidence").count() == 2


def test_a_page_that_is_open_shows_new_cases_without_a_reload(site: Site) -> None:
    folder = write_run(site.runs / "live", {"a": "P"}, is_finished=False, title="live.py")
    with open_page(site) as page:
        with RunWriter(folder) as writer:
            page.wait_for_selector("text=live.py")
            page.wait_for_selector(".badge.live")
            page.click("text=live.py")
            page.wait_for_selector("text=1 of 1 case passed")
            page.evaluate("() => { window.isTheSame = true; }")
            page.fill("input[name=slower]", "0.5")
            assert writer.wants(Unit("a", 0, "f", None)) is False
            unit = Unit("b <b>new</b>", 1, "f", None)
            assert writer.wants(unit)
            writer.add(unit, make_record(unit.id, "F"))
            page.wait_for_selector("text=1 of 2 cases passed")
            assert "b <b>new</b>" in shown(page)
            # What is being typed stays, and is no filter yet.
            assert page.input_value("input[name=slower]") == "0.5"
            writer.finish()
        page.wait_for_selector(".badge.live", state="detached")
        page.wait_for_selector(".badge.failed")
        assert page.evaluate("() => window.isTheSame")


def test_hostile_text_changes_nothing_in_a_page(site: Site) -> None:
    make_hostile_run(site.runs / "hostile")
    try:
        with open_page(site) as page:
            go(page, site, "/runs/hostile")
            page.wait_for_selector("li.case")
            keys = [one.get_attribute("href") or "" for one in page.locator("li.case a.id").all()]
            query = "?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E"
            paths = ["/", "/?q=<script>alert(1)</script>", "/runs/hostile", f"/runs/hostile{query}"]
            title = page.evaluate("() => document.title")
            for path in [*paths, *keys, "/compare/hostile/hostile"]:
                go(page, site, path)
                assert page.locator("img, iframe, object, embed, base").count() == 0
                assert page.locator("script").count() == 1
                assert page.locator("main b:text-is('bold')").count() == 0
                assert page.evaluate("() => document.querySelectorAll('[autofocus]').length") == 0
                inline = "() => [...document.querySelectorAll('*')].some(e => [...e.attributes]"
                assert not page.evaluate(f"{inline}.some(a => /^on|^style$/.test(a.name)))")
                hidden = "[\\u202a-\\u202e\\u2066-\\u2069\\u0000\\u001b\\u009b]"
                text = page.evaluate("() => document.documentElement.textContent")
                assert not re.search(hidden, text)
                width = page.evaluate("document.documentElement.scrollWidth")
                assert width <= WIDE["width"], path
            assert title.endswith(" · Assay")
    finally:
        (site.runs / "hostile" / MANIFEST).rename(site.runs / "hostile" / "gone")


def test_a_bundle_works_from_files_and_from_a_server(site: Site, tmp_path: Path) -> None:
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "assay", "view", str(site.runs), "--bundle", str(tmp_path / "b")],
        capture_output=True, text=True, check=True, timeout=PATIENCE,
    )  # fmt: skip
    assert "index.html" in done.stdout
    options: Any = {"viewport": NARROW}
    context = site.browser.new_context(**options)
    try:
        page = context.new_page()
        watch = Watch(page, (tmp_path / "b").as_uri())
        page.goto((tmp_path / "b/index.html").as_uri())
        page.click("text=prices.py >> nth=0")
        page.wait_for_selector("li.case")
        assert page.locator("li.case:visible").count() == 67
        page.fill("input[type=search]", '"REASON 2"')
        wait_until(lambda: shown(page) == ["case 2"])
        assert page.url.endswith("?q=%22REASON+2%22")
        page.fill("input[type=search]", "")
        page.check("input[value=failed]", force=True)
        page.select_option("select[name=order]", "slowest")
        wait_until(lambda: shown(page) == ["case 2", "case 1", "sampled"])
        page.reload()
        wait_until(lambda: shown(page) == ["case 2", "case 1", "sampled"])
        page.click("li.case:visible a")
        page.wait_for_selector(".evidence")
        page.keyboard.press("j")
        page.wait_for_url(f"**/{make_key('suite::case 3')}.html")
        page.keyboard.press("u")
        page.wait_for_selector("li.case")
        page.keyboard.press("c")
        page.wait_for_selector("text=McNemar")
        page.click("li.case a.id")
        page.wait_for_selector(".sides-by-side")
        if AXE.is_file():
            assert find_faults(page) == []
        watch.check()
    finally:
        context.close()
