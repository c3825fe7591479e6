"""Steps that run in lanes elsewhere: batches, lost lanes, chains, parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InfrastructureError
from assay.model import CaseRecord, Outcome
from assay.runs import Chain, Manifest, Parts, Run, Step, Unit, create_folder, execute
from assay.runs.dispatch import Dispatcher, LaneLostError
from assay.runs.elsewhere import Message, SentStep, StepRunner

TRIES = 3


class Worker:
    """Passes every case, keeps a part of it, and counts how often each ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord:
        self.ran.append(unit.id)
        await asyncio.sleep(0)
        earlier = parts.get("begun")
        if earlier is None:
            parts.keep("begun", len(self.ran))
        return make_record(unit.id, unit.fingerprint, f"begun before: {earlier is not None}")

    async def follow(self, chain: Chain) -> AsyncIterator[tuple[Unit, CaseRecord]]:
        for number in range(chain.payload):
            name = f"{chain.id}/{number}"
            self.ran.append(name)
            await asyncio.sleep(0)
            yield Unit(name, chain.place + number, "f", None), make_record(name, "f")


def make_record(name: str, fingerprint: str, reason: str = "") -> CaseRecord:
    return CaseRecord(
        id=name, subject="test", outcome=Outcome.PASSED, fingerprint=fingerprint, reason=reason
    )


class LosingLane:
    """Runs batches here, and is lost after as many messages as the next number says."""

    def __init__(self, worker: Worker, losses: Iterator[int | None]) -> None:
        self.runner, self.losses = StepRunner(worker), losses
        self.sizes: list[int] = []

    async def run(self, batch: list[Any]) -> AsyncIterator[list[Message]]:
        self.sizes.append(len(batch))
        left = next(self.losses, None)
        async for messages in self.runner.run(batch):
            for message in messages:
                if left == 0:
                    raise LaneLostError("was lost on purpose")
                left = None if left is None else left - 1
                yield [message]


class Around:
    """Keeps some lanes open, a new one for each that is lost."""

    def __init__(self, losses: list[int | None], lanes: int = 2) -> None:
        self.worker, self.lanes = Worker(), lanes
        self.dispatcher = Dispatcher("test", lambda sent: sent, tries=TRIES)
        self.losses = iter(losses)
        self.opened: list[LosingLane] = []

    async def __aenter__(self) -> Around:
        self.tasks = [asyncio.create_task(self.keep()) for _ in range(self.lanes)]
        return self

    async def keep(self) -> None:
        while True:
            lane = LosingLane(self.worker, self.losses)
            self.opened.append(lane)
            try:
                await self.dispatcher.serve(lane)
            except LaneLostError:
                continue

    async def __aexit__(self, *about: object) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def run(folder: Path, steps: list[Step], around: Around) -> list[CaseRecord]:
    execute(
        folder,
        steps,
        around.dispatcher.run,
        follow=around.dispatcher.follow,
        around=around,
        wait_for_room=around.dispatcher.wait_for_room,
    )
    with Run(folder) as found:
        return list(found.records())


def units(count: int) -> list[Step]:
    return [Unit(f"case {number}", number, "f", None) for number in range(count)]


def new_folder(folder: Path) -> Path:
    return create_folder(folder, Manifest(subject="test"))


def test_every_case_has_one_record_in_order(tmp_path: Path) -> None:
    records = run(new_folder(tmp_path / "run"), units(200), Around([]))
    assert [one.id for one in records] == [f"case {number}" for number in range(200)]
    assert {one.outcome for one in records} == {Outcome.PASSED}


@given(losses=st.lists(st.none() | st.integers(0, 5), max_size=12))
def test_a_lost_lane_costs_no_record_and_doubles_none(
    tmp_path_factory: pytest.TempPathFactory, losses: list[int | None]
) -> None:
    around = Around(losses)
    folder = new_folder(tmp_path_factory.mktemp("lossy") / "run")
    steps = [*units(20), Chain("chain", "f", 4, 20)]
    records = {one.id: one for one in run(folder, steps, around)}
    lost = [one for one in records.values() if one.outcome is Outcome.ERROR]
    members = {f"chain/{number}" for number in range(4)}
    wanted = {f"case {number}" for number in range(20)} | members
    assert records.keys() - {"chain/(lost)"} <= wanted
    assert wanted - records.keys() <= (members if "chain/(lost)" in records else set())
    # Whatever is an error was lost as often as is allowed, and says so.
    assert all("was lost 3 times" in one.reason for one in lost)
    assert len(lost) * TRIES <= 40
    if sum(one is not None for one in losses) < TRIES:
        assert not lost


