"""The examples of docs/connections.md run, and every connection is described there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import KINDS, Settings
from assay.agents.connections.template import PLACEHOLDERS
from assay.model import Outcome
from tests.agents.holding import Says, held, texts
from tests.agents.running_support import run_file
from tests.agents.scripted_server import Request, ScriptedServer, Wire

PAGE = (Path(__file__).parents[3] / "docs" / "connections.md").read_text()
_, FUNCTION, CONNECTION = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_connection_and_what_it_returns_is_in_the_table() -> None:
    rows = {
        row[0].split("`")[1]: set(row[-1].split(", "))
        for row in (
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in PAGE.splitlines()
            if line.startswith("| `")
        )
        if len(row) == 4
    }
    assert rows == {name: set(kind.returns) for name, kind in KINDS.items()}


def test_the_function_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "assay_docs_agent.py").write_text(FUNCTION)
    monkeypatch.syspath_prepend(str(tmp_path))
    conversation = held(
        "python",
        Settings("assay_docs_agent:answer"),
        Says("hi"),
        Says("a", {"user": "ada"}),
        Says("b"),
    )
    assert texts(conversation) == ["Who are you?", "That was question 2.", "That was question 3."]
    assert conversation.replies[2].answer.sly_data == {"seen": True}


def test_the_connection_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.agents.connections.registry.KINDS", dict(KINDS))
    space: dict[str, Any] = {"__name__": "docs"}
    exec(compile(CONNECTION, "connections.md", "exec"), space)
    conversation = held("mirror", Settings("echo"), Says("a"), Says("b"))
    assert texts(conversation) == ["echo heard 1", "echo heard 2"]
    assert held("mirror", Settings("echo"), Says("")).reason == "there was nothing to say"


def test_the_described_api_of_the_page(tmp_path: Path) -> None:
    example, _ = re.findall(r"```hocon\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "test.hocon"
    path.write_text(example)

    async def script(request: Request, wire: Wire) -> None:
        assert request.path == "/v1/agents/support/messages"
        said = request.body["message"]["text"]
        told = {"messages": [{"content": "no"}, {"content": said}], "session": {"id": "s1"}}
        await wire.status(200, json.dumps(told).encode())

    with ScriptedServer(script) as server:
        (record,) = run_file(path, server)
    assert record.outcome is Outcome.PASSED, record.reason


def test_every_placeholder_is_on_the_page() -> None:
    assert [name for name in PLACEHOLDERS if f"`{{{{{name}}}}}`" not in PAGE] == []
