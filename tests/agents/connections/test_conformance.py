"""What holds for every connection to an agent that is somebody else's process, tested on each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import Settings
from assay.agents.connections.template import Template, parse_path
from assay.agents.sampling.conversation import Conversation, ConversationEnd
from assay.errors import InputError
from assay.model import CaseRecord, Outcome
from tests.agents.connections.peers import CONFESSING, KINDS, TEMPLATE, Peer, served, set_key
from tests.agents.holding import GRACE, Says, calmest, held, held_often, texts
from tests.agents.running_support import run_file

KEY = "sk-CANARY-0123456789abcdef"
every = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.agents.sampling.tally.RETRY_DELAYS", (0.0, 0.0))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def settings(peer: Peer, **more: Any) -> Settings:
    parts = TEMPLATE["answer"]
    template = Template(
        path=TEMPLATE["request"]["path"],
        body=TEMPLATE["request"]["body"],
        parts={"text": parse_path(parts["text"])},
        context={name: parse_path(path) for name, path in parts["context"].items()},
    )
    return Settings(
        "echo",
        host=peer.reach.host,
        port=peer.reach.port,
        command=peer.reach.words,
        template=template if peer.kind == "http-template" else None,
        **more,
    )


def talk(kind: str, folder: Path, *said: str, timeout: float = 30.0) -> Conversation:
    with served(kind, folder) as peer:
        return held(kind, settings(peer), *(Says(text, timeout=timeout) for text in said))


def run(peer: Peer, folder: Path, *said: str) -> CaseRecord:
    """A run of a test file, as the command does it."""
    interactions = [{"text": one, "response": {"text": {"keywords": "one"}}} for one in said]
    path = folder / "test.hocon"
    keys = {"agent": "echo", "connections": peer.kind, **peer.keys, "interactions": interactions}
    # A substitution is not quoted.
    path.write_text(json.dumps(keys).replace('"${?ECHO_API_KEY}"', "${?ECHO_API_KEY}"))
    (record,) = run_file(path, reach=peer.reach)
    return record


@every
def test_it_answers_and_the_next_turn_remembers(kind: str, tmp_path: Path) -> None:
    conversation = talk(kind, tmp_path, "one", "two", "three")
    assert conversation.ending is ConversationEnd.COMPLETE, conversation.reason
    assert texts(conversation) == ["one", "one | two", "one | two | three"]


@every
def test_no_sample_hears_of_another_and_a_new_start_forgets(kind: str, tmp_path: Path) -> None:
    says = Says("one", timeout=30, continue_conversation=False), Says("two", timeout=30)
    with served(kind, tmp_path) as peer:
        conversations = held_often(5, kind, settings(peer), *says, Says("three", timeout=30))
    for conversation in conversations:
        assert texts(conversation) == ["one", "two", "two | three"], conversation.reason


@every
def test_a_json_object_in_the_text_is_the_structure(kind: str, tmp_path: Path) -> None:
    (reply,) = talk(kind, tmp_path, '{"a": 1}').replies
    # A program says itself what its structure is.
    assert reply.answer.structure == (None if kind == "command" else {"a": 1})


@every
def test_a_slow_answer_ends_at_its_limit(kind: str, tmp_path: Path) -> None:
    with served(kind, tmp_path) as peer:
        conversation = calmest(kind, settings(peer), Says("wait", timeout=0.5))
    assert conversation.ending is ConversationEnd.TOO_SLOW, conversation.reason
    # Beginning a session is before the clock, starting a program is not.
    assert conversation.seconds < 0.5 + GRACE + 0.3


@every
def test_an_agent_that_dies_is_an_outage_unless_it_is_our_own_child(
    kind: str, tmp_path: Path
) -> None:
    conversation = talk(kind, tmp_path, "one", "die")
    assert texts(conversation) == ["one"]
    if kind == "command":
        assert conversation.ending is ConversationEnd.FAILED
        assert "ended with exit code 1 and did not answer: no such song" in str(conversation.reason)
    else:
        assert conversation.ending is ConversationEnd.OUTAGE
        assert "the stream broke" in str(conversation.reason)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "command"])
def test_nobody_listening_is_an_outage_that_names_the_server(kind: str, tmp_path: Path) -> None:
    with served(kind, tmp_path) as peer:
        gone = settings(peer)
    conversation = held(kind, gone, Says("one"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "the server cannot be reached" in str(conversation.reason)
    assert f"127.0.0.1:{peer.reach.port}" in str(conversation.reason)


@every
def test_an_answer_that_is_not_json_is_an_outage(kind: str, tmp_path: Path) -> None:
    conversation = talk(kind, tmp_path, "garbage")
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "not JSON" in str(conversation.reason)


@every
def test_an_answer_without_end_is_an_outage(kind: str, tmp_path: Path) -> None:
    conversation = talk(kind, tmp_path, "huge", timeout=60)
    assert conversation.ending is ConversationEnd.OUTAGE
    # A stream of lines says it of its line.
    assert "than 16 MB" in str(conversation.reason)


@pytest.mark.parametrize("kind", CONFESSING)
def test_a_failure_that_the_agent_reports_is_its_failure_and_not_tried_again(
    kind: str, tmp_path: Path
) -> None:
    with served(kind, tmp_path) as peer:
        record = run(peer, tmp_path, "fail")
    assert record.outcome is Outcome.FAILED
    (report,) = record.reports
    assert report.error is None
    assert "the agent" in str(report.results["1.answer"].diff)


@every
def test_a_key_that_an_agent_quotes_is_kept_nowhere(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_key(monkeypatch, KEY)
    with served(kind, tmp_path) as peer:
        record = run(peer, tmp_path, "leak")
        sent = [request.headers.get("authorization", "") for request in peer.requests]
    # It was sent and came back, so that there was something to leak.
    assert record.outcome is Outcome.FAILED
    assert all(KEY in one for one in sent)
    assert "_API_KEY>" in json.dumps(record.model_dump(mode="json"))
    files = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    assert files
    assert not any(b"CANARY" in path.read_bytes() for path in files)


@every
def test_a_whole_run_passes(kind: str, tmp_path: Path) -> None:
    with served(kind, tmp_path) as peer:
        record = run(peer, tmp_path, "one", "two")
    assert record.outcome is Outcome.PASSED, record.reason


@pytest.mark.parametrize("kind", ["openai", "responses", "a2a"])
def test_private_data_is_not_sent_where_it_has_no_place(kind: str, tmp_path: Path) -> None:
    with served(kind, tmp_path) as peer:
        with pytest.raises(InputError, match="does not support sly_data"):
            held(kind, settings(peer), Says("one", {"card": "1"}))
        assert not any("card" in json.dumps(one.body) for one in peer.requests)
