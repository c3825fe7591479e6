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
from assay.agents.sampling.conversation import Conversation, ConversationEnd
from tests.agents.environments import ROOT, NotHere
from tests.agents.holding import Says, held, texts
from tests.agents.neuro_san_environment import NeuroSan, neuro_san, server
from tests.agents.scripted_server import Request, ScriptedServer, Wire, answer
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
    assert conversation.ending is ConversationEnd.COMPLETE, conversation.reason
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
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "status 404" in str(conversation.reason)


def test_a_conversation_over_the_mcp_endpoint_of_the_real_server(port: int) -> None:
    settings = Settings("music_nerd", host="127.0.0.1", port=port)
    conversation = held("mcp", settings, *(Says(**each) for each in interactions(MUSIC)))
    assert conversation.ending is ConversationEnd.COMPLETE, conversation.reason
    assert texts(conversation) == ["The Beatles", "They are from Liverpool"]


def test_structure_over_the_mcp_endpoint_of_the_real_server(port: int) -> None:
    settings = Settings("music_nerd_pro", host="127.0.0.1", port=port)
    conversation = held("mcp", settings, *(Says(**each) for each in interactions(MUSIC_PRO)))
    assert [reply.answer.structure for reply in conversation.replies] == [
        {"answer": "The Beatles", "running_cost": 3.0},
        {"answer": "They are from Liverpool", "running_cost": 6.0},
    ], conversation.reason


def test_private_data_reaches_the_agent_over_the_mcp_endpoint(port: int) -> None:
    """The server's MCP endpoint gives none back, and escapes the text for HTML, which is undone."""
    settings = Settings("math_guy", host="127.0.0.1", port=port)
    (reply,) = held("mcp", settings, *(Says(**each) for each in interactions(MATH))).replies
    assert reply.answer.text == "Check sly_data['equals'] for the result"
    assert reply.answer.sly_data is None


def test_the_mcp_endpoint_of_the_real_server_knows_no_such_agent(port: int) -> None:
    settings = Settings("no_such_agent", host="127.0.0.1", port=port)
    conversation = held("mcp", settings, Says("hi"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert conversation.lasting
    assert "no tool of the agent's name" in str(conversation.reason)


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
    # The first sample of an agent pays for the library; the others share what it made.
    made = told["sessions"]
    assert {agent: made[agent] for agent in ("music_nerd", "music_nerd_pro", "math_guy")} == {
        "music_nerd": 1,
        "music_nerd_pro": 1,
        "math_guy": 1,
    }


def heard(request: Request) -> dict[str, Any]:
    """What of a request is said to differ, or not, from what Assay sends."""
    return {"text": request.body["user_message"]["text"], "sly": request.body.get("sly_data")}


def test_the_notes_on_neuro_san_are_what_its_own_driver_does(
    library: NeuroSan, tmp_path: Path
) -> None:
    """docs/coming-from-neuro-san.md says what passes there; here it is tried, rule by rule."""

    async def script(request: Request, wire: Wire) -> None:
        await answer(wire, "hello", structure={"here": 5}, sly_data={"back": request.number})

    def on(**response: Any) -> list[dict[str, Any]]:
        return [{"text": "x", "response": response}]

    passes = {
        "a misspelled test": on(text={"keyword": "nope"}),
        "an unknown section": on(txt={"keywords": "nope"}),
        "null": on(structure={"here": {"value": None}}),
        "an empty list": on(structure={"here": {"value": []}}),
        "a dictionary": on(structure={"here": {"value": {"a": 1}}}),
        "less than 4": on(structure={"here": {"less": 4}}),
        "greater than 6": on(structure={"here": {"greater": 6}}),
    }
    fails = {
        "less than 6": on(structure={"here": {"less": 6}}),
        "greater than 4": on(structure={"here": {"greater": 4}}),
        "not_value of nothing": on(structure={"gone": {"not_value": 1}}),
        "not_keywords of nothing": on(structure={"gone": {"not_keywords": "x"}}),
        "not_less of nothing": on(structure={"gone": {"not_less": 1}}),
        "not_value of nothing private": on(sly_data={"gone": {"not_value": 1}}),
    }
    carried: list[dict[str, Any]] = [
        {"text": "1", "sly_data": {"a": 1, "b": 1}}, {"text": "2"},
        {"text": "3", "sly_data": {"c": 1}}, {"text": "4"}, {"text": "5", "sly_data": {}},
        {"text": "6"}, {}, {"text": "8", "sly_data": {"d": 1}, "continue_conversation": False},
        {"text": "9"},
    ]  # fmt: skip
    cases = [
        {"agent": "agent", "connections": "http", "interactions": interactions}
        for interactions in (*passes.values(), *fails.values(), carried)
    ]
    with ScriptedServer(script) as there:
        done = subprocess.run(
            [library.python, "-m", "tests.agents.reference_inside", str(there.port)],
            input=json.dumps(cases),
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    assert done.returncode == 0, done.stderr[-3000:]
    verdicts = json.loads(done.stdout.splitlines()[-1])
    assert dict(zip([*passes, *fails, "carried"], verdicts, strict=True)) == (
        dict.fromkeys(passes, True) | dict.fromkeys(fails, False) | {"carried": True}
    )
    first = len(passes) + len(fails)
    with ScriptedServer(script) as here:
        # Numbered alike, so that what comes back is the same.
        for _ in range(first):
            held("http", Settings("agent", host="127.0.0.1", port=here.port), Says("x"))
        says = [Says(**{"text": None, **each}) for each in carried]
        held("http", Settings("agent", host="127.0.0.1", port=here.port), *says)
    *same, last = [heard(request) for request in there.requests[first:]]
    *ours, clean = [heard(request) for request in here.requests[first:]]
    assert ours == same
    assert same[6] == {"text": None, "sly": {"back": first + 5}}
    # Where a conversation starts anew, what was sent before stays there and is gone here.
    assert (last["sly"], clean["sly"]) == ({"d": 1}, None)
