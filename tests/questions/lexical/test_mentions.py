"""Pieces of code in prose: found, and told apart by their form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.lexical.mentions import CodeForm, mentions, read_mention


@pytest.mark.parametrize(
    ("code", "form", "name", "keywords"),
    [
        ("output_key", CodeForm.NAME, "output_key", ()),
        ("google.adk.runners.Runner", CodeForm.NAME, "google.adk.runners.Runner", ()),
        ("runner.run_async()", CodeForm.CALL, "runner.run_async", ()),
        ("Event(status='finished', partial=True)", CodeForm.CALL, "Event", ("status", "partial")),
        ("TypeAdapter(User).json_schema()", CodeForm.CALL, "TypeAdapter.json_schema", ()),
        ("extra='forbid'", CodeForm.KEYWORD, "extra", ()),
        (
            "ResumabilityConfig.is_resumable=True",
            CodeForm.KEYWORD,
            "ResumabilityConfig.is_resumable",
            (),
        ),
        ("--trace_to_cloud", CodeForm.FLAG, "--trace_to_cloud", ()),
        ("--port=8000", CodeForm.FLAG, "--port", ()),
        ("adk deploy cloud_run", CodeForm.COMMAND, "", ()),
        ("from pydantic import Field, BaseModel", CodeForm.IMPORT, "", ()),
        ("import a.b; import c", CodeForm.IMPORT, "", ()),
        ("async def callback(tool, args):", CodeForm.SIGNATURE, "", ()),
        ("{'price': 2}", CodeForm.LITERAL, "", ()),
        ("-1", CodeForm.LITERAL, "", ()),
        ("None", CodeForm.LITERAL, "", ()),
        ("enable_{t}=True", CodeForm.CODE, "", ()),
        ("user | {'name': 1}", CodeForm.CODE, "", ()),
        ("for x in y:", CodeForm.CODE, "", ()),
    ],
)
def test_a_piece_of_code_has_a_form(
    code: str, form: CodeForm, name: str, keywords: tuple[str, ...]
) -> None:
    found = read_mention(code)
    assert (found.form, found.name, found.keywords) == (form, name, keywords)


def test_quoted_and_spelled_names_are_found_in_order() -> None:
    text = "Set `auto_compact=True` on LlmAgent, call runner.run() or pass --force (e.g. twice)."
    assert [(one.code, one.quoted) for one in mentions(text)] == [
        ("auto_compact=True", True),
        ("LlmAgent", False),
        ("runner.run()", False),
        ("--force", False),
    ]


@pytest.mark.parametrize(
    "text", ["The agent name.", "It is enabled by default, i.e. always.", "Save audio/video blobs."]
)
def test_plain_words_are_no_code(text: str) -> None:
    assert mentions(text) == ()


@given(st.text(max_size=300))
def test_any_text_has_mentions_that_lie_in_it(text: str) -> None:
    for one in mentions(text):
        assert 0 <= one.start < one.end <= len(text)
        assert one.code in text
