"""Blocks as HTML: everything is escaped, nothing is endless, and what is left out is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.reports import (
    Badge,
    Block,
    BlockLimits,
    Cell,
    Code,
    Diff,
    Facts,
    Figure,
    Fold,
    Heading,
    Panel,
    Paragraph,
    Sides,
    Table,
    Turn,
    draw_strip,
    element,
    page_style,
    render_blocks,
    render_page,
)
from tests.reports.conftest import HOSTILE
from tests.reports.pages import Page

LIMITS = BlockLimits()


def every_block(text: str) -> list[Block]:
    """One of each kind of block, with a text wherever it can have one."""
    said: list[Block] = [Paragraph(text, is_verbatim=True)]
    return [
        Heading(text, text),
        Paragraph(text, "failed"),
        Paragraph(f"```python\n{text}\n```\nand `{text}`"),
        *said,
        Code(text, "python", text, "error"),
        Code(text, text),
        Facts([(text, text)]),
        Sides([(text, said), (text, said)]),
        Diff(f"{text}\na\n{text}", f"{text}\nb\n{text}x"),
        Table([text], [[text], [Cell(text, "failed", True)]], text, has_labels=True),
        Figure(draw_strip(["passed"], title=text), text),
        Panel(text, said, "passed", [Badge(text, "error")], text),
        Fold(text, said, "failed", [Badge(text)], text, is_open=True),
        Turn(text, "agent", said, said, text),
    ]


def render(blocks: Iterable[Block], limits: BlockLimits = LIMITS) -> tuple[str, Page]:
    html = render_blocks(blocks, limits, "More: see the file.")
    page = Page(html)
    assert (page.open, page.unbalanced) == ([], [])
    return html, page


@pytest.mark.parametrize("text", [HOSTILE, "</pre></code><script>alert(1)</script>", "\ud800 \x00"])
def test_hostile_text_in_every_block_is_only_text(text: str) -> None:
    html, page = render(every_block(text))
    names = {name for name, _ in page.elements}
    assert not names & {"script", "img", "style", "a", "iframe"}
    attributes = {name for _, given in page.elements for name in given}
    assert not attributes & {"style", "src", "href", "onerror", "onclick"}
    assert not set(html) & set("\x00\x1b\x07\x9b\u202e\u2066\u2028\ufeff\r\ud800")
    assert "49" not in html


@given(st.text())
def test_whatever_a_text_is_the_elements_stay_balanced(text: str) -> None:
    render(every_block(text))


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_verbatim_text_is_read_back_as_it_was(text: str) -> None:
    from assay.escaping import escape_hidden

    page = render([Code(text), Paragraph(text, is_verbatim=True)])[1]
    told = page.texts.get("pre", [])
    # A browser drops the newline after `<pre>`; this parser does not.
    assert "".join(told).removeprefix("\n") == escape_hidden(text)
    assert "".join(page.texts.get("p", [])) == escape_hidden(text)


@pytest.mark.parametrize("language", ["python", "json", "yaml", "diff", "", "no such language"])
@given(text=st.text(st.sampled_from("ab01 \n\t\"'#`{}[]:,.=()<>&\\\x1b\u202e\r"), max_size=80))
def test_colours_change_nothing_about_code(language: str, text: str) -> None:
    from assay.escaping import escape_hidden

    page = render([Code(text, language)])[1]
    told = "".join(part for name in ("pre", "span") for part in page.texts.get(name, []))
    assert sorted(told) == sorted("\n" + escape_hidden(text))


def test_code_is_coloured_by_its_tokens() -> None:
    page = render([Code("def f():\n    return 'x'  # why\n", "python")])[1]
    classes = [given["class"] for given in page.all("span")]
    assert classes == ["tok-keyword", "tok-name", "tok-keyword", "tok-string", "tok-comment"]


def test_code_in_prose_is_shown_as_code() -> None:
    html, page = render([Paragraph("Which of `a` and `b`?\n```python\nimport a\n```\nSay.")])
    assert page.texts["code"] == ["a", "b"]
    assert "tok-keyword" in html
    assert len(page.all("p")) == 2


@pytest.mark.parametrize("block", every_block("A" * 1_000_000))
def test_a_line_of_a_megabyte_is_cut_and_the_rest_is_counted(block: Block) -> None:
    html, _ = render([block])
    assert len(html) < 150_000
    assert "more character" in html


def test_the_whole_is_bounded_and_says_so_once() -> None:
    limits = BlockLimits(total=10_000)
    html, _ = render([Fold("x", [Code("a" * 900) for _ in range(50)]) for _ in range(50)], limits)
    assert len(html) < 25_000
    assert html.count("The rest of this case is left out here. More: see the file.") == 1


def test_what_is_left_out_is_not_even_made() -> None:
    made = 0

    def several() -> Iterator[Block]:
        nonlocal made
        for _ in range(100_000):
            made += 1
            yield Code("a" * 100)

    render([Fold("x", several())], BlockLimits(total=10_000))
    assert made < 200


def test_a_long_table_and_a_long_diff_are_cut() -> None:
    rows = [[str(number)] for number in range(1_000)]
    html, page = render([Table(["n"], rows), Diff("a\n" * 2_000, "b\n" * 2_000)], LIMITS)
    assert "… 800 more rows" in html
    assert "more lines are left out" in html
    assert len(page.all("tr")) < 800


def test_a_diff_marks_what_differs_in_a_line() -> None:
    html, page = render([Diff("total: 3.5\n", "total: 3.25\n")])
    assert page.texts["ins"] == ["2"]
    assert "del" not in page.texts
    # A sign as well as a colour.
    assert "1\u2212" in html
    assert "1+" in html


def test_a_missing_newline_is_seen() -> None:
    page = render([Diff("a\nb\n", "a\nb")])[1]
    assert page.texts["del"] == ["↵"]


@pytest.mark.parametrize("name", ["passed", "failed", "error", "unverified", "quiet", "accent"])
def test_every_tone_has_a_rule_for_badges(name: str) -> None:
    assert f".badge.{name}" in page_style()


def test_the_style_has_the_classes_that_are_written() -> None:
    html = render(every_block("x"))[0]
    page = Page(html)
    classes = {name for _, given in page.elements for name in (given.get("class") or "").split()}
    style = page_style()
    # What an agent says looks like any other text.
    unknown = {name for name in classes - {"agent"} if f".{name}" not in style}
    assert unknown == set()


def test_a_page_of_blocks_is_complete_in_itself() -> None:
    page = Page(render_page(HOSTILE, HOSTILE, "failed", every_block(HOSTILE)))
    assert (page.open, page.unbalanced) == ([], [])
    [policy] = [one["content"] for one in page.all("meta") if "http-equiv" in one]
    assert (policy or "").startswith("default-src 'none'; style-src 'sha256-")
    assert "script-src" not in (policy or "")
    assert page.all("script") == page.all("img") == page.all("link") == []


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ({"class_": "a", "aria_label": '"<'}, '<p class="a" aria-label="&quot;&lt;">'),
        ({"hidden": True, "open": False, "id": None}, "<p hidden>"),
        ({"x": 0, "y": 1.5}, '<p x="0" y="1.5">'),
    ],
)
def test_attributes_are_escaped_and_may_be_left_out(given: dict[str, Any], written: str) -> None:
    assert element("p", "<&", **given) == f"{written}&lt;&amp;</p>"
