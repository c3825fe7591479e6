"""Tests of the reading of streams: lines survive any cut, and no line grows without end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.connections import web
from assay.agents.connections.neuro_san import FrameReader, parse_frame
from assay.agents.connections.protocol import ConnectionFailed
from assay.agents.connections.web import LineSplitter
from tests.conftest import json_values


@given(st.lists(st.dictionaries(st.text(), json_values, max_size=3), max_size=5), st.data())
def test_frames_survive_any_cut_of_the_stream(sent: list[dict[str, Any]], data: Any) -> None:
    stream = b"".join(json.dumps(frame).encode() + b"\n" for frame in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    lines, received = LineSplitter(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        received += [parse_frame(line) for line in lines.feed(stream[start:end])]
    assert received == sent
    assert lines.take_rest() == b""


def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "_LONGEST_LINE", 1000)
    lines = LineSplitter()
    for _ in range(1000):
        assert list(lines.feed(b"x")) == []
    with pytest.raises(ConnectionFailed, match="more than"):
        list(lines.feed(b"x"))


def test_a_line_nested_too_deep_is_an_outage() -> None:
    with pytest.raises(ConnectionFailed, match="not JSON"):
        parse_frame(b"[" * 200_000)


@given(json_values)
def test_whatever_a_server_sends_is_an_answer_or_an_outage(value: Any) -> None:
    reader = FrameReader()
    kinds = ("AI", "AGENT_FRAMEWORK", 4, 101)
    try:
        for kind in kinds:
            for key in ("text", "structure", "origin", "chat_context", "sly_data"):
                reader.take({"response": {"type": kind, "text": "t", key: value}})
        reader.take({"response": value})
        answer = reader.make_answer()
    except ConnectionFailed:
        return
    assert answer.text is None or isinstance(answer.text, str)
    assert answer.sly_data is None or isinstance(answer.sly_data, dict)
