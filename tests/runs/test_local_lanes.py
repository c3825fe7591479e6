"""Plain functions on all cores: in forks or threads, with the same records as one at a time."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import Case, CaseResult
from assay.checks import run_check
from tests.commands import Command
from tests.waiting import PATIENCE, wait_until

CASES = [(f"case {number}", number, number * number) for number in range(40)]
WAYS: list[dict[str, Any]] = [{"jobs": 3}, {"jobs": 3, "threads": True}]
IDS = ["processes", "threads"]


def square(number: int) -> int:
    if number == 7:
        raise ValueError("seven")
    return number * number + (number == 9)


def describe(run: assay.Run) -> list[Any]:
    """Return of every record what does not depend on time."""
    found = []
    for record in run.records():
        values = record.model_dump(exclude={"started", "duration"})
        for report in values["reports"]:
            del report["timestamp"], report["duration"]
        found.append(values)
    return found


@pytest.mark.parametrize("way", WAYS, ids=IDS)
@pytest.mark.parametrize("ratio", [None, "2/3"])
def test_the_records_are_the_same_as_one_at_a_time(
    tmp_path: Path, way: dict[str, Any], ratio: str | None
) -> None:
    one = assay.evaluate(CASES, square, check="value", out=tmp_path / "one", ratio=ratio)
    many = assay.evaluate(CASES, square, check="value", out=tmp_path / "many", ratio=ratio, **way)
    assert describe(many) == describe(one)
    assert one.counts() == many.counts()
    assert [row.id for row in many.rows()] == [name for name, _, _ in CASES]


def meet(folder: str) -> Callable[[str], str]:
    """Return a task whose three cases end only if they run at the same time."""

    def task(name: str) -> str:
        Path(folder, name).touch()
        wait_until(lambda: len(list(Path(folder).iterdir())) == 3)
        return name

    return task


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_so_many_functions_run_at_a_time(tmp_path: Path, way: dict[str, Any]) -> None:
    (tmp_path / "here").mkdir()
    pairs = [(name, name) for name in "abc"]
    task = meet(str(tmp_path / "here"))
    assert assay.evaluate(pairs, task, check="value", out=tmp_path / "run", **way).passed


def test_threads_run_in_this_process_and_forks_do_not(tmp_path: Path) -> None:
    def name_process(_: int) -> int:
        return os.getpid()

    def check(actual: int, expected: str) -> bool:
        return (actual == os.getppid() or actual == os.getpid()) and (
            (actual == own) == (expected == "threads")
        )

    own = os.getpid()
    for way, name in zip(WAYS, IDS, strict=True):
        pairs = [(number, name) for number in range(10)]
        run = assay.evaluate(pairs, name_process, check=check, out=tmp_path / name, **way)
        assert run.passed, run.report("terminal")


def test_a_function_may_use_asyncio_and_signals_in_its_process(tmp_path: Path) -> None:
    def task(number: int) -> int:
        import asyncio

        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        assert threading.current_thread() is threading.main_thread()

        async def answer() -> int:
            return number

        return asyncio.run(answer())

    pairs = [(number, number) for number in range(5)]
    assert assay.evaluate(pairs, task, check="value", out=tmp_path / "run", jobs=2).passed


def test_a_function_that_ends_its_process_costs_its_own_case(tmp_path: Path) -> None:
    def task(number: int) -> int:
        if number == 3:
            os._exit(0)
        if number == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        if number == 5:
            os.kill(os.getpid(), signal.SIGTERM)
        return number

    pairs = [(str(number), number, number) for number in range(30)]
    run = assay.evaluate(pairs, task, check="value", out=tmp_path / "run", jobs=2)
    reasons = {one.id: one.reason for one in run.records(assay.Outcome.ERROR)}
    assert reasons.keys() == {"3", "4", "5"}
    assert reasons["3"].startswith("the task raised SystemExit: os._exit(0)")
    assert "was ended by Killed (9)" in reasons["4"]
    assert "was ended by Terminated (15)" in reasons["5"]
    assert run.counts()[assay.Outcome.PASSED] == 27


def test_a_case_that_cannot_be_sent_runs_here_with_a_note(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Own(Case):
        """A class that no other module can import."""

    def task(case: Case) -> CaseResult:
        return case.result(output=os.getpid())

    def verifier(group: str, name: str, actual: CaseResult, expected: CaseResult) -> Any:
        is_here = actual.output == own
        assert is_here == (name in "bd")
        return {"output": assay.VerificationResult.create("as expected", True)}

    own = os.getpid()
    kinds = [Case, Own, Case, Own]
    cases = [(kind(id=name), "") for kind, name in zip(kinds, "abcd", strict=True)]
    with caplog.at_level(logging.WARNING, "assay"):
        run = assay.evaluate(cases, task, verifier, out=tmp_path / "run", jobs=2)
    assert run.passed, run.report("terminal")
    (note,) = caplog.messages
    assert note.startswith("b: it cannot be sent to a worker process: ")
    assert "run one at a time in this process; with --threads" in note


class Unreadable(Case):
    """Can be pickled, but not read again."""

    def __reduce__(self) -> tuple[Any, ...]:
        return refuse, ()


def refuse() -> None:
    raise ValueError("not again")


def test_a_case_that_cannot_be_read_in_the_worker_is_an_error_of_its_own(tmp_path: Path) -> None:
    cases = [((Unreadable if name == "b" else Case)(id=name), name) for name in "abc"]

    def task(case: Case) -> CaseResult:
        return case.result(output=case.id)

    def verifier(group: str, name: str, actual: CaseResult, expected: CaseResult) -> Any:
        return {"output": run_check("value", actual.output, expected.output)}

    run = assay.evaluate(cases, task, verifier, out=tmp_path / "run", jobs=2)
    assert [row.outcome.value for row in run.rows()] == ["passed", "error", "passed"]
    assert "cannot be read in another process: ValueError: not again" in run.record("b").reason


ENDLESS = """
import os, time, assay
def cases():
    for number in range(1000):
        yield number, number
