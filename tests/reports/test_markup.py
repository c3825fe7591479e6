"""Text from cases inside Markdown: read back by the rules of CommonMark, it is what it was."""

from __future__ import annotations

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from assay.reports import cell, code_block, code_span, html_code

lines = st.text(st.sampled_from("`` |\\<>a*_@&#~[]! ") | st.characters(codec="utf-8"), min_size=1)
line = lines.map(lambda text: re.sub(r"[\x00-\x1f\x85\u2028\u2029]", "", text) or "x")
blocks = st.lists(line | st.sampled_from(["```", "`````", "~~~", "</details>"]), min_size=1)


def read_code_span(markdown: str) -> str:
    """The text of a code span: the marks, then (if both are there) a space on each side."""
    found = re.fullmatch(r"(`+)(?!`)(.*)(?<!`)\1", markdown, re.DOTALL)
    assert found is not None
    marks, text = found[1], found[2]
    assert marks not in re.findall("`+", text), "a run of the same length would end it"
    is_padded = text[:1] == text[-1:] == " " and text.strip(" ") != ""
    return text[1:-1] if is_padded else text


@given(line)
def test_a_code_span_says_what_the_text_says(text: str) -> None:
    assert read_code_span(code_span(text)) == text


def test_nothing_is_said_to_be_nothing() -> None:
    assert code_span("") == "*(empty)*"
    assert code_span("  ") == "`  `"


@given(line)
def test_a_cell_has_no_bar_of_its_own(text: str) -> None:
    markdown = cell(text)
    assert re.search(r"(?<!\\)\|", markdown) is None
    assert read_code_span(markdown).replace("\\|", "|") == text


@given(blocks)
def test_no_line_ends_a_block_of_code(texts: list[str]) -> None:
    text = "\n".join(texts)
    first, *inner, last = code_block(text, "diff").rstrip("\n").split("\n")
    assert first == f"{last}diff"
    assert set(last) == {"`"}
    assert not any(re.fullmatch(rf" {{0,3}}`{{{len(last)},}}\s*", entry) for entry in inner)
    assert "\n".join(inner) == text


@given(line)
def test_code_in_html_has_no_markup_of_its_own(text: str) -> None:
    found = re.fullmatch("<code>([^<>\"']*)</code>", html_code(text), re.DOTALL)
    assert found is not None
    assert html.unescape(found[1]) == text
