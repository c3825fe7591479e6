"""Tests of http and https against a scripted server: what is an answer and what is an outage."""

from __future__ import annotations

import asyncio
import logging
import socket
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import Settings
from assay.agents.connections.addresses import make_address
from assay.agents.sampling.conversation import Conversation, ConversationEnd
from assay.errors import InputError
from tests.agents.holding import GRACE, Says, calmest, held, held_often, texts
from tests.agents.scripted_server import (
    Request,
    Script,
    ScriptedServer,
    Wire,
    answer,
    echo,
    message,
    self_signed,
)


def local(server: ScriptedServer, agent: str = "music_nerd", **more: Any) -> Settings:
    return Settings(agent, host="127.0.0.1", port=server.port, **more)


def against(script: Script, *interactions: Says, **more: Any) -> Conversation:
    """One sample with a server that follows the script."""
    with ScriptedServer(script) as server:
        return held("http", local(server), *(interactions or (Says("hello"),)), **more)


def streamed(*parts: dict[str, Any] | bytes) -> Script:
    """A reply of these frames or raw lines, properly ended."""

    async def script(request: Request, wire: Wire) -> None:
        await wire.begin()
        for part in parts:
            if isinstance(part, bytes):
                await wire.chunk(part)
            else:
                await wire.frame(part)
        await wire.finish()

    return script


def test_the_request_is_what_the_protocol_asks_for() -> None:
    with ScriptedServer(echo) as server:
        settings = local(server, "deep/math_guy", metadata={"User-Id": "ada", "count": 3})
        conversation = held("http", settings, Says("times", {"x": 847}, chat_filter="MAXIMAL"))
    assert conversation.ending is ConversationEnd.COMPLETE
    (request,) = server.requests
    assert request.path == "/api/v1/deep/math_guy/streaming_chat"
    assert request.headers["user-id"] == "ada"
    assert request.headers["count"] == "3"
    assert request.body == {
        "user_message": {"type": "HUMAN", "text": "times"},
        "sly_data": {"x": 847},
        "chat_filter": {"chat_filter_type": "MAXIMAL"},
    }


def test_context_goes_back_untouched() -> None:
    context = {"chat_histories": [{"origin": [{"tool": "a"}], "messages": [1.5, None, "ü"]}]}

    async def script(request: Request, wire: Wire) -> None:
        await answer(wire, "yes", context=context)

    with ScriptedServer(script) as server:
        held("http", local(server), Says("one"), Says("two"))
    assert "chat_context" not in server.requests[0].body
    assert server.requests[1].body["chat_context"] == context


def test_the_answer_is_the_last_word_of_the_agent_that_was_asked() -> None:
    conversation = against(
        streamed(
            message("too early"),
            {},
            message("", "AGENT_PROGRESS"),
            message("from a tool", steps=2),
            message("said the human", "HUMAN"),
            message(
                "final", "AGENT_FRAMEWORK", structure={"a": 1}, chat_context={}, sly_data={"b": 2}
            ),
            message(None, "AGENT_FRAMEWORK"),
            b"\n  \n",
        )
    )
    (reply,) = conversation.replies
    assert reply.answer.text == "final"
    assert reply.answer.structure == {"a": 1}
    assert reply.answer.sly_data == {"b": 2}
    assert reply.answer.chat_context == {}


def test_an_answer_without_origin_counts_and_frames_may_be_cut_anywhere() -> None:
    line = '{"response": {"type": "AI", "text": "grüße"}}\n'.encode()
    conversation = against(streamed(*(line[i : i + 1] for i in range(len(line) - 1))))
    assert texts(conversation) == ["grüße"]


def test_an_answer_after_a_retry_wins() -> None:
    retry = message("Retrying: the LLM provider rate-limited the request", "AGENT_FRAMEWORK")
    assert texts(against(streamed(retry, message("42")))) == ["42"]
    last = against(streamed(message("thinking"), retry))
    assert last.ending is ConversationEnd.OUTAGE
    assert "Retrying: the LLM" in str(last.reason)


async def _drop_at_once(request: Request, wire: Wire) -> None:
    await wire.drop()


async def _drop_midway(request: Request, wire: Wire) -> None:
    await wire.begin()
    await wire.frame(message("half an ans"))
    await wire.drop()


def _status(code: int, body: bytes = b"") -> Script:
    async def script(request: Request, wire: Wire) -> None:
        await wire.status(code, body)

    return script


