"""`assay agents` through the real command: verdicts, limits, money, secrets, modes of failure."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.agents.running_support import answers, ask, rule, write
from tests.agents.scripted_server import (
    Request,
    Script,
    ScriptedServer,
    Wire,
    answer,
    complete,
    echo,
    self_signed,
)
from tests.conftest import Command
from tests.models import scripted_server as models
from tests.models.scripted_server import Received, Reply, fails, says_json
from tests.waiting import PATIENCE, wait_until

GIST = ask(response={"text": {"gist": "The answer names Paris."}})


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the judge said in one test is asked again in another."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("ASSAY_CACHE", str(folder))
    for name in ("ASSAY_MODEL", "ASSAY_MODEL_URL", "GEMINI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def at(server: ScriptedServer) -> list[str]:
    return ["--host", "127.0.0.1", "--port", str(server.port)]


def judged_by(judge: models.ScriptedServer) -> list[str]:
    return ["--model", "scripted", "--model-url", judge.url]


def test_a_ratio_is_decided_early_or_taken_in_full(assay: Command, tmp_path: Path) -> None:
    write(tmp_path, success_ratio="2/4")
    with ScriptedServer(answers("right")) as server:
        early = assay("agents", "verify", "test.hocon", *at(server), "--jobs", "1")
        assert (early.returncode, len(server.requests)) == (0, 2)
        assert "interval" not in early.stdout
        whole = assay("agents", "verify", "test.hocon", *at(server), "--all-samples")
        assert (whole.returncode, len(server.requests)) == (0, 6)
        over = assay("agents", "verify", "test.hocon", *at(server), "--ratio", "3/3", "--json")
        assert len(json.loads(over.stdout)["cases"][0]["reports"]) == 3
    assert "test.hocon::http\n  4 samples: 4 passed\n" in whole.stdout
    assert "  rate 100%, 95% interval 51% to 100%\n" in whole.stdout
    assert "(pass^k): 1: 100%, 2: 100%, 4: 100%\n" in whole.stdout
    assert "  2/4 lets an agent that is right 40% of the time pass" in whole.stdout
    with ScriptedServer(answers("wrong")) as server:
        failed = assay("agents", "verify", "test.hocon", *at(server), "--jobs", "1")
        assert (failed.returncode, len(server.requests)) == (1, 3)
    assert "decided after 3 of 4" in failed.stdout
    assert "1.text.keywords" in failed.stdout


@contextmanager
def front(plain: ScriptedServer, secure: ScriptedServer) -> Iterator[int]:
    """One port for both: the first byte of a TLS connection is 22."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(1)
        if first:
            port = secure.port if first == b"\x16" else plain.port
            inner, outer = await asyncio.open_connection("127.0.0.1", port)
            outer.write(first)
            await asyncio.gather(pipe(reader, outer), pipe(inner, writer))
        writer.close()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
        writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(pass_on, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def stop() -> None:
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(PATIENCE)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE)
        loop.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    made = self_signed(tmp_path_factory.mktemp("tls"))
    if made is None:
        pytest.skip("there is no openssl to make a certificate with")
    return made


