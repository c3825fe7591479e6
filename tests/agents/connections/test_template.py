"""Tests of HTTP APIs that a test file describes: requests filled, answers found, and no way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.agents.connections import Settings
from assay.agents.connections.template import Template, find_value, has_dots, parse_path
from assay.agents.sampling.conversation import ConversationEnd
from assay.agents.testfile import read_file
from assay.errors import InputError
from tests.agents.holding import Says, held, texts
from tests.agents.running_support import write
from tests.agents.scripted_server import Request, Script, ScriptedServer, Wire


def echoing(body: Any = None) -> Script:
    """A server that answers with the request, or with what is given."""

    async def script(request: Request, wire: Wire) -> None:
        told = {"text": "ok", "path": request.path, "body": request.body} if body is None else body
        await wire.status(200, json.dumps(told).encode())

    return script


def local(server: ScriptedServer, template: Template, **more: Any) -> Settings:
    return Settings("agent/a", host="127.0.0.1", port=server.port, template=template, **more)


def test_a_request_is_filled_and_what_is_not_there_yet_is_left_out() -> None:
    template = Template(
        path="/chat/{{agent}}?q={{text}}",
        body={
            "said": "User: {{text}}",
            "messages": "{{messages}}",
            "private": "{{sly_data}}",
            "session": "{{context.session}}",
            "fixed": [None, 1, {"deep": "{{text}}"}],
            "nothing": None,
        },
        parts={"text": ("text",), "sly_data": ("body", "private")},
        context={"session": ("path",)},
    )
    with ScriptedServer(echoing()) as server:
        says = Says("a/b ?", {"card": 1}), Says("two")
        conversation = held("http-template", local(server, template), *says)
    assert conversation.ending is ConversationEnd.COMPLETE, conversation.reason
    assert conversation.replies[0].answer.sly_data == {"card": 1}
    first, second = server.requests
    assert first.path == "/chat/agent%2Fa?q=a%2Fb%20%3F"
    assert first.body == {
        "said": "User: a/b ?",
        "messages": [{"role": "user", "content": "a/b ?"}],
        "private": {"card": 1},
        "fixed": [None, 1, {"deep": "a/b ?"}],
        "nothing": None,
    }
    assert second.body["session"] == first.path
    assert [turn["content"] for turn in second.body["messages"]] == ["a/b ?", "ok", "two"]


def test_an_id_for_the_conversation_is_made_where_the_server_wants_one() -> None:
    template = Template(path="/{{conversation}}", body={}, parts={"text": ("path",)})
    with ScriptedServer(echoing()) as server:
        says = Says("a"), Says("b", continue_conversation=False), Says("c")
        first, second, third = texts(held("http-template", local(server, template), *says))
    assert first == second != third


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({}, "the answer has nothing at text"),
        ([], "the answer has nothing at text"),
        ({"text": 5}, "text of the answer, at text, has the wrong kind"),
        ({"text": "x", "problem": "quota"}, "the server reports an error: quota"),
    ],
)
def test_an_answer_that_is_not_where_it_should_be_is_an_outage(body: Any, word: str) -> None:
    template = Template(path="/", parts={"text": ("text",)}, error=("problem",))
    with ScriptedServer(echoing(body)) as server:
        conversation = held("http-template", local(server, template), Says("hi"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert word in str(conversation.reason)


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_value_leads_a_request_elsewhere(agent: str, text: str) -> None:
    template = Template(path="/a/{{agent}}/{{text}}")
    try:
        path = template.fill_path({"agent": agent, "text": text})
    except (InputError, UnicodeEncodeError):
        return
    assert path.count("/") == 3
    assert not has_dots(path)
    assert not set(path) & set("?#\\ \r\n")


def test_a_value_that_would_climb_is_refused() -> None:
    with pytest.raises(InputError, match="changes the path of the request"):
        Template(path="/a/{{text}}/b").fill_path({"text": ".."})


@pytest.mark.parametrize(
    ("path", "value", "found"),
    [
        ("a.b", {"a": {"b": 1}}, 1),
        ("a.0.b", {"a": [{"b": 1}]}, 1),
        ("a.-1", {"a": [1, 2]}, 2),
        ("a.5", {"a": [1]}, None),
        ("0", {"0": "x"}, "x"),
        ("a.b", {"a": "text"}, None),
    ],
)
def test_a_path_leads_through_objects_and_lists(path: str, value: Any, found: Any) -> None:
    assert find_value(value, parse_path(path)) == found


def problems(folder: Path, **keys: Any) -> list[tuple[str, str]]:
    path = write(folder, **{"connections": "http-template", **keys})
    return [(one.code, one.message) for one in read_file(path).problems]


REQUEST = {"path": "/chat", "body": {"text": "{{text}}"}}
ANSWER = {"text": "reply"}


def test_a_file_that_describes_its_api_is_read(tmp_path: Path) -> None:
    path = write(
        tmp_path, connections="http-template", request=REQUEST, answer={**ANSWER, "error": "e.0"}
    )
    file = read_file(path).file
    assert file is not None
    assert file.template == Template(
        path="/chat", body={"text": "{{text}}"}, parts={"text": ("reply",)}, error=("e", 0)
    )


@pytest.mark.parametrize(
    ("request_", "answer", "word"),
    [
        (None, None, "needs to know the server's API"),
        (REQUEST, {}, "needs to know the server's API"),
        ({**REQUEST, "pth": "/"}, ANSWER, "there is no key `pth`"),
        ({**REQUEST, "method": "DELETE"}, ANSWER, "`request.method` cannot be"),
        ({**REQUEST, "method": "GET"}, ANSWER, "`request.body` cannot be sent with GET"),
        ({"body": {"a": "{{txt}}"}, "path": "/"}, ANSWER, "unknown placeholder {{txt}}"),
        ({"body": {"a": "{{context.id}}"}, "path": "/"}, ANSWER, "unknown placeholder"),
        ({"path": "http://elsewhere.example/chat"}, ANSWER, "must be a path below the address"),
        ({"path": "//elsewhere.example/chat"}, ANSWER, "must be a path below the address"),
        ({"path": "/../chat"}, ANSWER, "must be a path below the address"),
        ({"path": "/%2e%2e/chat"}, ANSWER, "must be a path below the address"),
        ({"path": "/\\elsewhere.example"}, ANSWER, "must be a path below the address"),
        ([1, 2], ANSWER, "`request` must be an object, not [1, 2]"),
        (REQUEST, "reply", "`answer` must be an object, not 'reply'"),
        (REQUEST, {"text": 5}, "`answer.text` must be text"),
        (REQUEST, {**ANSWER, "context": {"id": 5}}, "`answer.context.id` must be text"),
        (REQUEST, {**ANSWER, "context": 5}, "`answer.context` must be an object, not 5"),
    ],
)
def test_what_a_file_says_wrongly_about_an_api_is_a_problem(
    tmp_path: Path, request_: Any, answer: Any, word: str
) -> None:
    keys = {"request": request_, "answer": answer}
    found = problems(tmp_path, **{name: value for name, value in keys.items() if value is not None})
    assert any(word in message for _, message in found), found