def task(number):
    if number >= 4:
        open(f"pid-{os.getpid()}", "w").close()
        time.sleep(600)
    return number
evaluation = assay.Evaluation(cases, task, check="value")
"""


def test_an_interrupt_ends_the_workers_and_leaves_a_run_to_resume(
    assay: Command, tmp_path: Path
) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS)
    command = [sys.executable, "-m", "assay", "run", "endless.py", "--jobs", "2", "--out", "run"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(list(tmp_path.glob("pid-*"))) == 2, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "continue with: assay runs resume run" in said
    for mark in tmp_path.glob("pid-*"):
        pid = int(mark.name.removeprefix("pid-"))
        wait_until(lambda pid=pid: not Path(f"/proc/{pid}").exists())  # type: ignore[misc]
    text = (tmp_path / "endless.py").read_text()
    (tmp_path / "endless.py").write_text(text.replace("time.sleep(600)", "pass"))
    resumed = assay("runs", "resume", "run", "--jobs", "3")
    assert resumed.returncode == 0, resumed.stderr
    assert "1,000 of 1,000 cases passed" in resumed.stdout


def test_the_command_runs_functions_in_threads_if_told(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text(
        "import os, assay\n"
        "OWN = os.getpid()\n"
        "cases = [(number, number) for number in range(6)]\n"
        "def task(number): return os.getpid() == OWN\n"
        "def check(actual, expected): return actual\n"
        "evaluation = assay.Evaluation(cases, task, check=check)\n"
    )
    assert assay("run", "names.py", "--jobs", "2", "--threads", "--out", "t").returncode == 0
    assert assay("run", "names.py", "--jobs", "2", "--out", "p").returncode == 1
    assert assay("run", "names.py", "--jobs", "1", "--out", "o").returncode == 0
    # A resumed run keeps to it.
    (tmp_path / "names.py").write_text(
        (tmp_path / "names.py").read_text().replace("range(6)", "range(12)")
    )
    assert assay("runs", "resume", "t").returncode == 0
