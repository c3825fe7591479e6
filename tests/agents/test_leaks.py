"""Canaries: an agent repeats what it must not know, and none of it is kept, shown or judged."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from assay.agents.plan import ConnectionOptions
from assay.agents.testfile.lint import lint_files
from assay.errors import InputError
from assay.findings import FORMATS
from assay.model import Outcome
from assay.redaction import ENCODERS
from assay.reports import render_report
from assay.runs import Run
from tests.agents.running_support import ask, run_file, write
from tests.agents.scripted_server import Request, Script, ScriptedServer, Wire, answer
from tests.test_redaction import SPECIAL

KEY = "sk-CANARY-0123456789abcdef"
NASTY = 'CANARY "quoted"/slashed  spaced'
LONG = "CANARY-" + "0123456789abcdef" * 30


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again at once."""
    monkeypatch.setattr("assay.agents.sampling.tally.RETRY_DELAYS", (0.0,))


def kept(folder: Path) -> str:
    """All that a run has written."""
    files = [path for path in (folder / "run").rglob("*") if path.is_file()]
    assert files
    return "\n".join(path.read_bytes().decode(errors="replace") for path in files)


def _refusing(quoted: Callable[[str], str]) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        await wire.status(401, quoted(request.headers["authorization"]).encode())

    return script


def _reporting(quoted: Callable[[str], str]) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        told = {"error": {"message": quoted(request.headers["authorization"])}}
        await wire.status(200, json.dumps(told).encode())

    return script


def _answering(quoted: Callable[[str], str]) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        said = {"content": quoted(request.headers["authorization"])}
        await wire.status(200, json.dumps({"choices": [{"message": said}]}).encode())

    return script


@pytest.mark.parametrize("script", [_refusing, _reporting, _answering])
@pytest.mark.parametrize(
    "quoted",
    [
        str,
        lambda header: f"Incorrect API key provided: {header.removeprefix('Bearer ')}.",
        lambda header: base64.b64encode(f"user:{header}".encode()).decode(),
        lambda header: "x" * 185 + header,
    ],
    ids=["header", "key", "base64", "where it is cut"],
)
def test_the_key_of_a_connection_is_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    script: Callable[[Callable[[str], str]], Script], quoted: Callable[[str], str],
) -> None:  # fmt: skip
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    path = write(tmp_path, connections="openai")
    with ScriptedServer(script(quoted)) as server:
        [record] = run_file(path, reach=ConnectionOptions(url=f"http://127.0.0.1:{server.port}/v1"))
    assert KEY in server.requests[0].headers["authorization"]
    assert record.outcome in (Outcome.ERROR, Outcome.FAILED)
    everything = kept(tmp_path)
    assert "<OPENAI_API_KEY" in everything or "x" * 185 in everything
    assert "CANARY" not in everything
    assert KEY[:7] not in everything
    assert base64.b64encode(KEY.encode()).decode()[4:16] not in everything


def _status(quoted: str) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        await wire.status(500, quoted.encode())

    return script


def _frame(quoted: str) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        await wire.begin()
        await wire.frame({"error": quoted})
        await wire.finish()

    return script


def _outage(quoted: str) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        await answer(wire, f"Agent stopped due to exception {quoted}")

    return script


def _attempt(quoted: str) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        await answer(wire, f"Retrying: {quoted}")

    return script


@pytest.mark.parametrize("script", [_status, _frame, _outage, _attempt])
@pytest.mark.parametrize("before", [170, 199])
@pytest.mark.parametrize("secret", [LONG, "\n ".join(NASTY.split())])
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    script: Callable[[str], Script], before: int, secret: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("AGENT_TOKEN", LONG if secret == LONG else NASTY)
    path = tmp_path / "test.hocon"
    path.write_text(
        "agent: a, connections: http, metadata.token: ${AGENT_TOKEN}\n"
        "interactions: [{text: hi, response.text.keywords: x}]"
    )
    with ScriptedServer(script("y" * before + secret + "z" * 300)) as server:
        [record] = run_file(path, server)
    assert record.outcome is Outcome.ERROR
    everything = kept(tmp_path)
    assert "y" * 150 in record.reason
    for part in ("CANARY", "CANA", "quoted", "slashed", "spaced", "0123456789"):
        assert part not in everything


@pytest.mark.parametrize("function", ["quoting", "quoting_later"])
def test_what_an_agent_in_this_process_raises_quotes_no_credential(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    monkeypatch.setenv("SOME_API_KEY", NASTY)
    path = write(tmp_path, agent=f"tests.agents.python_agents:{function}", connections="python")
    [record] = run_file(path, reach=ConnectionOptions())
    assert record.outcome is Outcome.FAILED
    [result] = record.reports[0].results.values()
    assert "the agent raised an error: ValueError: xxx" in str(result.diff)
    everything = kept(tmp_path)
    for part in ("CANARY", "CAN", "quoted", "spaced"):
        assert part not in everything


async def _slow_refusal(request: Request, wire: Wire) -> None:
    await wire.raw(b"HTTP/1.1 500 Scripted\r\nContent-Length: 1000\r\n\r\nCANA")


async def _endless_refusal(request: Request, wire: Wire) -> None:
    await wire.status(500, b"y" * 2**20 + b"CANARY")


@pytest.mark.parametrize("script", [_slow_refusal, _endless_refusal])
def test_a_refusal_that_is_not_whole_is_not_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: Script
) -> None:
    monkeypatch.setattr("assay.agents.connections.web._PATIENCE", 0.1)
    with ScriptedServer(script) as server:
        [record] = run_file(write(tmp_path), server, retries=0)
    assert record.reason.endswith("the server answered with status 500")