OUTAGES: dict[str, tuple[Script, str]] = {
    "unknown agent": (_status(404), "status 404"),
    "forbidden": (_status(403), "status 403"),
    "unavailable": (_status(503, b'{"error": "shutting down"}'), '503: {"error": "shutting'),
    "crashed": (_status(500), "status 500"),
    "moved": (_status(302), "status 302"),
    "dropped": (_drop_at_once, "the stream broke"),
    "dropped midway": (_drop_midway, "the stream broke"),
    "garbage": (streamed(b"<html>\n"), "not JSON"),
    "not UTF-8": (streamed(b'{"response": "\xff"}\n'), "not JSON"),
    "garbage after the answer": (streamed(message("fine"), b"oops"), "not JSON"),
    "a list": (streamed(b"[1]\n"), "not a message"),
    "a structure that is a list": (streamed(message(structure=[1])), "wrong shape"),
    "half a line": (streamed(message("fine"), b'{"response": {"ty'), "not JSON"),
    "nothing": (streamed(), "without an answer"),
    "only progress": (streamed(message("", "AGENT_PROGRESS")), "without an answer"),
    "error after 200": (
        streamed(message("so far"), {"error": "Request timeout"}),
        "reports an error: Request timeout",
    ),
    "error beside an answer": (
        streamed({**message("fine"), "error": {"code": 503}}),
        'reports an error: {"code": 503}',
    ),
    "error after an answer": (
        streamed(message("fine"), {**message("fine again"), "error": "no"}),
        "reports an error: no",
    ),
    "no more than an empty error": (streamed(message("fine"), {"error": None}), "reports an error"),
    "the agent's own model": (
        streamed(message("Error from music_nerd: Agent stopped due to exception 401")),
        "itself reports an outage",
    ),
    "the same as JSON": (
        streamed(
            message(
                '```json\n{\n "error": "Agent stopped due to exception x",\n "tool": "a"\n}\n```'
            )
        ),
        "itself reports an outage",
    ),
    "a missing key": (
        streamed(
            message(
                "\nA value for the OPENAI_API_KEY environment variable must be correctly set in the"
                " neuro-san\nserver"
            )
        ),
        "OPENAI_API_KEY",
    ),
}


@pytest.mark.parametrize(("script", "word"), OUTAGES.values(), ids=OUTAGES)
def test_an_outage_is_an_error_and_says_what_happened(script: Script, word: str) -> None:
    conversation = against(script)
    assert conversation.ending is ConversationEnd.OUTAGE
    assert word in str(conversation.reason)
    assert conversation.replies == ()


def test_what_only_talks_about_an_outage_is_an_answer() -> None:
    said = "My log says: Error from x: Agent stopped due to rain. Retrying: no."
    assert texts(against(streamed(message(said)))) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Agent stopped by at noon and left the keys.",
        "Agent stopped due to rain.",
        "Error from estate: Agent stopped by at noon.",
        '{"error": "Agent stopped by", "tool": "estate"}',
    ],
)
def test_an_answer_about_an_agent_that_stopped_is_no_outage_by_that_alone(said: str) -> None:
    assert texts(against(streamed(message(said)))) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "Error from x: Agent stopped due to exception Recursion limit of 25 reached without",
        "Agent stopped due to iteration limit or time limit.",
        '{"error": "Agent stopped due to exception Recursion limit of 9 reached", "tool": "x"}',
    ],
)
def test_an_agent_that_finds_no_end_has_failed(said: str) -> None:
    conversation = against(streamed(message(said)))
    assert conversation.ending is ConversationEnd.FAILED
    assert "the agent found no end: " in str(conversation.reason)


def test_an_answer_with_no_error_in_it_is_an_answer() -> None:
    assert texts(against(streamed({**message("fine"), "error": None}))) == ["fine"]


def test_failure_patterns_extend_what_an_outage_is() -> None:
    script = streamed(message("Sorry, quota exceeded today"))
    assert against(script).ending is ConversationEnd.COMPLETE
    conversation = against(script, patterns=["quota exceeded"])
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "'quota exceeded'" in str(conversation.reason)
    structured = streamed(message(None, structure={"error": "quota exceeded"}))
    assert against(structured, patterns=["quota exceeded"]).ending is ConversationEnd.OUTAGE


def test_nobody_listening_is_an_outage() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings = Settings("agent", host="127.0.0.1", port=unused.getsockname()[1])
        conversation = held("http", settings, Says("hello"))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "cannot be reached" in str(conversation.reason)
    assert not conversation.lasting