@pytest.mark.real_start
def test_every_connection_must_reach_the_ratio(
    assay: Command, tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    write(tmp_path, connections=["http", "https"])
    with (
        ScriptedServer(answers("right")) as plain,
        ScriptedServer(answers("wrong"), *certificate) as secure,
        front(plain, secure) as port,
    ):
        result = assay("agents", "verify", "test.hocon", "--host", "127.0.0.1",
                       "--port", str(port), "--ca-file", certificate[0], "--json")  # fmt: skip
    assert result.returncode == 1
    outcomes = {one["id"]: one["outcome"] for one in json.loads(result.stdout)["cases"]}
    assert outcomes == {"test.hocon::http": "passed", "test.hocon::https": "failed"}


def test_a_certificate_is_refused_until_its_authority_is_named(
    assay: Command, tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    write(tmp_path, connections="https")
    with ScriptedServer(answers("right"), *certificate) as server:
        refused = assay("agents", "verify", "test.hocon", *at(server))
        assert refused.returncode == 3
        assert "the server's certificate is not trusted" in refused.stdout
        assert server.requests == []
        named = assay("agents", "verify", "test.hocon", *at(server), "--ca-file", certificate[0])
        assert named.returncode == 0
        trusting = assay("agents", "verify", "test.hocon", *at(server), "--no-verify")
        assert trusting.returncode == 0


def test_an_outage_is_an_error_after_three_attempts(assay: Command, tmp_path: Path) -> None:
    async def down(request: Request, wire: Wire) -> None:
        await wire.status(503, b"try later")

    write(tmp_path)
    with ScriptedServer(down) as server:
        result = assay("agents", "verify", "test.hocon", *at(server))
    assert (result.returncode, len(server.requests)) == (3, 3)
    assert "status 503: try later" in result.stdout


def test_requests_that_failed_and_were_repeated_are_in_every_report(
    assay: Command, tmp_path: Path
) -> None:
    async def flickering(request: Request, wire: Wire) -> None:
        """Out for every first request but the last few, and there for every second."""
        if request.number < 28 and request.number % 2 == 0:
            await wire.status(503)
        else:
            await answer(wire, "right")

    told = "14 of 34 requests failed and were repeated"
    write(tmp_path, success_ratio="20/20")
    with ScriptedServer(flickering) as server:
        words = ["agents", "verify", "test.hocon", *at(server), "--jobs", "1", "--out", "run"]
        result = assay(*words)
        assert (result.returncode, len(server.requests)) == (0, 34)
    assert f"  rate 100%, 95% interval 84% to 100%; {told}\n" in result.stdout
    shown = assay("report", "run", "--format", "json")
    [case] = json.loads(shown.stdout)["cases"]
    assert case["reason"].endswith(told)
    assert [report["case"]["repeated"] for report in case["reports"]] == [1] * 14 + [0] * 6
    with ScriptedServer(flickering) as server:
        assessed = assay("agents", "assess", "test.hocon", *at(server), "--jobs", "1")
    assert f"- {told}\n" in assessed.stdout


def test_without_retries_every_outage_is_an_error_also_when_a_run_is_resumed(
    assay: Command, tmp_path: Path
) -> None:
    async def out_at_first(request: Request, wire: Wire) -> None:
        if request.number in (0, 1):
            await wire.status(503)
        else:
            await answer(wire, "right")

    write(tmp_path)
    with ScriptedServer(out_at_first) as server:
        words = ["agents", "verify", "test.hocon", *at(server), "--retries", "0", "--out", "run"]
        assert (assay(*words).returncode, len(server.requests)) == (3, 1)
        assert (assay("runs", "resume", "run").returncode, len(server.requests)) == (3, 2)
        resumed = assay("runs", "resume", "run")
        assert (resumed.returncode, len(server.requests)) == (0, 3)
        assert "2 of 3 requests failed and were repeated" in resumed.stdout
    (tmp_path / "assay.toml").write_text("[agents]\nretries = 0\n")
    with ScriptedServer(out_at_first) as server:
        configured = assay("agents", "verify", "test.hocon", *at(server))
        assert (configured.returncode, len(server.requests)) == (3, 1)


@pytest.mark.real_start
def test_a_dead_port_with_a_limit_is_an_error_that_names_the_server(
    assay: Command, tmp_path: Path
) -> None:
    write(tmp_path, success_ratio="2/3", timeout_in_seconds=1)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        result = assay("agents", "verify", "test.hocon", "--host", "127.0.0.1", "--port", str(port))
    assert result.returncode == 3
    assert f"http://127.0.0.1:{port}" in result.stdout
    assert "the server cannot be reached" in result.stdout


@pytest.mark.real_start
def test_without_a_model_a_gist_is_unverified_with_advice(assay: Command, tmp_path: Path) -> None:
    write(tmp_path, GIST)
    with ScriptedServer(answers("It is Paris.")) as server:
        result = assay("agents", "verify", "test.hocon", *at(server))
    assert result.returncode == 1
    assert "1 unverified" in result.stdout
    assert "name a model with --model" in result.stdout


def test_a_gist_is_judged_by_votes_and_never_paid_twice(assay: Command, tmp_path: Path) -> None:
    def split(received: Received) -> Reply:
        holds = judge.calls != 2
        return says_json({"reason": "it does" if holds else "it does not", "holds": holds})

    write(tmp_path, GIST)
    with ScriptedServer(answers("It is Paris.")) as server, models.ScriptedServer(split) as judge:
        words = ["agents", "verify", "test.hocon", *at(server), *judged_by(judge)]
        voted = assay(*words, "--judge-votes", "3")
        assert (voted.returncode, judge.calls) == (0, 3)
        again = assay(*words, "--judge-votes", "3")
        assert (again.returncode, judge.calls) == (0, 3)
        even = assay(*words, "--judge-votes", "2")
        assert even.returncode == 2
        assert "odd number" in even.stderr


def test_a_judge_that_is_out_is_an_error(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "assay.toml").write_text("[models]\npatience = 0.0\n")
    write(tmp_path, GIST)
    with (
        ScriptedServer(answers("It is Rome.")) as server,
        models.ScriptedServer(fails(500)) as judge,
    ):
        result = assay("agents", "verify", "test.hocon", *at(server), *judged_by(judge))
    assert result.returncode == 3
    assert "the judge gave no answer" in result.stdout


def test_a_spent_budget_ends_with_how_to_go_on(assay: Command, tmp_path: Path) -> None:
    async def different(request: Request, wire: Wire) -> None:
        await answer(wire, f"Paris, {request.number}")

    write(tmp_path, GIST, success_ratio="4/4")
    with ScriptedServer(different) as server, models.ScriptedServer(rule) as judge:
        result = assay("agents", "verify", "test.hocon", *at(server), *judged_by(judge),
                       "--max-tokens", "30", "--out", "run", "--jobs", "1")  # fmt: skip
        assert result.returncode == 3
        assert "30 of the 30 tokens" in result.stderr
        assert "continue with: assay runs resume run" in result.stderr
        assert (len(server.requests), judge.calls) == (3, 2)
        resumed = assay("runs", "resume", "run")
        assert resumed.returncode == 0
        # The third answer was not judged, so only that one is asked for again.
        assert (len(server.requests), judge.calls) == (5, 4)


def test_a_killed_run_repeats_no_finished_sample(tmp_path: Path, assay: Command) -> None:
    release = threading.Event()

    async def script(request: Request, wire: Wire) -> None:
        if request.number >= 4 and not release.is_set():
            await asyncio.sleep(2 * PATIENCE)
        await answer(wire, "right")

    write(tmp_path, success_ratio="8/8")
    with ScriptedServer(script) as server:
        words = ["agents", "verify", "test.hocon", *at(server), "--jobs", "2", "--out", "run"]
        process = subprocess.Popen(
            [sys.executable, "-m", "assay", *words], cwd=tmp_path, stderr=subprocess.DEVNULL
        )
        wait_until(lambda: len(server.requests) >= 6, process)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
        assert len(server.requests) == 6
        release.set()
        resumed = assay("runs", "resume", "run", "--json")
        assert resumed.returncode == 0
        # Four were finished and two were under way.
        assert len(server.requests) == 6 + 4
    [case] = json.loads(resumed.stdout)["cases"]
    assert len(case["reports"]) == 8


def test_no_secret_is_on_disk_or_in_logs_and_no_credential_in_what_the_judge_gets(
    assay: Command, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_TOKEN", "CANARY-environment")
    (tmp_path / "test.hocon").write_text("""
        agent: agent
        connections: http
        success_ratio: 2/2
        metadata { authorization: ${AGENT_TOKEN}, user: CANARY-metadata, number: 76543219 }
        interactions: [
            {
                text: "hello "${AGENT_TOKEN}
                sly_data { looked: visible, unlooked: CANARY-sly, deep { pin: 98765432 } }
                response {
                    text { gist: "The answer greets", keywords: "hello "${AGENT_TOKEN} }
                    sly_data { looked { value: visible, gist: "It says visible" } }
                }
            }
            { text: "fail", response.text.keywords: never }
        ]
    """)

    async def talkative(request: Request, wire: Wire) -> None:
        """Repeats every secret it hears in its answer, where a test looks at it."""
        headers = request.headers
        told = f"{request.text} {headers['authorization']} {headers['user']} {headers['number']}"
        sly_data = {**request.body["sly_data"], "more": "CANARY-returned"}
        await answer(wire, told + " greets", sly_data=sly_data, context={"c": "CANARY-context"})

    with ScriptedServer(talkative) as server, models.ScriptedServer(rule) as judge:
        result = assay("agents", "assess", "test.hocon", *at(server), *judged_by(judge),
                       "--out", "run", "--report", "html=report.html", "--report",
                       "junit=report.xml", "--report", "parquet=report.parquet")  # fmt: skip
    assert server.requests[0].headers["authorization"] == "CANARY-environment"
    assert server.requests[0].body["sly_data"]["unlooked"] == "CANARY-sly"
    assert result.returncode == 1
    assert judge.calls > 0
    # The judge reads what was said, but for what opens a door.
    judged = "".join(request.last for request in judge.requests if "criterion" in request.last)
    assert "CANARY-environment" not in json.dumps([request.body for request in judge.requests])
    assert "CANARY-metadata" in judged
    assert "76543219" in judged
    told = [request.last for request in judge.requests if "criterion" not in request.last]
    told += [result.stdout, result.stderr]
    files = [*(tmp_path / "run").rglob("*"), *tmp_path.glob("report.*"), *own_cache.rglob("*")]
    contents = [path.read_bytes().decode(errors="replace") for path in files if path.is_file()]
    assert len(contents) > 6
    assert any("<AGENT_TOKEN>" in one for one in contents)
    for secret in ("CANARY", "76543219", "98765432"):
        assert not [one for one in (*told, *contents) if secret in one], secret


# What the agent does wrong in which of twenty samples, by the number of its request.
PLANTED = {
    "refuses": {1, 6, 11, 16},
    "miscounts": {2, 7, 12},
    "apologises": {4, 13},
}


# The same samples in another order.
SHUFFLED = [7, 3, 16, 0, 12, 1, 19, 4, 9, 13, 2, 6, 18, 5, 11, 10, 8, 17, 14, 15]


def three_ways(order: list[int]) -> Script:
    async def script(request: Request, wire: Wire) -> None:
        number = order[request.number]
        total, said = 42, "The capital of France is Paris, as everyone knows."
        if number in PLANTED["refuses"]:
            said = f"This request is against my policy, number {number}."
        elif number in PLANTED["miscounts"]:
            total = 50 + number
        elif number in PLANTED["apologises"]:
            said = f"Paris, so sorry! I am sorry that it took me {number} seconds."
        await answer(wire, said, structure={"total": total})

    return script


@pytest.mark.real_start
def test_the_assessor_reports_the_planted_modes_and_no_other(
    assay: Command, tmp_path: Path
) -> None:
    response = {
        "text": {"keywords": "Par", "not_gist": "The answer is sorry"},
        "structure": {"total": {"value": 42}},
    }
    write(tmp_path, ask(response=response), success_ratio="10/20")

    def judge_or_name(received: Received) -> Reply:
        if "criterion" in received.last:
            return rule(received)
        about = json.loads(received.last)
        if "failures" in about:
            titles = sorted({f"fails {one['check']}" for one in about["failures"]})
            return says_json({"modes": [{"title": t, "description": "planted"} for t in titles]})
        titles = [mode["title"] for mode in about["modes"]]
        return says_json({"mode": titles.index(f"fails {about['failure']['check']}") + 1})

    found = []
    for order in (list(range(20)), SHUFFLED):
        script = three_ways(order)
        with ScriptedServer(script) as server, models.ScriptedServer(judge_or_name) as judge:
            result = assay("agents", "assess", "test.hocon", *at(server), *judged_by(judge),
                           "--jobs", "1", "--json", "--markdown", "modes.md")  # fmt: skip
        # The ratio is reached; modes of failure are told all the same.
        assert result.returncode == 0
        assert len(server.requests) == 20
        [test] = json.loads(result.stdout)["tests"]
        assert (test["passes"], test["judged"], test["errors"]) == (11, 20, 0)
        found.append(
            [
                (mode["check"], mode["share"], mode["title"], mode["likelier_culprit"],
                 sorted(order[sample - 1] for sample in mode["samples"]))
                for mode in test["modes"]
            ]
        )  # fmt: skip
    assert found[0] == [
        ("text.keywords", 0.2, "fails text.keywords", "agent", sorted(PLANTED["refuses"])),
        ("structure.total.value", 0.15, "fails structure.total.value", "agent",
         sorted(PLANTED["miscounts"])),
        ("text.not_gist", 0.1, "fails text.not_gist", "agent", sorted(PLANTED["apologises"])),
    ]  # fmt: skip
    assert found[1] == found[0]
    page = (tmp_path / "modes.md").read_text()
    assert "- share: 4 of 20 samples (20%, 8% to 42%)" in page
    assert page.count("### Mode") == 3


def test_a_check_that_every_sample_fails_points_at_the_test(assay: Command, tmp_path: Path) -> None:
    write(tmp_path, ask(response={"text": {"keywords": "unheard of"}}), success_ratio="1/4")
    with ScriptedServer(echo) as server:
        result = assay("agents", "assess", "test.hocon", *at(server), "--out", "run")
    assert result.returncode == 1
    assert "likelier culprit: the test; every sample fails this check" in result.stdout
    assert "0 of 4 judged samples passed" in result.stdout
    # A resumed run tells the same, and asks the agent nothing.
    again = assay("runs", "resume", "run")
    assert (again.returncode, again.stdout) == (
        1,
        result.stdout.replace("run: run", f"run: {tmp_path}/run"),
    )
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("namer", "limit", "told"),
    [
        (fails(500), 1000, "500: scripted"),
        # The judge has used all that both of them may use.
        (says_json({"title": "x", "description": "x"}), 15, "15 of the 15 tokens"),
    ],
    ids=["outage", "budget"],
)
def test_modes_that_cannot_be_named_are_told_all_the_same(
    assay: Command, tmp_path: Path, namer: Reply, limit: int, told: str
) -> None:
    (tmp_path / "assay.toml").write_text("[models]\npatience = 0.0\n")
    write(tmp_path, GIST)

    def judge_or_name(received: Received) -> Reply:
        return rule(received) if "criterion" in received.last else namer

    with (
        ScriptedServer(answers("It is Rome.")) as server,
        models.ScriptedServer(judge_or_name) as judge,
    ):
        result = assay("agents", "assess", "test.hocon", *at(server), *judged_by(judge),
                       "--max-tokens", str(limit))  # fmt: skip
    assert result.returncode == 1
    assert "- check: `text.gist` of interaction 1" in result.stdout
    assert "the modes have no names" in result.stderr
    assert told in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("absent.hocon",), "no such file"),
        (("test.hocon", "--ratio", "3/2"), "not a success ratio"),
        (("test.hocon", "--connection", "htps"), "htps"),
        (("sly.hocon", "--connection", "openai"), "openai never returns sly_data"),
        (("test.hocon", "--url", "http://me:secret@localhost/v1"), "must be plain"),
        (("wrong.hocon",), "did you mean 'keywords'?"),
    ],
)
def test_a_users_mistake_ends_before_anything_is_asked(
    assay: Command, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    write(tmp_path)
    write(tmp_path, ask(response={"text": {"keyword": "x"}}), name="wrong.hocon")
    write(tmp_path, ask(response={"sly_data": {"x": {"value": 1}}}), name="sly.hocon")
    with ScriptedServer(echo) as server:
        result = assay("agents", "verify", *words, *at(server))
    assert (result.returncode, server.requests) == (2, [])
    assert told in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / ".assay").exists()


