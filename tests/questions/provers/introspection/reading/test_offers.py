"""Options: one piece of code, a list, or prose that names things, perhaps to deny them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.provers.introspection.reading import Form, read_offer


@pytest.mark.parametrize(
    ("text", "form", "code"),
    [
        ("`model_dump`", Form.NAME, "model_dump"),
        ("model_dump", Form.NAME, "model_dump"),
        ("LoggingPlugin.", Form.NAME, "LoggingPlugin"),
        ("The `Runner`.", Form.NAME, "Runner"),
        ("from google.adk import Runner", Form.IMPORT, "from google.adk import Runner"),
        ("--service", Form.FLAG, "--service"),
        ("Event(content=..., partial=False)", Form.CALL, "Event(content=..., partial=False)"),
        ("```python\nprint(1)\n```", Form.CALL, "print(1)"),
        ("42", Form.LITERAL, "42"),
    ],
)
def test_an_option_that_is_code_is_read_as_a_whole(text: str, form: Form, code: str) -> None:
    whole = read_offer("A", text).whole
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
    assert read_offer("A", text).whole is None


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
    assert read_offer("A", text).named == ()


@pytest.mark.parametrize("text", ["Write a custom `FastPlugin`.", "Pass your `FastPlugin`."])
def test_what_is_to_be_written_is_not_named(text: str) -> None:
    assert read_offer("A", text).named == ()


@given(st.text(max_size=300))
def test_any_option_is_read(text: str) -> None:
    assert read_offer("A", text).option == "A"