def test_an_unknown_agent_is_not_worth_another_try() -> None:
    assert against(_status(404)).lasting
    assert not against(_status(503)).lasting


async def _silence(request: Request, wire: Wire) -> None:
    await asyncio.sleep(30)


async def _silence_after_the_status(request: Request, wire: Wire) -> None:
    await wire.begin()
    await asyncio.sleep(30)


async def _a_byte_a_second(request: Request, wire: Wire) -> None:
    await wire.begin()
    for byte in b'{"response": {"type": "AI"':
        await wire.chunk(bytes([byte]))
        await asyncio.sleep(0.1)


async def _keep_alive_for_ever(request: Request, wire: Wire) -> None:
    await wire.begin()
    while True:
        await wire.frame(message("not yet"))
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "script", [_silence, _silence_after_the_status, _a_byte_a_second, _keep_alive_for_ever]
)
def test_a_limit_holds_whatever_the_server_does(script: Script) -> None:
    with ScriptedServer(script) as server:
        conversation = calmest("http", local(server), Says("hello", timeout=0.4))
    assert conversation.ending is ConversationEnd.TOO_SLOW
    assert conversation.reason == "no complete answer within 0.4 s"
    assert 0.4 <= conversation.seconds < 0.4 + GRACE


def test_a_limit_is_for_one_interaction_and_the_answers_before_it_stay() -> None:
    async def script(request: Request, wire: Wire) -> None:
        await asyncio.sleep(0.2 if request.number < 2 else 30)
        await answer(wire, f"answer {request.number}")

    conversation = against(script, *(Says(word, timeout=3) for word in "abc"))
    assert conversation.ending is ConversationEnd.TOO_SLOW
    assert texts(conversation) == ["answer 0", "answer 1"]
    assert str(conversation.reason).startswith("interaction 3 of 3: ")


def test_a_server_that_is_silent_without_a_limit_is_given_up() -> None:
    with ScriptedServer(_silence) as server:
        conversation = held("http", local(server, silence=0.2), Says("hello", timeout=None))
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "sent nothing for 0.2 s" in str(conversation.reason)


def test_the_pool_survives_samples_that_were_too_slow() -> None:
    async def script(request: Request, wire: Wire) -> None:
        await (_silence(request, wire) if request.text == "a" else echo(request, wire))

    with ScriptedServer(script) as server:

        async def run() -> tuple[list[Conversation], list[Conversation]]:
            from assay.agents.connections import open_connection
            from assay.agents.sampling.conversation import hold

            connection = open_connection("http", local(server))
            slow = [hold(connection, [Says("a", timeout=0.3)]) for _ in range(20)]
            first = await asyncio.gather(*slow)
            second = await asyncio.gather(*(hold(connection, [Says("b")]) for _ in range(20)))
            await connection.close()
            return first, second

        first, second = asyncio.run(run())
    assert {each.ending for each in first} == {ConversationEnd.TOO_SLOW}
    assert [texts(each) for each in second] == [["b"]] * 20


def test_one_killed_connection_of_fifty_costs_one_sample() -> None:
    async def script(request: Request, wire: Wire) -> None:
        await asyncio.sleep(0.05)
        await (_drop_midway(request, wire) if request.number == 25 else echo(request, wire))

    with ScriptedServer(script) as server:
        conversations = held_often(50, "http", local(server), Says("hello"))
    endings = [each.ending for each in conversations]
    assert endings.count(ConversationEnd.OUTAGE) == 1
    assert endings.count(ConversationEnd.COMPLETE) == 49


def test_connections_are_used_again() -> None:
    with ScriptedServer(echo) as server:
        held("http", local(server), *(Says(str(number)) for number in range(5)))
    assert server.connections == 1


def test_what_a_server_remembers_of_one_sample_does_not_reach_the_next() -> None:
    async def script(request: Request, wire: Wire) -> None:
        await wire.begin("Set-Cookie: session=canary; Path=/")
        await wire.frame(message("ok", "AGENT_FRAMEWORK", chat_context={}))
        await wire.finish()

    with ScriptedServer(script) as server:
        held("http", local(server), Says("one"), Says("two"))
    assert len(server.requests) == 2
    assert all("cookie" not in request.headers for request in server.requests)


def test_secrets_are_in_no_log_and_no_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with ScriptedServer(_drop_midway) as server:
        settings = local(server, metadata={"Authorization": "Bearer canary-1"})
        conversation = held("http", settings, Says("hello", {"card": "canary-2"}))
    assert server.requests[0].headers["authorization"] == "Bearer canary-1"
    assert "canary" not in caplog.text + repr(settings) + repr(conversation)


