"""Proofs that crash, exhaust memory or never end harm nobody but themselves."""

# ruff: noqa: E501 - a proof on one line is easier to compare with its neighbours

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.sandbox.evidence import ProofOutcome, Status
from assay.sandbox.proofs import ProofRunner
from assay.sandbox.targets import Environment
from assay.sandbox.workers import MIB, Limits
from tests.sandbox.support import Background, start_runner
from tests.waiting import PATIENCE

LIMITS = Limits(wall_time=10.0, cpu_time=10, memory=256 * MIB)

CRASHES = (
    "import ctypes\ndef test_x():\n    assert ctypes.string_at(0)\n",
    "import os\ndef test_x():\n    os.abort()\n    assert f()\n",
    "import os, signal\ndef test_x():\n    os.kill(os.getpid(), signal.SIGKILL)\n    assert f()\n",
    "def test_x():\n    assert bytearray(1 << 40)\n",
    "def test_x():\n    kept = []\n    while True:\n        kept.append(bytearray(1 << 24))\n    assert kept\n",
)  # fmt: skip


def proof(number: int) -> str:
    if number % 10 == 9:
        return CRASHES[number // 10 % len(CRASHES)]
    right = number % 3 != 0
    return f"import small_thing\ndef test_x():\n    print({number})\n    assert (small_thing.ANSWER == 42) is {right}\n"


def check(number: int, outcome: ProofOutcome) -> None:
    (test,) = outcome.tests
    if number % 10 == 9:
        assert test.status in (Status.ERROR, Status.FAILED), (number, outcome)
        assert not outcome.evidence, (number, outcome)
        return
    right = number % 3 != 0
    assert test.status is (Status.PASSED if right else Status.FAILED), (number, outcome)
    assert test.output == f"{number}\n"
    assert outcome.evidence, (number, outcome)


def test_every_proof_gets_its_own_outcome_while_others_crash(small: Environment) -> None:
    """300 proofs, two at a time; every tenth crashes the interpreter or exhausts the memory."""

    async def main() -> list[ProofOutcome]:
        async with ProofRunner(
            small, imports=["small_thing"], concurrency=2, limits=LIMITS
        ) as runner:
            return await asyncio.gather(*(runner.run(proof(number)) for number in range(300)))

    for number, outcome in enumerate(asyncio.run(main())):
        check(number, outcome)


def test_a_proof_that_never_ends_is_ended(small: Environment, background: Background) -> None:
    limits = Limits(wall_time=3.0, cpu_time=10)
    runner, prove = start_runner(background, small, limits=limits, concurrency=1)
    outcome = prove(
        "import small_thing, time\ndef test_a():\n    assert small_thing.ANSWER\n"
        "def test_b():\n    time.sleep(600)\n    assert small_thing.ANSWER\n"
        "def test_c():\n    assert small_thing.ANSWER\n"
    )
    background.run(runner.close())
    statuses = [test.status for test in outcome.tests]
    assert statuses == [Status.PASSED, Status.TIMED_OUT, Status.ERROR]
    assert [test.evidence for test in outcome.tests] == [False, False, False]
    assert outcome.tests[2].message == "it was not reached"
    assert 3.0 <= outcome.seconds < PATIENCE


def test_a_proof_that_spins_runs_into_its_cpu_limit(
    small: Environment, background: Background
) -> None:
    limits = Limits(wall_time=PATIENCE, cpu_time=1)
    runner, prove = start_runner(background, small, limits=limits, concurrency=1)
    outcome = prove("def test_a():\n    while True:\n        pass\n    assert f()\n")
    background.run(runner.close())
    assert outcome.tests[0].status is Status.TIMED_OUT


def test_memory_is_named_as_the_limit(small: Environment, background: Background) -> None:
    runner, prove = start_runner(background, small, limits=LIMITS, concurrency=1)
    outcome = prove(CRASHES[4])
    background.run(runner.close())
    (test,) = outcome.tests
    assert "memory" in f"{test.message} {test.exception}".lower()


def test_a_flood_of_output_is_cut(small: Environment, background: Background) -> None:
    runner, prove = start_runner(background, small, concurrency=1)
    outcome = prove(
        "import small_thing\ndef test_x():\n    print('begin')\n    for _ in range(50):\n"
        "        print('x' * 100_000)\n    print('finish')\n    assert small_thing.ANSWER == 42\n"
    )
    background.run(runner.close())
    (test,) = outcome.tests
    assert test.status is Status.PASSED
    assert test.output.startswith("begin")
    assert test.output.endswith("finish\n")
    assert "characters cut" in test.output
    assert len(test.output) < 50_000


def test_a_killed_runner_is_replaced_and_what_was_lost_repeated(small: Environment) -> None:
    """The process is killed from outside while a proof runs, as the kernel or a person might."""

    async def main() -> tuple[ProofOutcome, int]:
        async with ProofRunner(small, imports=["small_thing"], concurrency=1) as runner:
            await runner.warm_up()
            slow = asyncio.create_task(
                runner.run(
                    "import small_thing, time\ndef test_x():\n    time.sleep(3)\n"
                    "    assert small_thing.ANSWER == 42\n"
                )
            )
            await asyncio.sleep(1)
            for process in children_of(os.getpid()):
                os.kill(process, signal.SIGKILL)
            return await slow, runner.restarts

    outcome, restarts = asyncio.run(main())
    assert outcome.passed
    assert (outcome.attempts, restarts) == (2, 1)


def children_of(parent: int) -> list[int]:
    return [
        int(process)
        for process in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        if b"sandbox/jail" in Path(f"/proc/{process}/cmdline").read_bytes()
    ]


def test_a_cancelled_proof_does_not_disturb_the_next(small: Environment) -> None:
    async def main() -> ProofOutcome:
        async with ProofRunner(small, imports=["small_thing"], concurrency=1) as runner:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(
                    runner.run("import time\ndef test_x():\n    time.sleep(600)\n    assert 0\n"), 2
                )
            return await runner.run(
                "import small_thing\ndef test_y():\n    assert small_thing.ANSWER == 42\n"
            )

    outcome = asyncio.run(main())
    assert outcome.passed
    assert outcome.seconds < PATIENCE


def test_a_target_that_starts_threads_is_proven_in_fresh_interpreters(
    small: Environment, background: Background
) -> None:
    """A fork would take only one of the threads along; so there is none."""
    runner, prove = start_runner(background, small, imports=["small_thing.busy"], concurrency=1)
    outcome = prove("import small_thing\ndef test_x():\n    assert small_thing.ANSWER == 42\n")
    background.run(runner.close())
    assert outcome.passed
    assert outcome.fresh
    assert any("threads" in note for note in runner.notes)


def test_an_import_that_fails_is_noted_and_harms_nobody(
    small: Environment, background: Background
) -> None:
    runner, prove = start_runner(background, small, imports=["small_thing.nowhere"], concurrency=1)
    outcome = prove("import small_thing\ndef test_x():\n    assert small_thing.ANSWER == 42\n")
    background.run(runner.close())
    assert outcome.passed
    assert runner.notes == ["small_thing.nowhere: ModuleNotFoundError: No module named 'small_thing.nowhere'"]  # fmt: skip


def test_an_unknown_level_of_isolation_is_refused(small: Environment) -> None:
    with pytest.raises(InputError):
        ProofRunner(small, isolation="strong")


def test_a_proof_that_is_not_there_is_the_users_mistake(
    small: Environment, background: Background, tmp_path: Path
) -> None:
    runner, prove = start_runner(background, small)
    with pytest.raises(InputError):
        prove(tmp_path / "missing.py")
    background.run(runner.close())