def test_what_is_sound_runs_and_a_file_that_cannot_be_used_is_an_error_of_its_own(
    assay: Command, tmp_path: Path
) -> None:
    (tmp_path / "tests").mkdir()
    write(tmp_path / "tests", name="a.hocon")
    wrong = ask(response={"text": {"keyword": "x"}}, speech="x")
    write(tmp_path / "tests", wrong, name="b.hocon")
    write(tmp_path / "tests", name="c.hocon", connections="python", agent="nowhere")
    (tmp_path / "tests" / "d.hocon").symlink_to("d.hocon")
    write(tmp_path / "tests", name=os.fsdecode(b"e\xff.hocon"))
    (tmp_path / "tests" / "f.json").write_text('{"interactions": [')
    with ScriptedServer(answers("right")) as server:
        words = ["agents", "verify", "tests", *at(server)]
        result = assay(*words, "--out", "run", "--report", "junit=report.xml")
        assert (result.returncode, len(server.requests)) == (2, 2)
        last = result.stdout.splitlines()[-1]
        assert last == (
            "Wrong input: 2 of 6 cases passed (33.3%), 4 errors, 4 of them because of wrong input."
        )
        assert "    tests/b.hocon:1: there is no key `speech` here (valid: " in result.stdout
        assert "    tests/b.hocon:1: there is no test `keyword` (did you" in result.stdout
        assert "tests/c.hocon: 'nowhere' does not name a Python agent" in result.stdout
        assert "    tests/d.hocon:1: cannot be read" in result.stdout
        assert "    tests/f.json:1: is not valid JSON" in result.stdout
        assert 'errors="4"' in (tmp_path / "report.xml").read_text()
        # Today's way for those who want it: one wrong file, and nothing is asked.
        strict = assay(*words, "--strict")
        assert (strict.returncode, strict.stdout, len(server.requests)) == (2, "", 2)
        assert "tests/b.hocon:1: there is no key `speech`" in strict.stderr
        # What was mended runs when the run is resumed, and nothing that is finished.
        for name in ("c.hocon", "d.hocon", "f.json"):
            (tmp_path / "tests" / name).unlink()
        write(tmp_path / "tests", name="b.hocon")
        resumed = assay("runs", "resume", "run", "--json")
        assert (resumed.returncode, len(server.requests)) == (0, 3)
    outcomes = {one["id"]: one["outcome"] for one in json.loads(resumed.stdout)["cases"]}
    assert outcomes == {
        "tests/a.hocon::http": "passed",
        "tests/b.hocon::http": "passed",
        "tests/e\\udcff.hocon::http": "passed",
    }


