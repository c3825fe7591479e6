"""Pieces of code in prose: found, and told apart by their form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.provers.introspection.reading import Form, mentions
from assay.questions.provers.introspection.reading.mentions import read_mention


@pytest.mark.parametrize(
    ("code", "form", "name", "keywords"),
    [
        ("output_key", Form.NAME, "output_key", ()),
        ("google.adk.runners.Runner", Form.NAME, "google.adk.runners.Runner", ()),
        ("runner.run_async()", Form.CALL, "runner.run_async", ()),
        ("Event(status='finished', partial=True)", Form.CALL, "Event", ("status", "partial")),
        ("TypeAdapter(User).json_schema()", Form.CALL, "TypeAdapter.json_schema", ()),
        ("extra='forbid'", Form.KEYWORD, "extra", ()),
        (
            "ResumabilityConfig.is_resumable=True",
            Form.KEYWORD,
            "ResumabilityConfig.is_resumable",
            (),
        ),
        ("--trace_to_cloud", Form.FLAG, "--trace_to_cloud", ()),
        ("--port=8000", Form.FLAG, "--port", ()),
        ("adk deploy cloud_run", Form.COMMAND, "", ()),
        ("from pydantic import Field, BaseModel", Form.IMPORT, "", ()),
        ("import a.b; import c", Form.IMPORT, "", ()),
        ("async def callback(tool, args):", Form.SIGNATURE, "", ()),
        ("{'price': 2}", Form.LITERAL, "", ()),
        ("-1", Form.LITERAL, "", ()),
        ("None", Form.LITERAL, "", ()),
        ("enable_{t}=True", Form.CODE, "", ()),
        ("user | {'name': 1}", Form.CODE, "", ()),
        ("for x in y:", Form.CODE, "", ()),
    ],
)
def test_a_piece_of_code_has_a_form(
    code: str, form: Form, name: str, keywords: tuple[str, ...]
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
