"""A self-contained page of blocks: one file, no script, nothing loaded."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

from assay._version import __version__
from assay.reports.blocks import Block
from assay.reports.blocks_html import BlockLimits, page_style, render_blocks
from assay.reports.markup import Html, element, escape

_TEMPLATES = Path(__file__).parent / "templates"
_LIMITS = BlockLimits(total=5_000_000)


def hash_source(text: str) -> str:
    """Return a style or a script as the content security policy of its page names it."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def report_style() -> str:
    """Return the style sheet of a whole page."""
    return page_style() + (_TEMPLATES / "report.css").read_text("utf-8")


def render_page(title: str, verdict: str, tone: str, blocks: Iterable[Block]) -> str:
    """Return a page with a heading, a verdict in the colour of its tone, and blocks."""
    style = report_style()
    policy = (
        f"default-src 'none'; style-src '{hash_source(style)}'; base-uri 'none'; form-action 'none'"
    )
    header = element(
        "header",
        element("p", "Assay", class_="brand"),
        element("h1", title),
        element("p", verdict, class_="verdict"),
        class_=tone,
    )
    evidence = element("div", render_blocks(blocks, _LIMITS), class_="evidence")
    body = element("div", evidence, class_="card")
    footer = element("footer", f"Made by Assay {__version__}. This page loads nothing.")
    head = (
        element("meta", charset="utf-8"),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"{title} · Assay"),
        element("style", Html(style)),
    )
    page = element(
        "html",
        element("head", *head),
        element("body", header, element("main", body), footer),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n"