def test_a_file_that_cannot_be_used_is_told_beside_a_failure_and_in_an_assessment(
    assay: Command, tmp_path: Path
) -> None:
    write(tmp_path, ask(response={"text": {"keywords": "never"}}), name="a.hocon")
    write(tmp_path, ask(response={"sly_data": {"x": {"value": 1}}}), name="b.hocon")
    with ScriptedServer(complete(lambda _: "right")) as server:
        # What the files say is fine; over this connection one of them can never pass.
        words = ["a.hocon", "b.hocon", *at(server), "--connection", "openai"]
        result = assay("agents", "verify", *words, "--quiet")
        assert (result.returncode, len(server.requests)) == (2, 1)
        assert result.stdout == (
            "Wrong input: 0 of 2 cases passed (0.0%), 1 failed, 1 error, "
            "1 of them because of wrong input.\n"
        )
        assessed = assay("agents", "assess", *words)
        assert assessed.returncode == 2
        assert "## `b.hocon`\n\nThe file cannot be used:" in assessed.stdout
        assert "- `b.hocon:1: openai never returns sly_data" in assessed.stdout
        values = json.loads(assay("agents", "assess", *words, "--json").stdout)
    assert [test["wrong_input"] != "" for test in values["tests"]] == [False, True]


def test_an_interrupt_leaves_a_run_that_can_be_resumed(tmp_path: Path, assay: Command) -> None:
    async def hangs_once(request: Request, wire: Wire) -> None:
        if request.number == 1:
            await asyncio.sleep(2 * PATIENCE)
        await answer(wire, "right")

    write(tmp_path, success_ratio="2/2")
    with ScriptedServer(hangs_once) as server:
        words = ["agents", "verify", "test.hocon", *at(server), "--jobs", "1", "--out", "run"]
        process = subprocess.Popen(
            [sys.executable, "-m", "assay", *words],
            cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=dict(os.environ),
        )  # fmt: skip
        wait_until(lambda: len(server.requests) >= 2, process)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 130
        assert "continue with: assay runs resume run" in told
        assert assay("runs", "resume", "run").returncode == 0
        assert len(server.requests) == 3


