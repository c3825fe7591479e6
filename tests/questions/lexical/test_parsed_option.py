"""Options: one piece of code, a list, or prose that names things, perhaps to deny them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.lexical.mentions import CodeForm
from assay.questions.lexical.parsed_question import parse_option


@pytest.mark.parametrize(
    ("text", "form", "code"),
    [
        ("`model_dump`", CodeForm.NAME, "model_dump"),
        ("model_dump", CodeForm.NAME, "model_dump"),
        ("LoggingPlugin.", CodeForm.NAME, "LoggingPlugin"),
        ("The `Runner`.", CodeForm.NAME, "Runner"),
        ("from google.adk import Runner", CodeForm.IMPORT, "from google.adk import Runner"),
        ("--service", CodeForm.FLAG, "--service"),
        ("Event(content=..., partial=False)", CodeForm.CALL, "Event(content=..., partial=False)"),
        ("```python\nprint(1)\n```", CodeForm.CALL, "print(1)"),
        ("42", CodeForm.LITERAL, "42"),
    ],
)
def test_an_option_that_is_code_is_read_as_a_whole(text: str, form: CodeForm, code: str) -> None:
    whole = parse_option("A", text).whole
    assert whole is not None
    assert (whole.form, whole.code) == (form, code)


@pytest.mark.parametrize(
    "text",
    [
        "Tool selection.",
        "It raises `ValueError`.",
        "Set `a=1` on `B`.",
        "LoggingPlugin (or others)",
    ],
)
def test_prose_is_not(text: str) -> None:
    assert parse_option("A", text).whole is None


@pytest.mark.parametrize(
    "text",
    [
        "Do not use `FastPlugin`.",
        "`FastPlugin` was removed.",
        "Without the `FastPlugin`.",
        "Anything instead of `FastPlugin`.",
        "It doesn't need a `FastPlugin`.",
        "Either `SlowPlugin` or `FastPlugin`.",
        "`SlowPlugin`, or alternatively `FastPlugin`",
    ],
)
def test_what_may_be_denied_is_not_named(text: str) -> None:
    assert parse_option("A", text).named == ()


@pytest.mark.parametrize("text", ["Write a custom `FastPlugin`.", "Pass your `FastPlugin`."])
def test_what_is_to_be_written_is_not_named(text: str) -> None:
    assert parse_option("A", text).named == ()


@given(st.text(max_size=300))
def test_any_option_is_read(text: str) -> None:
    assert parse_option("A", text).letter == "A"