@pytest.mark.parametrize(
    "metadata",
    [
        {"token": "canary\r\nX-Other: 1"},
        {"token": {"nested": "canary"}},
        {"bad name": "canary"},
        {"Content-Length": "canary"},
    ],
)
def test_metadata_that_cannot_be_headers_is_the_users_mistake(metadata: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        held("http", Settings("agent", metadata=metadata), Says("hello"))
    assert "metadata key" in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("host", ["http://localhost", "a b", "", "me@host"])
def test_a_host_is_only_a_host(host: str) -> None:
    settings = Settings("agent", host=host or " ")
    with pytest.raises(InputError, match="not the name of a host"):
        held("http", settings, Says("hello"))


def test_a_host_with_a_port_is_refused_with_advice_that_works() -> None:
    for host in ("http://localhost:8080", "localhost:8080", "localhost:", "1.2.3.4:80"):
        with pytest.raises(InputError, match="not the name of a host") as refused:
            make_address("http", host, 80)
        assert "pass the port with --port" in str(refused.value)
    assert make_address("http", "localhost", 8080) == "http://localhost:8080"
    assert make_address("http", "::1", 80) == make_address("http", "[::1]", 80) == "http://[::1]:80"


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    made = self_signed(tmp_path)
    if made is None:
        pytest.skip("openssl is not installed, so no certificate can be made")
    return made


def test_a_self_signed_certificate_is_refused_and_accepted_with_its_ca(
    certificate: tuple[Path, Path],
) -> None:
    with ScriptedServer(echo, *certificate) as server:
        refused = held("https", local(server), Says("hello"))
        known = held("https", local(server, ca_file=certificate[0]), Says("hello"))
        unverified = held("https", local(server, verify=False), Says("hello"))
    assert refused.ending is ConversationEnd.OUTAGE
    assert refused.lasting
    assert "certificate is not trusted: self" in str(refused.reason)
    assert "--ca-file FILE; or do not check it, with --no-verify" in str(refused.reason)
    assert texts(known) == texts(unverified) == ["hello"]


def test_a_certificate_for_another_name_is_not_mended_by_a_ca(
    tmp_path: Path,
) -> None:
    made = self_signed(tmp_path, "DNS:elsewhere.example")
    if made is None:
        pytest.skip("openssl is not installed, so no certificate can be made")
    with ScriptedServer(echo, *made) as server:
        refused = held("https", local(server, ca_file=made[0]), Says("hello"))
    assert "certificate is not trusted: IP address mismatch" in str(refused.reason)
    assert "--ca-file" not in str(refused.reason)
    assert "name the server with --host" in str(refused.reason)


def test_a_limit_holds_over_tls(certificate: tuple[Path, Path]) -> None:
    with ScriptedServer(_a_byte_a_second, *certificate) as server:
        settings = local(server, ca_file=certificate[0])
        conversation = calmest("https", settings, Says("hello", timeout=0.4))
    assert conversation.ending is ConversationEnd.TOO_SLOW
    assert conversation.seconds < 0.4 + GRACE


def test_http_to_a_tls_server_is_an_outage(certificate: tuple[Path, Path]) -> None:
    with ScriptedServer(echo, *certificate) as server:
        assert held("http", local(server), Says("hello")).ending is ConversationEnd.OUTAGE


def test_a_ca_file_that_is_none_is_the_users_mistake(tmp_path: Path) -> None:
    wrong = tmp_path / "ca.pem"
    wrong.write_text("no certificate")
    for ca_file in (wrong, tmp_path / "absent.pem"):
        with pytest.raises(InputError, match="not a file of certificates"):
            held("https", Settings("agent", ca_file=ca_file), Says("hello"))


def test_reaching_a_server_that_takes_no_connection_is_an_outage_within_the_limit() -> None:
    # A full backlog makes the kernel ignore further attempts, as a distant firewall would.
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = [_attempt(full.getsockname()) for _ in range(8)]
        settings = Settings("agent", host="127.0.0.1", port=full.getsockname()[1])
        conversation = calmest("http", settings, Says("hello", timeout=0.5))
        for filler in fillers:
            filler.close()
    assert conversation.ending is ConversationEnd.OUTAGE
    assert "cannot be reached" in str(conversation.reason)
    assert conversation.seconds < 0.5 + GRACE


def _attempt(where: Any) -> socket.socket:
    filler = socket.socket()
    filler.setblocking(False)
    filler.connect_ex(where)
    return filler
