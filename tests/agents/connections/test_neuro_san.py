"""Tests against the real neuro-san, as a server and as a library, with a scripted model behind.

The conversations are those of public test files; where these or the library are not to be had,
the tests are skipped and say why.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import Settings
from assay.agents.conversation import Conversation, Ending
from tests.agents.environments import ROOT, NotHere
from tests.agents.holding import Says, held, texts
from tests.agents.neuro_san_environment import NeuroSan, neuro_san, server
from tests.agents.scripted_server import Request, ScriptedServer, Wire
from tests.waiting import PATIENCE

# Where the public test files lie; beside the project unless the variable names another folder.
DATA = Path(os.environ.get("ASSAY_AGENT_FILES", ROOT.parent / "shared" / "data" / "agents"))
MUSIC = "music_nerd/beatles_with_history.hocon"
MUSIC_PRO = "music_nerd_pro/combination_responses_with_history_http.hocon"
MATH = "math_guy/basic_sly_data.hocon"


def _reply(messages: list[dict[str, Any]], tools: list[str]) -> dict[str, Any]:
    """A model that knows two facts, and calls the tool of an agent that has one."""
    last = messages[-1]
    if tools and last["role"] == "user":
        return {"tool": tools[0], "arguments": _arguments(tools[0], messages)}
    if last["role"] == "tool" and "calculator" in tools[0]:
        return {"text": str(last["content"])}
    said = " ".join(str(each["content"]) for each in messages if each["role"] == "user")
    fact = "They are from Liverpool" if "Where" in said.rsplit("?", 2)[-2] else "The Beatles"
    if "Yellow Submarine" not in said:
        return {"text": "Who do you mean?"}
    if last["role"] == "tool":
        cost = re.findall(r"[0-9.]+", str(last["content"]))[-1]
        return {"text": json.dumps({"answer": fact, "running_cost": float(cost)})}
    return {"text": fact}


def _arguments(tool: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    if "calculator" in tool:
        return {"operator": messages[-1]["content"]}
    questions = [each for each in messages if each["role"] == "user"]
    return {"running_cost": 3.0 * (len(questions) - 1)}


async def model(request: Request, wire: Wire) -> None:
    """The scripted model, over the protocol of OpenAI."""
    tools = [each["function"]["name"] for each in request.body.get("tools", [])]
    reply = _reply(request.body["messages"], tools)
    said: dict[str, Any] = {"role": "assistant", "content": reply.get("text")}
    if "tool" in reply:
        function = {"name": reply["tool"], "arguments": json.dumps(reply["arguments"])}
        said["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    choice = {"index": 0, "message": said, "finish_reason": "stop"}
    body = {"id": "1", "object": "chat.completion", "model": "gpt-4o", "choices": [choice]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    await wire.status(200, json.dumps({**body, "usage": usage}).encode())


def interactions(name: str) -> list[dict[str, Any]]:
    """What a public test file says to its agent."""
    import hocon

    found: Any = hocon.parse_file(str(DATA / name)).to_object()
    return [
        {"text": each["text"], "sly_data": each.get("sly_data"), "timeout": 60.0}
        for each in found["interactions"]
    ]


@pytest.fixture(scope="module")
def library() -> NeuroSan:
    if not DATA.is_dir():
        pytest.skip(f"the public test files are not at {DATA} (set ASSAY_AGENT_FILES)")
    try:
        return neuro_san()
    except NotHere as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def variables(
    library: NeuroSan, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    with ScriptedServer(model) as served:
        yield library.variables(tmp_path_factory.mktemp("networks"), served.port)


@pytest.fixture(scope="module")
def port(
    library: NeuroSan, variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    with server(library, variables, tmp_path_factory.mktemp("server")) as port:
        yield port


def over_http(port: int, agent: str, name: str) -> Conversation:
    settings = Settings(agent, host="127.0.0.1", port=port)
    return held("http", settings, *(Says(**each) for each in interactions(name)))


def test_a_conversation_with_the_real_server(port: int) -> None:
    conversation = over_http(port, "music_nerd", MUSIC)
    assert conversation.ending is Ending.COMPLETE, conversation.reason
    assert texts(conversation) == ["The Beatles", "They are from Liverpool"]


def test_structure_from_the_real_server(port: int) -> None:
    conversation = over_http(port, "music_nerd_pro", MUSIC_PRO)
    assert [reply.answer.structure for reply in conversation.replies] == [
        {"answer": "The Beatles", "running_cost": 3.0},
        {"answer": "They are from Liverpool", "running_cost": 6.0},
    ], conversation.reason


def test_private_data_from_the_real_server(port: int) -> None:
    (reply,) = over_http(port, "math_guy", MATH).replies
    assert reply.answer.sly_data == {"equals": 19481.0}


def test_the_real_server_knows_no_such_agent(port: int) -> None:
    settings = Settings("deep/no_such_agent", host="127.0.0.1", port=port)
    conversation = held("http", settings, Says("hi"))
    assert conversation.ending is Ending.OUTAGE
    assert "status 404" in str(conversation.reason)


def test_direct_gives_what_the_server_gives(
    library: NeuroSan, variables: dict[str, str], tmp_path: Path
) -> None:
    asked = [
        ("music_nerd", interactions(MUSIC)),
        ("music_nerd_pro", interactions(MUSIC_PRO)),
        ("math_guy", interactions(MATH)),
        ("no_such_agent", [{"text": "hi"}]),
        ("music_nerd", [{"text": "Yellow Submarine?", "timeout": 0.0001}]),
    ]
    done = subprocess.run(
        [library.python, "-m", "tests.agents.held_inside", "direct"],
        input=json.dumps(asked),
        env=variables,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    music, pro, maths, unknown, slow = told["results"]
    for sample in music:
        assert sample["ending"] == "complete", sample
        assert [each["text"] for each in sample["answers"]] == [
            "The Beatles",
            "They are from Liverpool",
        ]
    for sample in pro:
        costs = [each["structure"]["running_cost"] for each in sample["answers"]]
        assert costs == [3.0, 6.0]
    for sample in maths:
        assert sample["answers"][0]["sly_data"] == {"equals": 19481.0}
    assert {sample["ending"] for sample in unknown} == {"outage"}
    assert "no session for this agent" in unknown[0]["reason"]
    assert {sample["ending"] for sample in slow} == {"too slow"}
    # The first test pays for the library; with its factory kept, the next ones cost little.
    assert told["cpu"][1] < told["cpu"][0] / 2