def test_what_was_lost_runs_alone_so_that_its_neighbours_do_not_suffer(tmp_path: Path) -> None:
    around = Around([], lanes=1)

    class Deadly(Worker):
        async def run(self, unit: Unit, parts: Parts) -> CaseRecord:
            if unit.id == "case 30":
                raise LaneLostError("was ended by the case")
            return await super().run(unit, parts)

    class DeadlyLane(LosingLane):
        async def run(self, batch: list[Any]) -> AsyncIterator[list[Message]]:
            async for messages in super().run(batch):
                for message in messages:
                    if isinstance(message.data, InfrastructureError | LaneLostError):
                        raise LaneLostError("was ended by the case")
                yield messages

    async def keep() -> None:
        while True:
            lane = DeadlyLane(Deadly(), iter([]))
            around.opened.append(lane)
            try:
                await around.dispatcher.serve(lane)
            except LaneLostError:
                continue

    around.keep = keep  # type: ignore[method-assign]
    records = run(new_folder(tmp_path / "run"), units(60), around)
    assert [one.id for one in records if one.outcome is Outcome.ERROR] == ["case 30"]
    assert records[30].reason == ("its worker was lost 3 times; the last one was ended by the case")
    assert len(around.opened) == 1 + TRIES


def test_a_chain_that_is_lost_again_and_again_is_an_error_after_what_it_did(
    tmp_path: Path,
) -> None:
    around = Around([2, 1, 0], lanes=1)
    records = run(new_folder(tmp_path / "run"), [Chain("chain", "f", 4, 7)], around)
    assert [(one.id, one.outcome.value) for one in records] == [
        ("chain/0", "passed"), ("chain/1", "passed"), ("chain/(lost)", "error"),
    ]  # fmt: skip
    again = run(tmp_path / "run", [Chain("chain", "f", 4, 7)], Around([], lanes=1))
    assert [one.id for one in again] == [f"chain/{number}" for number in range(4)]


def test_parts_are_kept_when_they_come_and_sent_with_the_repetition(tmp_path: Path) -> None:
    records = run(new_folder(tmp_path / "run"), units(1), Around([1], lanes=1))
    assert records[0].reason == "begun before: True"


def test_batches_grow_with_quick_steps_and_last_steps_are_shared(tmp_path: Path) -> None:
    around = Around([])
    run(new_folder(tmp_path / "run"), units(400), around)
    assert max(around.opened[0].sizes) > 4
    assert all(lane.sizes for lane in around.opened)


def test_few_steps_are_drawn_ahead_of_the_lanes(tmp_path: Path) -> None:
    around = Around([])
    ahead: list[int] = []

    def source() -> Iterator[Step]:
        for step in units(500):
            ahead.append(around.dispatcher.waiting - sum(around.dispatcher._sizes.values()))
            yield step

    execute(
        new_folder(tmp_path / "run"),
        source(),
        around.dispatcher.run,
        around=around,
        wait_for_room=around.dispatcher.wait_for_room,
    )
    assert max(ahead) < 0


def test_what_a_worker_raises_ends_the_run(tmp_path: Path) -> None:
    around = Around([])

    async def fail(unit: Unit, parts: Parts) -> CaseRecord:
        raise InfrastructureError("the disk is full")

    around.worker.run = fail  # type: ignore[method-assign]
    with pytest.raises(InfrastructureError, match="the disk is full"):
        run(new_folder(tmp_path / "run"), units(50), around)


def test_a_lane_that_fails_otherwise_ends_the_run(tmp_path: Path) -> None:
    around = Around([])

    class Broken(LosingLane):
        async def run(self, batch: list[SentStep]) -> AsyncIterator[list[Message]]:
            raise ZeroDivisionError
            yield []

    async def keep() -> None:
        await around.dispatcher.serve(Broken(around.worker, iter([])))

    around.keep = keep  # type: ignore[method-assign]
    with pytest.raises(ZeroDivisionError):
        run(new_folder(tmp_path / "run"), units(50), around)
