"""Whole tests against real servers: how many samples are taken, and what their verdict is."""

from __future__ import annotations

import asyncio
import itertools
import json
import socket
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay.agents.connections import (
    KINDS,
    Answer,
    Kind,
    Message,
    Session,
    Settings,
    register,
)
from assay.agents.plan import ConnectionOptions
from assay.agents.records import describe_statistics
from assay.errors import InputError
from assay.model import CaseRecord, Outcome
from tests.agents import python_agents
from tests.agents.running_support import GRACE, answers, ask, run_file, write
from tests.agents.scripted_server import (
    Request,
    ScriptedServer,
    Wire,
    answer,
    complete,
    echo,
    message,
)
from tests.waiting import PATIENCE


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again at once."""
    monkeypatch.setattr("assay.agents.sampling.tally.RETRY_DELAYS", (0.0, 0.0))


def outcomes(record: CaseRecord) -> list[str]:
    return [report.outcome.value for report in record.reports]


@pytest.mark.parametrize(
    ("said", "ratio", "outcome", "taken"),
    [
        (["right"], "2/3", Outcome.PASSED, 2),
        (["wrong", "right"], "2/3", Outcome.PASSED, 3),
        (["wrong"], "2/3", Outcome.FAILED, 2),
        (["wrong"], "9/10", Outcome.FAILED, 2),
        (["right"], "1/1", Outcome.PASSED, 1),
    ],
)
def test_samples_are_taken_until_the_verdict_is_certain(
    tmp_path: Path, said: list[str], ratio: str, outcome: Outcome, taken: int
) -> None:
    path = write(tmp_path, success_ratio=ratio)
    with ScriptedServer(answers(*said)) as server:
        [record] = run_file(path, server)
    assert (record.outcome, len(server.requests), len(record.reports)) == (outcome, taken, taken)
    assert record.id == "test.hocon::http"
    samples = int(ratio.partition("/")[2])
    is_early = taken < samples
    assert record.reason.startswith(f"decided after {taken} of {samples}: ") == is_early
    assert isinstance(record.detail, dict)
    assert record.detail["decided early"] == is_early
    # Of samples that were stopped early there is no rate.
    assert ("statistics" in record.detail) != is_early


def test_all_samples_are_taken_when_asked_for_and_give_a_rate(tmp_path: Path) -> None:
    path = write(tmp_path, success_ratio="2/4")
    taken = []
    with ScriptedServer(answers("right", "right", "wrong", "right")) as server:
        [record] = run_file(path, server, takes_all=True, on_sample=lambda: taken.append(1))
    assert (len(server.requests), len(taken)) == (4, 4)
    assert outcomes(record) == ["passed", "passed", "failed", "passed"]
    assert isinstance(record.detail, dict)
    numbers: Any = record.detail["statistics"]
    assert (numbers["passes"], numbers["failures"], numbers["rate"]) == (3, 1, 0.75)
    low, high = numbers["interval"]
    assert (round(low, 3), round(high, 3)) == (0.301, 0.954)
    assert numbers["all_of"] == {"1": 0.75, "2": 0.5, "4": 0.0}
    assert record.detail["false_pass_rate"].startswith("2/4 lets an agent that is right 40%")

    # The key of earlier versions is still read.
    detail = dict(record.detail)
    detail["lets through"] = detail.pop("false_pass_rate")
    old = record.model_copy(update={"detail": detail})
    lines = [list(describe_statistics([one])) for one in (record, old)]
    assert lines[0] == lines[1]
    assert "2/4 lets an agent" in lines[0][-1]


def test_a_ratio_that_is_given_takes_the_place_of_the_files(tmp_path: Path) -> None:
    path = write(tmp_path, success_ratio="1/1")
    with ScriptedServer(answers("wrong", "right")) as server:
        [record] = run_file(path, server, ratio="2/3")
    assert (record.outcome, len(server.requests)) == (Outcome.PASSED, 3)
    with pytest.raises(InputError, match="not a success ratio"):
        run_file(path, ratio="3/2")


class Numbered:
    """A connection whose sessions know which they are; the first answers last, and wrongly."""

    def __init__(self, settings: Settings) -> None:
        self._sessions = 0
        self._others_are_done = asyncio.Event()

    async def session(self) -> Session:
        self._sessions += 1
        return _NumberedSession(self._sessions, self._others_are_done)

    async def close(self) -> None: ...


@dataclass
class _NumberedSession:
    number: int
    others_are_done: asyncio.Event

    async def ask(self, message: Message) -> Answer:
        if self.number == 1:
            await self.others_are_done.wait()
        elif self.number == 3:
            self.others_are_done.set()
        return Answer(text="wrong" if self.number == 1 else "right")

    async def close(self) -> None: ...


def test_samples_count_in_the_order_they_were_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.agents.connections.registry.KINDS", dict(KINDS))
    register(Kind("numbered", "knows its samples", Numbered))
    path = write(tmp_path, connections="numbered", success_ratio="2/3")
    [record] = run_file(path, jobs=3)
    # Both fast ones pass first, and still the slow failure is the first of three.
    assert outcomes(record) == ["failed", "passed", "passed"]
    assert record.outcome is Outcome.PASSED


def test_no_more_conversations_are_held_than_allowed(tmp_path: Path) -> None:
    busy = most = 0

    async def script(request: Request, wire: Wire) -> None:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.02)
        busy -= 1
        await answer(wire, "right")

    for name in ("a", "b", "c"):
        write(tmp_path, name=f"{name}.hocon", success_ratio="6/6")
    folder = tmp_path / "all"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.hocon").rename(folder / f"{name}.hocon")
    with ScriptedServer(script) as server:
        records = run_file(folder, server, jobs=6, max_connections=4)
    assert [record.outcome for record in records] == [Outcome.PASSED] * 3
    assert most == 4


async def _silence(request: Request, wire: Wire) -> None:
    await asyncio.sleep(30)


async def _a_byte_a_second(request: Request, wire: Wire) -> None:
    await wire.begin()
    for byte in json.dumps(message("right")).encode():
        await wire.chunk(bytes([byte]))
        await asyncio.sleep(1)


@pytest.mark.parametrize("script", [_silence, _a_byte_a_second])
@pytest.mark.parametrize("whole", [False, True])
def test_a_limit_holds_whatever_the_server_does(tmp_path: Path, script: Any, whole: bool) -> None:
    limits: dict[str, Any] = {"timeout_in_seconds": 0.5}
    path = (
        write(tmp_path, success_ratio="2/2", **limits)
        if whole
        else write(tmp_path, ask(**limits), success_ratio="2/2")
    )
    lasted = []
    with ScriptedServer(script) as server:
        # A machine that is busy elsewhere says nothing about a limit.
        for attempt in range(3):
            [record] = run_file(path, server, jobs=2, out=f"run-{attempt}")
            assert record.outcome is Outcome.FAILED
            assert len(record.reports) == (0 if whole else 1)
            lasted.append(record.duration)
            if lasted[-1] < 0.5 + GRACE:
                break
    assert 0.5 <= min(lasted) < 0.5 + GRACE
    if whole:
        assert record.reason == (
            "the limit of 0.5 s ended after 0 of 2: 0 of 0 samples passed, 2/2 needed"
        )
    else:
        [wrong] = record.reports[0].get_verified_attributes()
        assert wrong.attribute == "1.answer"
        assert wrong.diff == "too slow: no complete answer within 0.5 s"


def test_when_the_time_of_a_test_ends_what_is_finished_counts(tmp_path: Path) -> None:
    async def script(request: Request, wire: Wire) -> None:
        if request.number >= 2:
            await asyncio.sleep(30)
        await answer(wire, "right")

    for needed, outcome in ((2, Outcome.PASSED), (3, Outcome.FAILED)):
        path = write(tmp_path, success_ratio=f"{needed}/4", timeout_in_seconds=3)
        with ScriptedServer(script) as server:
            [record] = run_file(path, server, jobs=4, takes_all=True, out=f"run-{needed}")
        assert record.outcome is outcome
        assert outcomes(record) == ["passed", "passed"]
        assert record.reason.startswith("the limit of 3 s ended after 2 of 4")


@pytest.mark.usefixtures("no_pause")
def test_an_outage_is_tried_twice_more_and_is_never_a_failure(tmp_path: Path) -> None:
    async def script(request: Request, wire: Wire) -> None:
        await wire.status(503, b"later")

    path = write(tmp_path, success_ratio="2/3")
    with ScriptedServer(script) as server:
        [record] = run_file(path, server)
    assert record.outcome is Outcome.ERROR
    # The ratio is out of reach after two: three attempts for each.
    assert (len(server.requests), outcomes(record)) == (6, ["error", "error"])
    assert "status 503: later" in record.reason
    assert record.code == "error"


@pytest.mark.usefixtures("no_pause")
def test_an_outage_that_passes_is_no_failure_and_is_not_hidden(tmp_path: Path) -> None:
    async def script(request: Request, wire: Wire) -> None:
        if request.number < 2:
            await wire.drop()
        else:
            await answer(wire, "right")

    with ScriptedServer(script) as server:
        [record] = run_file(write(tmp_path), server)
    assert (record.outcome, len(server.requests)) == (Outcome.PASSED, 3)
    assert record.reason.endswith("; 2 of 3 requests failed and were repeated")
    assert (record.reports[0].case["requests"], record.reports[0].case["repeated"]) == (3, 2)
    assert isinstance(record.detail, dict)
    assert (record.detail["requests"], record.detail["repeated requests"]) == (3, 2)


def test_requests_of_a_conversation_are_counted_one_by_one(tmp_path: Path) -> None:
    async def script(request: Request, wire: Wire) -> None:
        if request.number == 1:
            await wire.status(500)
        else:
            await answer(wire, "right")

    with ScriptedServer(script) as server:
        [record] = run_file(write(tmp_path, ask(), ask("go on")), server)
    assert (record.outcome, len(server.requests)) == (Outcome.PASSED, 4)
    assert record.reason.endswith("; 1 of 4 requests failed and was repeated")


@pytest.mark.parametrize(("retries", "outcome"), [(0, Outcome.ERROR), (5, Outcome.PASSED)])
def test_how_often_an_outage_is_tried_again_can_be_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, retries: int, outcome: Outcome
) -> None:
    monkeypatch.setattr("assay.agents.sampling.tally.RETRY_DELAYS", (0.0,))

    async def script(request: Request, wire: Wire) -> None:
        if request.number < 5:
            await wire.status(503)
        else:
            await answer(wire, "right")

    with ScriptedServer(script) as server:
        [record] = run_file(write(tmp_path), server, retries=retries)
    assert (record.outcome, len(server.requests)) == (outcome, retries + 1)


def test_an_agent_that_raises_has_failed_and_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(python_agents, "CALLS", itertools.count())
    path = write(
        tmp_path, agent="tests.agents.python_agents:tired", connections="python",
        success_ratio="40/50",
    )  # fmt: skip
    [record] = run_file(path, reach=ConnectionOptions(), takes_all=True)
    assert record.outcome is Outcome.FAILED
    assert next(python_agents.CALLS) == 50
    assert isinstance(record.detail, dict)
    numbers: Any = record.detail["statistics"]
    assert (numbers["passes"], numbers["failures"], numbers["rate"]) == (25, 25, 0.5)
    assert record.code == "1.answer"
    failed = record.reports[1].results["1.answer"]
    assert failed.diff == "the agent raised an error: ValueError: too tired"


def test_a_dead_port_is_an_error_that_names_the_server_also_with_a_limit(tmp_path: Path) -> None:
    path = write(tmp_path, success_ratio="2/3", timeout_in_seconds=1.0)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        [record] = run_file(path, reach=ConnectionOptions(host="127.0.0.1", port=port), jobs=3)
    assert record.outcome is Outcome.ERROR
    assert f"http://127.0.0.1:{port}" in record.reason
    assert "the server cannot be reached" in record.reason


def test_a_server_that_lets_nobody_in_is_an_error_also_with_a_limit(tmp_path: Path) -> None:
    path = write(tmp_path, timeout_in_seconds=0.5)
    with socket.socket() as full, ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        # Those who come when as many wait as may get no word at all.
        for _ in range(4):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        reach = ConnectionOptions(host="127.0.0.1", port=full.getsockname()[1])
        [record] = run_file(path, reach=reach, retries=0)
    assert record.outcome is Outcome.ERROR
    assert "the server cannot be reached" in record.reason


@pytest.mark.usefixtures("no_pause")
def test_a_sample_that_makes_up_for_an_outage_when_the_time_ends_is_an_error(
    tmp_path: Path,
) -> None:
    async def script(request: Request, wire: Wire) -> None:
        if request.number == 0:
            await wire.status(503, b"later")
        else:
            await asyncio.sleep(30)

    path = write(tmp_path, timeout_in_seconds=0.4)
    with ScriptedServer(script) as server:
        [record] = run_file(path, server)
    assert (record.outcome, outcomes(record)) == (Outcome.ERROR, ["error"])
    assert "status 503: later (the limit of the test came before" in record.reason
    assert "repeated" not in record.reason


class SlowToOpen:
    """A connection whose sessions take longer to build than a test may take."""

    def __init__(self, settings: Settings) -> None: ...

    async def session(self) -> Session:
        await asyncio.sleep(0.8)
        return _NumberedSession(2, asyncio.Event())

    async def close(self) -> None: ...


def test_building_a_session_is_not_on_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.agents.connections.registry.KINDS", dict(KINDS))
    register(Kind("slow to open", "needs its time", SlowToOpen))
    path = write(tmp_path, connections="slow to open", success_ratio="2/2", timeout_in_seconds=0.5)
    [record] = run_file(path)
    assert (record.outcome, outcomes(record)) == (Outcome.PASSED, ["passed", "passed"])
    assert record.duration > 1.6


def test_a_test_that_has_to_share_its_places_is_not_charged_for_it(tmp_path: Path) -> None:
    async def slow(request: Request, wire: Wire) -> None:
        await asyncio.sleep(1.0)
        await answer(wire, "right")

    folder = tmp_path / "all"
    folder.mkdir()
    for name in ("a", "b"):
        write(folder, name=f"{name}.hocon", success_ratio="3/3", timeout_in_seconds=1.8)
    with ScriptedServer(slow) as server:
        # Four places for six conversations: one of the tests would take twice as long.
        records = run_file(folder, server, jobs=None, max_connections=4)
    assert [record.outcome for record in records] == [Outcome.PASSED] * 2


@pytest.mark.parametrize(("samples", "together"), [(10, 10), (40, 32)])
def test_all_samples_that_a_test_may_need_are_taken_at_a_time_up_to_32(
    tmp_path: Path, samples: int, together: int
) -> None:
    busy = most = 0
    all_there = asyncio.Event()

    async def script(request: Request, wire: Wire) -> None:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        if busy == together:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), PATIENCE)
        await asyncio.sleep(0.1)
        busy -= 1
        await answer(wire, "right")

    path = write(tmp_path, success_ratio=f"{samples}/{samples}")
    with ScriptedServer(script) as server:
        [record] = run_file(path, server, jobs=None)
    assert (record.outcome, most) == (Outcome.PASSED, together)


def test_what_will_not_be_different_in_a_second_is_not_tried_again(tmp_path: Path) -> None:
    async def script(request: Request, wire: Wire) -> None:
        await wire.status(404)

    with ScriptedServer(script) as server:
        [record] = run_file(write(tmp_path), server)
    assert (record.outcome, len(server.requests)) == (Outcome.ERROR, 1)
    assert "no such agent" in record.reason


def test_a_sample_that_failed_before_the_outage_has_failed(tmp_path: Path) -> None:
    async def script(request: Request, wire: Wire) -> None:
        if request.number == 0:
            await answer(wire, "wrong")
        else:
            await wire.drop()

    with ScriptedServer(script) as server:
        [record] = run_file(write(tmp_path, ask(), ask("go on")), server)
    assert record.outcome is Outcome.FAILED
    # Tried again it might have passed, which no other failure may.
    assert len(server.requests) == 2
    assert record.code == "1.text.keywords"


@pytest.mark.usefixtures("no_pause")
def test_an_outage_that_comes_as_an_answer_is_an_error(tmp_path: Path) -> None:
    path = write(
        tmp_path, ask(response={"text": {"not_keywords": "sorry"}}), failure_patterns=["QUOTA"]
    )
    for said in ("Error from x: Agent stopped due to exception", "no QUOTA left"):
        with ScriptedServer(answers(said)) as server:
            [record] = run_file(path, server, out=f"run-{len(said)}")
        assert (record.outcome, len(server.requests)) == (Outcome.ERROR, 3)


@pytest.mark.usefixtures("no_pause")
@pytest.mark.parametrize(
    ("retries", "errors", "requests"), [(1, 0, 51), (0, 1, 50)], ids=["retried", "not"]
)
def test_a_killed_connection_costs_one_sample_of_fifty(
    tmp_path: Path,
    retries: int,
    errors: int,
    requests: int,
) -> None:
    together = asyncio.Barrier(50)

    async def script(request: Request, wire: Wire) -> None:
        if request.number < 50:
            await together.wait()
        if request.number == 25:
            await wire.begin()
            await wire.frame(message("right", steps=2))
            await wire.drop()
        else:
            await answer(wire, "right")

    path = write(tmp_path, success_ratio="40/50")
    with ScriptedServer(script) as server:
        [record] = run_file(
            path, server, jobs=50, max_connections=50, takes_all=True, retries=retries
        )
    assert record.outcome is Outcome.PASSED
    assert outcomes(record).count("error") == errors
    assert outcomes(record).count("passed") == 50 - errors
    assert len(server.requests) == requests


def test_private_data_of_one_sample_reaches_no_other(tmp_path: Path) -> None:
    first = ask(
        "one", {"sly_data": {"basket": {"keywords": "mine"}}}, sly_data={"basket": ["mine"]}
    )
    path = write(tmp_path, first, ask("two", {"text": {"keywords": "ok"}}), success_ratio="20/20")

    async def script(request: Request, wire: Wire) -> None:
        basket = [*request.body["sly_data"]["basket"], f"request {request.number}"]
        await asyncio.sleep(0.005)
        await answer(wire, "ok", sly_data={"basket": basket})

    with ScriptedServer(script) as server:
        [record] = run_file(path, server, jobs=10, takes_all=True)
    assert record.outcome is Outcome.PASSED
    sent = [tuple(request.body["sly_data"]["basket"]) for request in server.requests]
    assert sent.count(("mine",)) == 20
    seconds = [basket for basket in sent if len(basket) == 2]
    assert len(set(seconds)) == 20


def _remembering(messages: list[dict[str, Any]]) -> str:
    return " | ".join(each["content"] for each in messages if each["role"] == "user")


def test_the_same_file_through_http_openai_and_python(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        ask("Who?", {"text": {"value": "Who?"}}),
        ask("Where?", {"text": {"value": "Who? | Where?"}}),
        ask("When?", {"text": {"keywords": ["Who?", "never said"]}}),
        agent="tests.agents.python_agents:remembering",
        connections=["http", "openai", "python"],
    )
    codes = {}
    for script, name in ((echo, "http"), (complete(_remembering), "openai"), (None, "python")):
        with ScriptedServer(script or echo) as server:
            reach = ConnectionOptions(connections=(name,), host="127.0.0.1", port=server.port)
            [record] = run_file(path, reach=reach, out=name)
        assert record.outcome is Outcome.FAILED
        codes[name] = record.code
    assert set(codes.values()) == {"3.text.keywords[1]"}


def test_a_check_on_what_a_connection_cannot_return_is_an_error_of_the_file(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, ask("x", {"sly_data": {"a": {"value": 1}}}))
    with pytest.raises(InputError, match="sly_data"):
        run_file(path, reach=ConnectionOptions(connections=("openai",)))


@pytest.mark.usefixtures("no_pause")
def test_what_an_agent_says_of_an_outage_is_kept_without_private_data(tmp_path: Path) -> None:
    async def script(request: Request, wire: Wire) -> None:
        told = f"{request.body['sly_data']} {request.headers['token']}".encode()
        await wire.status(500, told)

    path = write(
        tmp_path,
        ask(sly_data={"card": "CANARY-1", "deep": [{"pin": 987654}]}),
        metadata={"token": "CANARY-2"},
    )
    with ScriptedServer(script) as server:
        [record] = run_file(path, server)
    assert server.requests[0].body["sly_data"]["card"] == "CANARY-1"
    assert "<sly_data.card>" in record.reason
    assert "<metadata.token>" in record.reason
    journal = (tmp_path / "run" / "journal.jsonl").read_text()
    assert "CANARY" not in journal
    assert "987654" not in journal


class SampleCounter:
    """A progress that counts."""

    samples = 0

    def count_case(self, outcome: Outcome) -> None: ...

    def count_stored(self) -> None: ...

    def count_sample(self) -> None:
        self.samples += 1


def test_progress_counts_samples(tmp_path: Path) -> None:
    from assay.agents import write_conversation
    from assay.agents.plan import make_plan
    from assay.runs import start_run

    write_conversation(tmp_path / "mine")
    counter = SampleCounter()
    plan = make_plan([tmp_path / "mine"], {}, takes_all=True)
    start_run(plan, runs=tmp_path / "runs", watch=lambda *about: nullcontext(counter))
    assert counter.samples == 5
