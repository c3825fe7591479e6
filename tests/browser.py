"""A real browser for tests: what it is started with, and what watches its pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium or google-chrome on PATH")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(__file__).parents[1] / ".venv" / "node" / "node_modules" / "axe-core" / "axe.min.js"
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
needs_axe = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not installed; `make browser` does it with npm"
)


@contextmanager
def start_browser() -> Iterator[Browser]:
    """Start the browser of this machine without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Watch:
    """What a page did that no page may: complaints, windows, requests to elsewhere."""

    def __init__(self, page: Page, origin: str) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._origin = origin
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", self._dismiss)
        page.on("popup", lambda other: self.complaints.append(f"a window: {other.url}"))
        page.on("request", lambda request: self.requests.append(request.url))

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"{message.type}: {message.text}")

    def _dismiss(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def check(self) -> None:
        """Assert that nothing of it happened, and that requests went to the page's own origin."""
        assert not self.complaints, self.complaints
        elsewhere = [one for one in self.requests if not one.startswith(self._origin)]
        assert elsewhere == []
        assert self.requests


def find_faults(page: Page) -> list[str]:
    """Return the serious faults of accessibility that axe-core finds in a page."""
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate(f"() => axe.run(document, {{runOnly: {_RULES}, preload: false}})")
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]
