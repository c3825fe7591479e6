"""Runs as OpenTelemetry spans, delivered to a real collector over HTTP."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import assay
from assay.traces import pipe as module
from assay.traces import trace_case, trace_model_call, trace_run
from assay.traces.pipe import TracePipe
from tests.agents.running_support import ask, write
from tests.agents.scripted_server import Request, ScriptedServer, Wire, answer
from tests.conftest import Command
from tests.models import scripted_server as models
from tests.models.scripted_server import Received, Reply, fails, says_json
from tests.runs.making import make_record
from tests.traces.collector import Collector
from tests.waiting import PATIENCE, wait_until

EVALUATION = """\
import assay

def task(text):
    if text == "down":
        raise ConnectionError("the service is down")
    return text

cases = [("good", "good", "good"), ("bad", "bad", "other"), ("down", "down", "down")]
first = assay.Evaluation(cases, task, check="exact")
sampled = assay.Evaluation(cases[:1], task, check="exact", ratio="2/3")
limited = assay.Evaluation(cases[:2], task, check="exact", time_limit=30)
"""
INTERNAL, CLIENT = 1, 3


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith(("OTEL_", "ASSAY_MODEL"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    (tmp_path / "first.py").write_text(EVALUATION)


def point_to(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)


def test_a_run_is_a_trace_of_its_cases(
    assay: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with Collector() as collector:
        point_to(collector, monkeypatch)
        before = time.time_ns()
        result = assay("run", "first.py:first", "--otel", "--out", "run", "--quiet")
    assert (result.returncode, result.stderr) == (1, "")
    assert set(collector.paths) == {"/v1/traces"}
    (root,) = collector.named("assay evaluation")
    assert (root.parent, root.kind, root.is_error) == ("", INTERNAL, False)
    assert root.attributes == {
        "assay.run.name": "run", "assay.subject": "evaluation",
        "test.suite.name": "first.py:first", "assay.cases.passed": 1, "assay.cases.failed": 1,
        "assay.cases.error": 1,
    }  # fmt: skip
    assert root.resource["service.name"] == "assay"
    cases = {span.attributes["test.case.name"]: span for span in collector.named("case")}
    assert len(collector.spans) == 4
    assert {span.trace for span in collector.spans} == {root.trace}
    assert {span.parent for span in cases.values()} == {root.id}
    assert len({span.id for span in collector.spans}) == 4
    assert all(before < root.start <= span.end <= root.end for span in cases.values())
    good, bad, down = (cases[name] for name in ("good", "bad", "down"))
    assert good.attributes["test.case.result.status"] == "pass"
    assert bad.attributes["test.case.result.status"] == "fail"
    assert bad.attributes["assay.code"] == "failed: output"
    # A failure of the subject is no error of the operation; an error of the machine is.
    assert (good.is_error, bad.is_error, down.is_error) == (False, False, True)
    assert down.attributes["assay.outcome"] == down.attributes["error.type"] == "error"
    assert "test.case.result.status" not in down.attributes


def test_samples_are_spans_below_their_case(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collector() as collector:
        point_to(collector, monkeypatch)
        assay("run", "first.py:sampled", "--otel", check=True)
    (case,) = collector.named("case")
    samples = collector.named("sample")
    assert (case.attributes["assay.samples"], case.attributes["assay.samples.passed"]) == (3, 3)
    assert [span.parent for span in samples] == [case.id] * 3
    assert [span.attributes["assay.sample"] for span in samples] == [1, 2, 3]
    assert {span.attributes["gen_ai.evaluation.score.label"] for span in samples} == {"passed"}


def test_a_run_in_forked_processes_and_a_resumed_one_are_traces_of_their_own(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Collector() as collector:
        point_to(collector, monkeypatch)
        assay("run", "first.py:limited", "--otel", "--out", "run")
        assert len(collector.named("case")) == 2
        assay("runs", "resume", "run", "--otel")
    first, second = collector.named("assay evaluation")
    assert first.trace != second.trace
    assert len(collector.named("case")) == 2


def test_python_exports_what_is_run_inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cases = [("a", "a", "a"), ("\x1b[2J" + "\u202e" * 9_000, "a", "b")]
    with Collector() as collector:
        point_to(collector, monkeypatch)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
        with assay.export_traces():
            assay.evaluate(cases, str, check="exact", out=tmp_path / "one")
            assay.evaluate(cases, str, check="exact", out=tmp_path / "two")
        assay.evaluate(cases, str, check="exact", out=tmp_path / "three")
    roots = collector.named("assay evaluation")
    assert [root.attributes["assay.run.name"] for root in roots] == ["one", "two"]
    assert len(collector.named("case")) == 4
    assert {root.resource["service.name"] for root in roots} == {"nightly"}
    # However long or strange an id is, its span arrives, and nothing in it acts on a terminal.
    names = [span.attributes["test.case.name"] for span in collector.named("case")]
    assert max(map(len, names)) < 4_000
    assert not any(sign in name for name in names for sign in "\x1b\u202e")


def test_the_address_of_a_model_is_named_without_what_it_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Collector() as collector:
        point_to(collector, monkeypatch)
        with assay.export_traces(), trace_run("run", "test", "title"):
            url = "https://CANARY:CANARY@models.example:8443/CANARY?key=CANARY"
            with trace_model_call("small", "openai", url, 0.5):
                pass
            with trace_model_call("small", "openai", "http://[broken"):
                pass
    first, second = collector.named("chat small")
    assert b"CANARY" not in b"".join(collector.raw)
    assert first.attributes == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "small", "gen_ai.request.temperature": 0.5,
        "server.address": "models.example", "server.port": 8443,
    }  # fmt: skip
    assert "server.address" not in second.attributes


def judge(received: Received) -> Reply:
    if judged.calls == 1:
        return fails(503)
    return says_json({"reason": "it does", "holds": True})


judged: models.ScriptedServer


def test_an_agent_and_its_judge_follow_the_conventions_and_no_secret_leaves(
    assay: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    global judged
    monkeypatch.setenv("AGENT_TOKEN", "CANARY-environment")
    monkeypatch.setenv("ASSAY_MODEL_KEY", "CANARY-model-key")
    monkeypatch.setenv("CI_API_TOKEN", "CANARY-in-a-name")
    (tmp_path / "CANARY-in-a-name.hocon").write_text("""
        agent: agent
        connections: http
        success_ratio: 2/2
        metadata { authorization: ${AGENT_TOKEN}, user: CANARY-metadata }
        interactions: [{
            text: "CANARY-said "${AGENT_TOKEN}
            sly_data { looked: visible, unlooked: CANARY-sly }
            response { text { gist: "CANARY-criterion", keywords: CANARY } }
        }]
    """)

    async def talkative(request: Request, wire: Wire) -> None:
        told = f"{request.text} {request.headers['authorization']} CANARY-answered"
        await answer(wire, told, sly_data={"more": "CANARY-returned"})

    with (
        Collector() as collector,
        ScriptedServer(talkative) as server,
        models.ScriptedServer(judge) as judged,
    ):
        point_to(collector, monkeypatch)
        result = assay(
            "agents", "verify", ".", "--host", "127.0.0.1", "--port", str(server.port),
            "--model", "scripted", "--model-url", judged.url, "--otel", "--all-samples",
        )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    sent = b"".join(collector.raw)
    assert b"CANARY" not in sent
    assert b"<CI_API_TOKEN>.hocon::http" in sent
    (case,) = collector.named("case")
    samples, calls = collector.named("invoke_agent agent"), collector.named("chat scripted")
    assert [span.parent for span in (*samples, *calls)] == [case.id] * 4
    assert {span.kind for span in (*samples, *calls)} == {CLIENT}
    assert samples[0].attributes["gen_ai.operation.name"] == "invoke_agent"
    assert samples[0].attributes["gen_ai.agent.name"] == "agent"
    assert samples[0].attributes["gen_ai.provider.name"] == "http"
    assert samples[0].attributes["assay.requests"] == 1
    about = dict(calls[0].attributes)
    assert sum(span.attributes.get("assay.repeated", 0) for span in calls) == 1
    about.pop("assay.repeated", None)
    assert about == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai_compatible",
        "gen_ai.request.model": "scripted", "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5, "gen_ai.response.finish_reasons": ["stop"],
        "server.address": "127.0.0.1", "server.port": int(judged.url.split(":")[2].split("/")[0]),
    }  # fmt: skip
    assert case.attributes["gen_ai.usage.input_tokens"] == 20
    assert case.attributes["assay.model.repeated_calls"] == 1
    assert all(case.start <= span.start <= span.end <= case.end for span in calls)


def test_a_call_that_fails_is_an_error_with_its_kind(
    assay: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "assay.toml").write_text("[models]\npatience = 0.0\n")
    write(tmp_path, ask(response={"text": {"gist": "It greets."}}))

    async def greet(request: Request, wire: Wire) -> None:
        await answer(wire, "hello")

    with (
        Collector() as collector,
        ScriptedServer(greet) as server,
        models.ScriptedServer(fails(500)) as broken,
    ):
        point_to(collector, monkeypatch)
        result = assay(
            "agents", "verify", "test.hocon", "--host", "127.0.0.1", "--port", str(server.port),
            "--model", "scripted", "--model-url", broken.url, "--otel",
        )  # fmt: skip
    assert result.returncode == 3
    (call,) = collector.named("chat scripted")
    assert (call.is_error, call.attributes["error.type"]) == (True, "ModelFailed")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def test_a_collector_that_is_down_is_said_once_and_changes_nothing(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = assay("run", "first.py:first", "--quiet")
    address = f"http://CANARY:secret@127.0.0.1:{free_port()}/CANARY?key=CANARY"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    result = assay("run", "first.py:first", "--quiet", "--otel")
    assert (result.returncode, result.stdout) == (plain.returncode, plain.stdout)
    port = address.partition("@127.0.0.1:")[2].partition("/")[0]
    assert result.stderr == (
        f"assay: traces cannot be delivered to http://127.0.0.1:{port}: it does not answer; "
        "results are not affected\n"
    )


@pytest.mark.parametrize("status", [401, 500])
def test_a_collector_that_refuses_is_said_once_with_its_status(
    status: int, assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with Collector(status=status) as collector:
        point_to(collector, monkeypatch)
        result = assay("run", "first.py:sampled", "--quiet", "--otel")
    assert result.returncode == 0
    assert result.stderr == (
        f"assay: traces cannot be delivered to {collector.url}: it answers {status}; "
        "results are not affected\n"
    )


def test_a_collector_that_never_answers_holds_nobody_up_for_long(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    with Collector(gate=threading.Event()) as collector:
        point_to(collector, monkeypatch)
        result = assay("run", "first.py:sampled", "--quiet", "--otel")
        assert collector.gate is not None
        # The run ended while the collector was still silent.
        assert not collector.gate.is_set()
    assert result.returncode == 0
    assert "it does not answer" in result.stderr


def test_a_reader_that_stands_still_costs_spans_and_not_time(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    record = make_record("x" * 400, "P").pack()
    with Collector() as collector:
        point_to(collector, monkeypatch)
        with TracePipe() as pipe:
            monkeypatch.setattr("assay.traces.spans._pipe", pipe)
            pipe._process.send_signal(signal.SIGSTOP)
            with trace_run("run", "test", "title"):
                for _ in range(5_000):
                    trace_case(record)
            assert 0 < pipe.lost < 5_000
            assert pipe._patience <= 0
            pipe._process.send_signal(signal.SIGCONT)
            delivered = 5_001 - pipe.lost
    assert len(collector.spans) == delivered
    assert f"{pipe.lost:,} spans were left out of the traces" in caplog.text


def test_an_exporter_that_dies_is_said_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with Collector() as collector:
        point_to(collector, monkeypatch)
        with TracePipe() as pipe:
            monkeypatch.setattr("assay.traces.spans._pipe", pipe)
            pipe._process.kill()
            pipe._process.wait()
            run = assay.evaluate([("a", "a")] * 1, str, check="exact", out=tmp_path / "run")
    assert run.passed
    assert "traces could not be delivered; results are not affected" in caplog.text


SLOW = """\
import time
import assay