def test_private_data_that_an_answer_quotes_is_not_kept(tmp_path: Path) -> None:
    sly_data = {"card": "CANARY-card", "pin": 98765432, "looked": "at-by-a-test", "tone": "warm"}

    async def talkative(request: Request, wire: Wire) -> None:
        told = f"warm {json.dumps(request.body)} {quote('CANARY/returned')} at-by-a-test"
        await answer(
            wire, told, sly_data={**sly_data, "more": "CANARY/returned"}, structure={"said": told}
        )

    response = {
        "text": {"keywords": ["warm", "never"]},
        "sly_data": {"looked": {"value": "something else"}},
        "structure": {"said": {"value": "x"}},
    }
    with ScriptedServer(talkative) as server:
        [record] = run_file(write(tmp_path, ask("hi", response, sly_data=sly_data)), server)
    assert server.requests[0].body["sly_data"] == sly_data
    assert record.code == "1.sly_data.looked.value,1.structure.said.value,1.text.keywords[1]"
    everything = kept(tmp_path)
    for secret in ("CANARY", "98765432"):
        assert secret not in everything
    for shown in ("<sly_data.card>", "<sly_data.pin>", "<sly_data.more>", "at-by-a-test", "warm"):
        assert shown in everything


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
def test_private_data_with_every_special_character_is_not_kept_in_any_spelling(
    tmp_path: Path, encoder: Callable[[str], str]
) -> None:
    secrets = [f"CANARY{one}{one}canary{one}end" for one in SPECIAL]

    async def talkative(request: Request, wire: Wire) -> None:
        await answer(wire, "\u2603".join(map(encoder, request.body["sly_data"]["all"])))

    path = write(tmp_path, ask("hi", {"text": {"keywords": "never"}}, sly_data={"all": secrets}))
    with ScriptedServer(talkative) as server:
        [record] = run_file(path, server)
    assert record.outcome is Outcome.FAILED
    assert f"<sly_data.all.{len(SPECIAL) - 1}>" in kept(tmp_path)
    with Run(tmp_path / "run") as run:
        for name in ("terminal", "json", "markdown", "junit", "github", "parquet", "html"):
            assert b"canary" not in b"".join(render_report(run, name)).lower(), name
    assert "canary" not in kept(tmp_path).lower()


def test_the_name_of_an_agent_may_be_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_NAME", "CANARY agent")
    path = tmp_path / "test.hocon"
    interactions = "interactions: [{text: hi, response.text.keywords: x}]"
    path.write_text(f"agent: ${{AGENT_NAME}}, connections: http\n{interactions}")
    for number, script in enumerate((_status("no"), _frame("no"))):
        with ScriptedServer(script) as server:
            [record] = run_file(path, server)
        assert server.requests[0].path == "/api/v1/CANARY%20agent/streaming_chat", number
        assert "/api/v1/<AGENT_NAME>/streaming_chat" in record.reason
    assert "CANARY" not in kept(tmp_path)
    path.write_text(f"agent: ${{AGENT_NAME}}, connections: python\n{interactions}")
    with pytest.raises(InputError) as caught:
        run_file(path, reach=ConnectionOptions(), out="other")
    assert "<AGENT_NAME>" in str(caught.value)
    assert "CANARY" not in str(caught.value)


def test_what_lint_shows_of_a_value_has_no_part_of_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TOKEN", LONG)
    path = tmp_path / "test.hocon"
    path.write_text(
        "agent: a, timeout_in_seconds: ${AGENT_TOKEN}, success_ratio: ${AGENT_TOKEN}\n"
        "metadata: {user: " + LONG[::-1] + "}, failure_patterns: [" + LONG[::-1] + ", 3]\n"
        "connections: ${AGENT_TOKEN}, interactions: [{\n"
        "  chat_filter: ${AGENT_TOKEN}, sly_data: ${AGENT_TOKEN}\n"
        "  response: {text: ${AGENT_TOKEN}, structure: {a: {value: [${AGENT_TOKEN}, b]}}}\n"
        "}]"
    )
    findings = lint_files([path])
    assert len(findings) >= 7
    told = "".join(findings.report(name) for name in FORMATS)
    assert "<AGENT_TOKEN>" in told
    assert "CANARY" not in told
    assert "0123456789" not in told


@pytest.mark.parametrize(
    "url",
    [
        "http://me:CANARY@localhost/v1",
        "https://CANARY@localhost",
        "me:CANARY@localhost/v1",
        "//me:CANARY@localhost/v1",
        "http://localhost/v1?key=CANARY",
        "http://localhost/v1#CANARY",
        "http://[me:CANARY@localhost",
    ],
)
def test_an_address_with_a_secret_is_refused_before_there_is_a_run(url: str) -> None:
    with pytest.raises(InputError, match="must be plain") as caught:
        ConnectionOptions(url=url)
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://localhost", "http://"])
def test_an_address_that_is_none_is_refused_before_there_is_a_run(url: str) -> None:
    with pytest.raises(InputError, match="not an http or https address"):
        ConnectionOptions(url=url)


@pytest.mark.parametrize("host", ["me:CANARY@localhost", "localhost?key=CANARY", "http://local"])
def test_a_host_is_looked_at_before_there_is_a_run(host: str) -> None:
    with pytest.raises(InputError, match="not the name of a host") as caught:
        ConnectionOptions(host=host)
    assert "CANARY" not in str(caught.value)


def test_the_address_of_the_environment_must_be_plain_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://me:CANARY@127.0.0.1:1/v1")
    with pytest.raises(InputError, match="must be plain"):
        run_file(write(tmp_path, connections="openai"), reach=ConnectionOptions())
    assert "CANARY" not in kept(tmp_path)
