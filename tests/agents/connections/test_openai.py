"""Tests of OpenAI-compatible endpoints: the history, the key, and how they fail."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from assay.agents.connections import Settings
from assay.agents.sampling.conversation import ConversationEnd
from assay.errors import InputError
from tests.agents.holding import GRACE, Says, calmest, held, texts
from tests.agents.scripted_server import Request, Script, ScriptedServer, Wire, complete


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def local(server: ScriptedServer, **more: Any) -> Settings:
    return Settings("small-model", host="127.0.0.1", port=server.port, **more)


def replying(body: Any, code: int = 200) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        await wire.status(code, raw)

    return script


def test_the_history_is_the_context() -> None:
    with ScriptedServer(complete(lambda messages: f"answer {len(messages)}")) as server:
        conversation = held("openai", local(server), Says("one"), Says("two"))
    assert texts(conversation) == ["answer 1", "answer 3"]
    first, second = server.requests
    assert first.path == "/v1/chat/completions"
    assert first.body == {"model": "small-model", "messages": [{"role": "user", "content": "one"}]}
    assert second.body["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "answer 1"},
        {"role": "user", "content": "two"},
    ]
    assert "authorization" not in first.headers


def test_the_key_comes_from_the_environment_and_goes_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", "canary-1")
    monkeypatch.setenv("OTHER_KEY", "canary-2")
    with ScriptedServer(complete(lambda _: "ok")) as server:
        held("openai", local(server), Says("hi"))
        held("openai", local(server, key_variable="OTHER_KEY"), Says("hi"))
        conversation = held(
            "openai", local(server, metadata={"authorization": "Bearer canary-3"}), Says("hi")
        )
    keys = [request.headers["authorization"] for request in server.requests]
    assert keys == ["Bearer canary-1", "Bearer canary-2", "Bearer canary-3"]
    assert "canary" not in caplog.text + repr(conversation)


def test_an_address_may_be_given_whole_or_by_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ScriptedServer(complete(lambda _: "ok")) as server:
        address = f"http://127.0.0.1:{server.port}"
        held("openai", Settings("m", url=f"{address}/openai/"), Says("hi"))
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v2")
        held("openai", Settings("m"), Says("hi"))
    assert [request.path for request in server.requests] == [
        "/openai/chat/completions",
        "/v2/chat/completions",
    ]


@pytest.mark.parametrize("url", ["localhost:80", "ftp://x", "http://"])
def test_an_address_that_is_none_is_the_users_mistake(url: str) -> None:
    with pytest.raises(InputError, match="not an http or https address"):
        held("openai", Settings("m", url=url), Says("hi"))


@pytest.mark.parametrize(
    ("text", "structure"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here:\n```json\n{"a": {"b": 2}}\n```\nDone', {"a": {"b": 2}}),
        ("[1]", None),
        ("no {structure}", None),
    ],
)
def test_structure_is_the_object_in_the_text(text: str, structure: Any) -> None:
    with ScriptedServer(complete(lambda _: text)) as server:
        (reply,) = held("openai", local(server), Says("hi")).replies
    assert reply.answer.text == text
    assert reply.answer.structure == structure
    assert reply.answer.sly_data is None


def test_parts_and_refusals_are_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    for message, text in (({"content": parts}, "ab"), ({"content": None, "refusal": "no"}, "no")):
        with ScriptedServer(replying({"choices": [{"message": message}]})) as server:
            assert texts(held("openai", local(server), Says("hi"))) == [text]


@pytest.mark.parametrize(
    ("script", "word"),
    [
        (replying({"error": {"message": "no such model"}}, 404), "status 404"),
        (replying({"error": "busy"}, 429), "status 429"),
        (replying({"error": {"message": "overloaded"}}), "reports an error: overloaded"),
        (replying(b"<html>"), "not JSON"),
        (replying({"choices": []}), "has no message"),
        (replying([1]), "has no message"),
        (replying({"choices": [{"message": {"content": None}}]}), "has no text"),
    ],
)
def test_an_outage_is_an_error(script: Script, word: str) -> None:
    with ScriptedServer(script) as server:
        conversation = held("openai", local(server), Says("hi"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert word in str(conversation.reason)


def test_a_limit_holds() -> None:
    async def script(request: Request, wire: Wire) -> None:
        await asyncio.sleep(30)

    with ScriptedServer(script) as server:
        conversation = calmest("openai", local(server), Says("hi", timeout=0.3))
    assert conversation.ending is ConversationEnd.TOO_SLOW
    assert conversation.seconds < 0.3 + GRACE


def test_private_data_is_never_sent_to_a_model() -> None:
    with ScriptedServer(complete(lambda _: "ok")) as server:
        with pytest.raises(InputError, match="does not support sly_data"):
            held("openai", local(server), Says("hi", {"card": "1"}))
        assert server.requests == []


def test_a_key_that_cannot_be_one_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary\nX-Other: 1")
    with pytest.raises(InputError) as caught:
        held("openai", Settings("m", port=1), Says("hi"))
    assert "canary" not in str(caught.value)