def task(text):
    if text == "slow":
        open("started", "w").close()
        time.sleep(1_000)
    return text

slow = assay.Evaluation([("a", "a"), ("slow", "slow")], task, check="exact")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_was_done_before_a_run_ended_early_is_delivered(
    number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    with Collector() as collector:
        point_to(collector, monkeypatch)
        process = subprocess.Popen(
            [sys.executable, "-m", "assay", "run", "slow.py", "--otel", "--jobs", "1"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        wait_until((tmp_path / "started").exists, process)
        process.send_signal(number)
        # Nothing that is left behind holds on to its streams.
        process.communicate(timeout=PATIENCE)
        wait_until(lambda: collector.named("case"))
        roots = collector.named("assay evaluation")
    assert [span.attributes["test.case.name"] for span in collector.named("case")] == ["a"]
    if number == signal.SIGINT:
        assert roots[0].attributes["error.type"] == "KeyboardInterrupt"


def test_without_the_extra_it_is_named_before_anything_runs(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['opentelemetry'] = None; from assay.cli import main; "
        "main(['run', 'first.py:first', '--otel', '--out', 'run'])"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 3
    assert "the export of traces needs opentelemetry.sdk, which is not installed" in result.stderr
    assert "assaykit[otel]" in result.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_without_traces_imports_nothing_of_them(tmp_path: Path) -> None:
    script = (
        "import sys, assay; assay.evaluate([('a', 'a')], str, check='exact', out='run'); "
        "print(json.dumps(sorted(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", f"import json; {script}"], cwd=tmp_path, capture_output=True
    )
    loaded = json.loads(result.stdout)
    assert "assay.traces" in loaded
    assert not [name for name in loaded if name.startswith(("opentelemetry", "requests"))]
    assert "assay.traces.pipe" not in loaded
