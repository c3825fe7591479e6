"""Reports in a real browser: wide and narrow, light and dark, by keyboard, with hostile text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.reports import render_page, write_report
from assay.runs import Run
from tests.browser import Watch, find_faults, needs_axe, needs_browser, start_browser
from tests.reports.conftest import HOSTILE, Make
from tests.reports.test_blocks import every_block
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = needs_browser

OLD = Path(__file__).parent.parent / "runs" / "old_runs" / "linked"
WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 400, "height": 800}
LONG = "x" * 1_000_000
_UNFOLD = "document.querySelectorAll('details').forEach(one => { one.open = true })"
_OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def long_run(make: Make) -> Run:
    """Lines of a megabyte in every place that text from a case can be."""
    results = (
        make.result(f"output {LONG}", False, LONG, LONG[:-1] + "y", diff=LONG),
        make.result("lines", False, f"a\n{LONG}\n", f"b\n{LONG}y\n"),
        make.result("table", False, [{"a": LONG, "b": 1}], [{"a": LONG + "y", "b": 1}]),
        make.result("json", False, {"key": LONG}, {"key": LONG + "y"}),
    )
    report = make.report(*results, group=LONG, case={"key": LONG})
    return make.run(
        [make.record(f"case {LONG}", "failed", reports=[report], reason=LONG, code=LONG)],
        name="long",
    )


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with start_browser() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """The HTML report of a run of every kind."""
    folder = tmp_path_factory.mktemp("pages")
    make = Make(folder / "runs")
    runs = {
        "hostile": make.hostile_run(),
        "long": long_run(make),
        "mixed": make.run(
            [
                make.record("good one"),
                make.record("bad one", "failed"),
                make.record("open one", "unverified"),
            ],
            name="mixed",
        ),
        **{name: Run(OLD / name) for name in ("agents", "questions", "submissions")},
    }
    written = {}
    for name, run in runs.items():
        written[name] = folder / f"{name}.html"
        write_report(run, "html", written[name])
        run.close()
    yield written
    make.close()


@contextmanager
def open_page(browser: Browser, path: Path, anchor: str = "", **options: Any) -> Iterator[Page]:
    """Open a report from disk; whatever a page must not do fails the test."""
    context = browser.new_context(**{"viewport": WIDE, **options})
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    watch = Watch(page, path.as_uri())
    try:
        page.goto(f"{path.as_uri()}{anchor}")
        yield page
        watch.check()
    finally:
        context.close()


VIEWS = [
    pytest.param({"viewport": WIDE, "color_scheme": "light"}, id="wide and light"),
    pytest.param({"viewport": NARROW, "color_scheme": "dark"}, id="narrow and dark"),
]
NAMES = ("hostile", "long", "mixed", "agents", "questions", "submissions")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", NAMES)
def test_a_report_fits_its_window_and_does_nothing_else(
    browser: Browser, pages: dict[str, Path], name: str, view: dict[str, Any]
) -> None:
    with open_page(browser, pages[name], "#<img src=x onerror=alert(1)>", **view) as page:
        assert page.locator("details.case").count() > 0
        page.evaluate(_UNFOLD)
        assert page.evaluate(_OVERFLOW) == 0
        assert page.locator("img, iframe, object, script:not(:last-of-type)").count() == 0
        assert "49" not in page.locator("h1").inner_text()


@needs_axe
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_serious_fault(
    browser: Browser, pages: dict[str, Path], name: str, view: dict[str, Any]
) -> None:
    # axe-core is a script of the test: the policy of the page would rightly refuse it.
    with open_page(browser, pages[name], bypass_csp=True, **view) as page:
        page.evaluate(_UNFOLD)
        assert find_faults(page) == []


def test_the_address_filters_by_outcome(browser: Browser, pages: dict[str, Path]) -> None:
    def shown(page: Page) -> list[str]:
        sections = page.locator("main > section:visible")
        return [str(one.get_attribute("id")) for one in sections.all()]

    with open_page(browser, pages["hostile"], "#<img src=x onerror=alert(1)>") as page:
        assert shown(page) == ["failed", "error", "passed"]
        assert page.locator("details.case").count() == 5
    with open_page(browser, pages["mixed"], "#failed") as page:
        assert shown(page) == ["failed"]
        current = page.locator("nav a[aria-current]").all()
        assert [one.get_attribute("href") for one in current] == ["#failed"]
        assert page.locator("#tools").is_visible()


@pytest.mark.parametrize("view", VIEWS)
def test_a_page_of_blocks_fits_its_window(
    browser: Browser, tmp_path: Path, view: dict[str, Any]
) -> None:
    path = tmp_path / "page.html"
    path.write_text(render_page(HOSTILE, HOSTILE, "failed", every_block(HOSTILE)), "utf-8")
    with open_page(browser, path, **view) as page:
        page.evaluate(_UNFOLD)
        assert page.evaluate(_OVERFLOW) == 0
        assert page.locator("script, img").count() == 0


def test_light_and_dark_are_what_the_reader_prefers(
    browser: Browser, pages: dict[str, Path]
) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        with open_page(browser, pages["mixed"], color_scheme=scheme) as page:
            colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(colours) == 2


def test_a_report_can_be_read_with_a_keyboard_alone(
    browser: Browser, pages: dict[str, Path]
) -> None:
    def focused() -> str:
        return str(page.evaluate("document.activeElement.innerText || document.activeElement.id"))

    def tab_to(text: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            if text in focused():
                return
        raise AssertionError(f"{text!r} is not reached by Tab")

    with open_page(browser, pages["mixed"]) as page:
        tab_to("Failed")
        page.keyboard.press("Enter")
        page.wait_for_function("location.hash === '#failed'")
        assert page.locator("main > section:visible").count() == 1
        tab_to("search")
        page.keyboard.type("nothing like it")
        page.locator("#nothing").wait_for(state="visible")
        page.keyboard.press("Control+a")
        page.keyboard.type("bad")
        page.locator("#nothing").wait_for(state="hidden")
        tab_to("bad one")
        page.keyboard.press("Enter")
        assert page.locator("details.case[open] .panel.failed").is_visible()
        # A long value is scrolled with the arrow keys, so it takes the focus.
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") in ("PRE", "DIV", "SUMMARY")


def test_without_scripts_everything_can_be_read(browser: Browser, pages: dict[str, Path]) -> None:
    with open_page(browser, pages["mixed"], java_script_enabled=False) as page:
        page.locator("summary", has_text="bad one").click()
        assert page.locator("details.case[open] .panel.failed").is_visible()
        assert page.locator("#tools").is_hidden()


def test_hostile_text_is_seen_as_it_was_written(browser: Browser, pages: dict[str, Path]) -> None:
    with open_page(browser, pages["hostile"]) as page:
        page.locator("details.case > summary").first.click()
        text = page.locator("details.case[open]").first.inner_text()
        assert "<script>alert(1)</script>" in text
        assert "{{ 7*7 }}" in text
        assert not set(text) & set("\x1b\u202e\u2066")
        assert page.title().count("<") == 0
        assert HOSTILE.split(" ", 1)[0] in page.content().replace("&lt;", "<").replace("&gt;", ">")