def test_files_of_two_folders_and_what_is_passed_over(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    write(tmp_path / "a")
    write(tmp_path / "b", ask(response={"text": {"keywords": "never"}}))
    (tmp_path / "a" / "network.hocon").write_text("tools: []")
    with ScriptedServer(answers("right")) as server:
        result = assay("agents", "verify", "a", "b", *at(server), "--json")
    assert result.returncode == 1
    assert "a/network.hocon: has no `interactions`, skipped" in result.stderr
    outcomes = {one["id"]: one["outcome"] for one in json.loads(result.stdout)["cases"]}
    assert outcomes == {"a/test.hocon::http": "passed", "b/test.hocon::http": "failed"}


def test_a_program_is_talked_to_only_where_the_user_names_it(
    assay: Command, tmp_path: Path
) -> None:
    """Neither a test file nor a run folder, which may come from elsewhere, starts a program."""
    write(tmp_path, connections="command")
    (tmp_path / "agent.py").write_text(
        "import json, pathlib\n"
        "pathlib.Path('started').touch()\n"
        "input()\n"
        "print(json.dumps({'text': 'right'}))\n"
    )
    command = f"{sys.executable} agent.py"
    silent = assay("agents", "verify", "test.hocon", "--out", "run")
    assert silent.returncode == 2
    assert "needs a program" in silent.stderr
    assert not (tmp_path / "started").exists()
    done = assay("agents", "verify", "test.hocon", "--command", command, "--out", "run")
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "started").unlink()
    refused = assay("runs", "resume", "run")
    assert refused.returncode == 2
    assert "to start it, pass --command" in refused.stderr
    assert assay("runs", "resume", "run", "--command", "other").returncode == 2
    assert not (tmp_path / "started").exists()
    resumed = assay("runs", "resume", "run", "--command", command)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
