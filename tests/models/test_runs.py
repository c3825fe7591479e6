"""Models in a run: the budget ends it cleanly, a resume pays nothing twice, no key is on disk."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from assay.cli.common import RunOptions, executing
from assay.errors import BudgetExceeded, InfrastructureError
from assay.model import CaseRecord, Outcome
from assay.models import Judge, ModelClient, open_meter
from assay.runs import Manifest, Parts, Run, Unit, create_folder, execute
from tests.models.conftest import Connect
from tests.models.scripted_server import Received, Reply, ScriptedServer, fails, says_json
from tests.waiting import PATIENCE

QUIET = RunOptions(None, None, None, (), as_json=False, quiet=True)


def polite(received: Received) -> Reply:
    return says_json({"reason": "it greets", "holds": "Hello" in received.last})


def judge_cases(folder: Path, client: ModelClient, *, jobs: int = 1, cases: int = 6) -> None:
    """A run as the subjects make it: errors are outcomes of their case, the budget is not."""
    judge = Judge(client)

    async def work(unit: Unit, parts: Parts) -> CaseRecord:
        with open_meter() as meter:
            try:
                judged = await judge.gist("is a greeting", unit.payload)
                outcome = Outcome.PASSED if judged.holds else Outcome.FAILED
            except InfrastructureError:
                outcome = Outcome.ERROR
        return CaseRecord(
            id=unit.id,
            subject="test",
            outcome=outcome,
            fingerprint=unit.fingerprint,
            usage=meter.usage.as_record(),
        )

    units = [Unit(str(place), place, "f", f"Hello {place}") for place in range(cases)]
    with executing(QUIET, folder, cases):
        execute(folder, units, work, jobs=jobs, around=client)


def outcomes(folder: Path) -> list[str]:
    with Run(folder) as run:
        return [record.outcome.value for record in run.records()]


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_spent_budget_ends_the_run_and_a_resume_finishes_it(
    connect: Connect, tmp_path: Path, jobs: int
) -> None:
    folder = create_folder(tmp_path / "run", Manifest(subject="test"))
    with ScriptedServer(polite) as server:
        with pytest.raises(
            BudgetExceeded, match=f"kept; continue with: assay runs resume {folder}"
        ):
            judge_cases(folder, connect(server, max_tokens=45), jobs=jobs)
        finished = outcomes(folder)
        assert 1 <= len(finished) < 6
        assert set(finished) == {"passed"}
        judge_cases(folder, connect(server, max_tokens=75), jobs=jobs)
        assert outcomes(folder) == ["passed"] * 6
    assert server.calls == 6


def test_a_repeated_run_makes_no_call_and_says_so(connect: Connect, tmp_path: Path) -> None:
    with ScriptedServer(polite) as server:
        for name in ("first", "second"):
            folder = create_folder(tmp_path / name, Manifest(subject="test"))
            judge_cases(folder, connect(server), jobs=3)
    assert server.calls == 6
    with Run(folder) as run:
        assert [record.usage for record in run.records()] == [{"cached calls": 1.0}] * 6


def test_an_outage_of_the_judge_is_an_error_that_a_resume_repeats(
    connect: Connect, tmp_path: Path
) -> None:
    def down_for_one(received: Received) -> Reply:
        return fails(500) if "Hello 2" in received.last and server.calls < 6 else polite(received)

    folder = create_folder(tmp_path / "run", Manifest(subject="test"))
    with ScriptedServer(down_for_one) as server:
        judge_cases(folder, connect(server, patience=0.0), cases=4)
        assert outcomes(folder) == ["passed", "passed", "error", "passed"]
        judge_cases(folder, connect(server, patience=5.0), cases=4)
        assert outcomes(folder) == ["passed"] * 4


def test_the_key_is_nowhere_on_disk(
    connect: Connect, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def echoing(received: Received) -> Reply:
        key = received.headers["authorization"]
        return says_json({"reason": f"you sent {key}", "holds": True})

    folder = create_folder(tmp_path / "run", Manifest(subject="test"))
    caplog.set_level("DEBUG")
    with ScriptedServer(echoing) as server:
        judge_cases(folder, connect(server, key="CANARY-4711", key_name="SOME_KEY"))
    assert server.requests[0].headers["authorization"] == "Bearer CANARY-4711"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 6
    assert not [path for path in files if b"CANARY" in path.read_bytes()]
    assert "CANARY" not in caplog.text


def test_a_budget_that_ends_does_not_wait_longer_than_a_call(
    connect: Connect, tmp_path: Path
) -> None:
    def script(received: Received) -> Reply:
        hello = polite(received)
        slow = "Hello 1" in received.last
        return Reply(hello.message, delay=2 * PATIENCE) if slow else hello

    folder = create_folder(tmp_path / "run", Manifest(subject="test"))
    clock = time.monotonic()
    with ScriptedServer(script) as server, pytest.raises(BudgetExceeded):
        judge_cases(folder, connect(server, timeout=0.5, patience=0.0, max_tokens=15), jobs=2)
    assert time.monotonic() - clock < PATIENCE
