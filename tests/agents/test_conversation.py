"""Tests of a whole sample: what goes from one interaction to the next, and what never does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import KINDS, Kind, Settings, get_kind, open_connection, register
from assay.agents.sampling.conversation import ConversationEnd, hold
from assay.errors import InfrastructureError, InputError
from tests.agents.holding import Says, held, held_often, texts
from tests.agents.scripted_server import Request, ScriptedServer, Wire, answer, complete, echo


def local(server: ScriptedServer) -> Settings:
    return Settings("agent", host="127.0.0.1", port=server.port)


def sent(server: ScriptedServer) -> list[Any]:
    return [request.body.get("sly_data") for request in server.requests]


async def _returns_y(request: Request, wire: Wire) -> None:
    returned = {"y": request.number, "nested": {"turn": request.number}}
    await answer(wire, "ok", sly_data=returned)


def test_private_data_is_carried_until_an_interaction_has_its_own_instead() -> None:
    with ScriptedServer(_returns_y) as server:
        held(
            "http",
            local(server),
            Says("one", {"x": 1}),
            Says("two"),
            Says("three", {"y": "mine"}),
            Says("four"),
            Says("five", {}),
            Says("six"),
        )
    assert sent(server) == [
        {"x": 1},
        {"x": 1, "y": 0, "nested": {"turn": 0}},
        {"y": "mine"},
        {"y": 2, "nested": {"turn": 2}},
        None,
        {"y": 4, "nested": {"turn": 4}},
    ]


def test_an_absent_text_is_sent_as_none_and_an_empty_one_as_empty() -> None:
    with ScriptedServer(_returns_y) as server:
        held("http", local(server), Says(None), Says(""))
    assert [request.body["user_message"] for request in server.requests] == [
        {"type": "HUMAN", "text": None},
        {"type": "HUMAN", "text": ""},
    ]
    agent = Settings("tests.agents.python_agents:heard")
    conversation = held("python", agent, Says("one"), Says(None), Says(""))
    assert [(reply.answer.structure or {})["heard"] for reply in conversation.replies] == [
        ["one", []],
        [None, ["one", "ok"]],
        ["", ["one", "ok", "ok"]],
    ]
    with pytest.raises(InputError, match="needs a text"):
        held("openai", Settings("m", host="127.0.0.1", port=9), Says(None))


def test_a_clean_slate_has_neither_context_nor_private_data() -> None:
    with ScriptedServer(echo) as server:
        conversation = held(
            "http",
            local(server),
            Says("one", {"x": 1}),
            Says("two", continue_conversation=False),
            Says("three"),
        )
    assert texts(conversation) == ["one", "one | two", "three"]
    assert sent(server) == [{"x": 1}, {"x": 1}, None]
    assert "chat_context" not in server.requests[2].body


def test_samples_at_the_same_time_see_only_their_own() -> None:
    given: dict[str, Any] = {"basket": []}

    async def script(request: Request, wire: Wire) -> None:
        basket = [*request.body["sly_data"]["basket"], request.number]
        await asyncio.sleep(0.01)
        await answer(wire, "ok", sly_data={"basket": basket})

    with ScriptedServer(script) as server:
        conversations = held_often(
            20, "http", local(server), Says("one", given), Says("two"), Says("three")
        )
    for conversation in conversations:
        baskets = [(reply.answer.sly_data or {})["basket"] for reply in conversation.replies]
        assert [len(basket) for basket in baskets] == [1, 2, 3]
        assert baskets[2][:2] == baskets[1]
    assert given == {"basket": []}


def test_an_agent_in_this_process_cannot_change_what_the_file_says() -> None:
    given = {"deep": {"x": 1}}
    settings = Settings("tests.agents.python_agents:counting")
    held_often(3, "python", settings, Says("one", given), Says("two", given))
    assert given == {"deep": {"x": 1}}


def _remembering(messages: list[dict[str, Any]]) -> str:
    return " | ".join(each["content"] for each in messages if each["role"] == "user")


def test_the_same_conversation_through_http_openai_and_python() -> None:
    interactions = (
        Says("Who did Yellow Submarine?"),
        Says("Where were they from?", continue_conversation=False),
        Says("Again?"),
    )
    with ScriptedServer(echo) as server:
        over_http = held("http", local(server), *interactions)
    with ScriptedServer(complete(_remembering)) as server:
        over_openai = held("openai", local(server), *interactions)
    remembering = Settings("tests.agents.python_agents:remembering")
    in_process = held("python", remembering, *interactions)
    assert texts(over_http) == texts(over_openai) == texts(in_process)
    assert texts(over_http)[1:] == ["Who did Yellow Submarine? | Where were they from?", "Again?"]
    assert {each.ending for each in (over_http, over_openai, in_process)} == {
        ConversationEnd.COMPLETE
    }


def test_a_sample_can_be_cancelled_from_outside() -> None:
    async def silence(request: Request, wire: Wire) -> None:
        await asyncio.sleep(30)

    async def run(settings: Settings) -> None:
        connection = open_connection("http", settings)
        task = asyncio.create_task(hold(connection, [Says("hi", timeout=20)]))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await connection.close()

    with ScriptedServer(silence) as server:
        asyncio.run(run(local(server)))


def test_an_unknown_connection_is_the_users_mistake() -> None:
    with pytest.raises(InputError, match="did you mean 'https'"):
        get_kind("htps")


def test_what_each_connection_can_return_is_known_before_it_is_opened() -> None:
    everything = {"text", "structure", "sly_data"}
    assert {name: set(kind.returns) for name, kind in KINDS.items()} == {
        "direct": everything,
        "http": everything,
        "https": everything,
        "openai": {"text", "structure"},
        "responses": {"text", "structure"},
        "mcp": {"text", "structure"},
        "a2a": {"text", "structure"},
        "adk": everything,
        "http-template": everything,
        "python": everything,
        "command": everything,
    }


def test_a_connection_of_ones_own_has_a_name_like_any_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("assay.agents.connections.registry.KINDS", dict(KINDS))
    register(Kind("mirror", "says it back", get_kind("python").opener))
    settings = Settings("tests.agents.python_agents:plain")
    assert texts(held("mirror", settings, Says("hi"))) == ["you said hi"]
    with pytest.raises(InputError, match="already"):
        register(Kind("http", "another", get_kind("http").opener))


def test_a_connection_of_an_installed_package_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.agents.connections.registry.KINDS", dict(KINDS))
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mirrors.py").write_text(
        "from assay.agents.connections import Kind, get_kind\n"
        "mirror = Kind('mirror', 'says it back', get_kind('python').opener)\n"
    )
    metadata = tmp_path / "mirrors-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mirrors\nVersion: 1.0\n")
    offered = "[assay.connections]\nmirror = mirrors:mirror\nother = mirrors:mirror\n"
    (metadata / "entry_points.txt").write_text(offered)
    settings = Settings("tests.agents.python_agents:plain")
    assert texts(held("mirror", settings, Says("hi"))) == ["you said hi"]
    with pytest.raises(InputError, match="not a connection named 'other'"):
        get_kind("other")


def test_direct_without_the_library_names_what_to_install() -> None:
    with pytest.raises(InfrastructureError, match="pip install neuro-san"):
        held("direct", Settings("hello_world"), Says("hi"))
