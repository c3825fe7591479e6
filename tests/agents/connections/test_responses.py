"""Tests of OpenAI's Responses API: the id of the answer before, the key, and how it fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import Settings
from assay.agents.sampling.conversation import ConversationEnd
from tests.agents.connections.peers import Memory, responses
from tests.agents.environments import NotHere, made_with
from tests.agents.holding import Says, held, texts
from tests.agents.scripted_server import Request, Script, ScriptedServer, Wire
from tests.agents.serving import served


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def local(server: ScriptedServer) -> Settings:
    return Settings("small-model", host="127.0.0.1", port=server.port)


def replying(*bodies: Any) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        body = bodies[min(request.number, len(bodies) - 1)]
        await wire.status(200, json.dumps(body).encode())

    return script


def response(text: str = "hi", **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text}
    return {
        "id": "resp_1",
        "status": "completed",
        "output": [{"type": "message", "content": [part]}],
        **more,
    }


def test_a_conversation_goes_on_from_the_id_of_the_answer_before() -> None:
    with ScriptedServer(responses(Memory())) as server:
        conversation = held("responses", local(server), Says("one"), Says("two"))
    assert texts(conversation) == ["one", "one | two"], conversation.reason
    first, second = server.requests
    assert first.path == "/v1/responses"
    assert first.body == {"model": "small-model", "input": "one"}
    assert second.body == {**first.body, "input": "two", "previous_response_id": "conversation-1"}


def test_the_scripted_server_speaks_what_the_official_client_understands() -> None:
    openai = pytest.importorskip("openai", reason="the openai package is not installed (extra adk)")
    from openai.types.responses import response_create_params as params
    from pydantic import TypeAdapter

    with ScriptedServer(responses(Memory())) as server:
        root = f"http://127.0.0.1:{server.port}/v1"
        with openai.OpenAI(base_url=root, api_key="scripted") as client:
            first = client.responses.create(model="m", input="one")
            second = client.responses.create(model="m", input="two", previous_response_id=first.id)
        assert second.output_text == "one | two"
        held("responses", local(server), Says("one"), Says("two"))
    # What Assay sends is what the client's own types allow.
    kind = TypeAdapter(params.ResponseCreateParamsNonStreaming)
    for request in server.requests[2:]:
        kind.validate_python(request.body)


def test_a_refusal_is_an_answer_for_the_checks() -> None:
    output = [{"type": "message", "content": [{"type": "refusal", "refusal": "I will not"}]}]
    with ScriptedServer(replying(response(output=output))) as server:
        assert texts(held("responses", local(server), Says("hi"))) == ["I will not"]


def test_an_answer_that_was_cut_counts_as_far_as_it_came() -> None:
    cut: dict[str, Any] = {
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
    }
    with ScriptedServer(replying(response("so far", **cut))) as server:
        assert texts(held("responses", local(server), Says("hi"))) == ["so far"]
    with ScriptedServer(replying(response(output=[], **cut))) as server:
        conversation = held("responses", local(server), Says("hi"))
    assert conversation.ending is ConversationEnd.FAILED
    assert "without an answer (max_output_tokens)" in str(conversation.reason)


def test_a_gateway_that_has_another_name_for_the_id_is_believed() -> None:
    renamed = response("again", previous_response_id="upstream-1")
    with ScriptedServer(replying(response(), renamed)) as server:
        conversation = held("responses", local(server), Says("one"), Says("two"))
    assert texts(conversation) == ["hi", "again"], conversation.reason


def test_a_server_that_forgets_is_not_counted_against_the_agent() -> None:
    forgetful = response(previous_response_id=None)
    with ScriptedServer(replying(forgetful)) as server:
        conversation = held("responses", local(server), Says("one"), Says("two"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert conversation.lasting
    assert "does not continue conversations" in str(conversation.reason)


def test_a_conversation_through_the_real_gateway_of_litellm(tmp_path: Path) -> None:
    """It checks what the model's server says, and gives its own names to the ids."""
    try:
        python = made_with("litellm[proxy]==1.106.2", lambda: Path(sys.executable))
    except NotHere as reason:
        pytest.skip(str(reason))
    with ScriptedServer(responses(Memory())) as model:
        route = {"model": "openai/small-model", "api_key": "scripted"}
        route["api_base"] = f"http://127.0.0.1:{model.port}/v1"
        models = [{"model_name": "small-model", "litellm_params": route}]
        (tmp_path / "config.json").write_text(json.dumps({"model_list": models}))
        command = [str(python.with_name("litellm")), "--config", "config.json"]
        variables = {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
        }
        with served([*command, "--host", "127.0.0.1", "--port"], tmp_path, variables) as port:
            settings = Settings("small-model", host="127.0.0.1", port=port)
            says = Says("one", timeout=60), Says("two", timeout=60)
            conversation = held("responses", settings, *says)
    assert texts(conversation) == ["one", "one | two"], conversation.reason


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (response(status="failed", error={"code": "x", "message": "down"}), "an error: down"),
        (response(error={"message": "overloaded"}), "an error: overloaded"),
        (response(status="in_progress"), "before the answer was complete"),
        (response(output=[]), "has no text"),
        (response(output=None), "has no message"),
        (response(output=[{"type": "message"}]), "has no message"),
        (response(id=None), "has no id"),
        ([1], "not a response"),
    ],
)
def test_what_is_no_answer_is_an_outage(body: Any, word: str) -> None:
    with ScriptedServer(replying(body)) as server:
        conversation = held("responses", local(server), Says("hi"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert word in str(conversation.reason)
