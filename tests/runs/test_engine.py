"""The engine: what runs, what is kept, what runs again, and what an interruption leaves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InfrastructureError, InputError
from assay.model import CaseRecord, Outcome
from assay.runs import Chain, Manifest, Parts, Run, Step, Unit, create_folder, execute
from assay.runs.journal import read_entries


def folder_in(tmp_path: Path) -> Path:
    return create_folder(tmp_path / "run", Manifest(subject="test"))


def units(*names: str, fingerprint: str = "f") -> list[Unit]:
    return [Unit(name, place, fingerprint, name) for place, name in enumerate(names)]


def record(unit: Unit, outcome: Outcome = Outcome.PASSED) -> CaseRecord:
    return CaseRecord(
        id=unit.id, subject="test", outcome=outcome, fingerprint=unit.fingerprint, code=outcome
    )


class Worker:
    """Remembers what it ran; ends as told."""

    def __init__(self, **outcomes: Outcome) -> None:
        self.ran: list[str] = []
        self.outcomes = outcomes

    async def __call__(self, unit: Unit, parts: Parts) -> CaseRecord:
        self.ran.append(unit.id)
        return record(unit, self.outcomes.get(unit.id, Outcome.PASSED))


def outcomes(path: Path) -> list[tuple[str, str]]:
    with Run(path) as run:
        return [(each.id, each.outcome.value) for each in run.records()]


def test_reports_keep_the_order_of_the_cases_not_of_their_ending(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)

    async def slower_first(unit: Unit, parts: Parts) -> CaseRecord:
        await asyncio.sleep(0.05 if unit.place == 0 else 0)
        return record(unit)

    execute(folder, units("a", "b", "c"), slower_first, jobs=3)
    written = [entry["record"]["id"] for _, entry in read_entries(folder / "journal.jsonl")]
    assert written[-1] == "a"
    assert [name for name, _ in outcomes(folder)] == ["a", "b", "c"]


def test_cases_are_drawn_when_they_are_needed(tmp_path: Path) -> None:
    drawn: list[str] = []
    most_waiting = 0
    worker = Worker()

    def source() -> Iterator[Unit]:
        nonlocal most_waiting
        for unit in units(*(f"case {number}" for number in range(50))):
            drawn.append(unit.id)
            most_waiting = max(most_waiting, len(drawn) - len(worker.ran))
            yield unit

    execute(folder_in(tmp_path), source(), worker, jobs=4)
    assert len(drawn) == 50
    assert most_waiting <= 4


def test_resuming_repeats_nothing_but_errors(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    execute(folder, units("a", "b", "c"), Worker(b=Outcome.ERROR, c=Outcome.FAILED))
    again = Worker()
    execute(folder, units("a", "b", "c"), again)
    assert again.ran == ["b"]
    assert outcomes(folder) == [("a", "passed"), ("b", "passed"), ("c", "failed")]


def test_what_changed_runs_again_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = folder_in(tmp_path)
    execute(folder, units("a", "b"), Worker())
    changed = [Unit("a", 0, "f", None), Unit("b", 1, "other", None)]
    again = Worker()
    with caplog.at_level(logging.WARNING, "assay"):
        execute(folder, changed, again)
    assert again.ran == ["b"]
    assert "changed since and run again: b" in caplog.text


def test_cases_that_are_gone_are_left_out_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = folder_in(tmp_path)
    execute(folder, units("a", "b", "c"), Worker())
    with caplog.at_level(logging.WARNING, "assay"):
        execute(folder, units("c", "new", "a"), Worker())
    assert [name for name, _ in outcomes(folder)] == ["c", "new", "a"]
    assert "left out: b" in caplog.text


def test_an_id_that_occurs_twice_is_an_error_of_the_input(tmp_path: Path) -> None:
    for place, jobs in enumerate((1, 3)):
        folder = create_folder(tmp_path / str(place), Manifest(subject="test"))
        with pytest.raises(InputError, match="'a' occurs twice"):
            execute(folder, units("a", "b", "a"), Worker(), jobs=jobs)


def test_a_source_that_breaks_off_is_an_error_of_the_input(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)

    def source() -> Iterator[Unit]:
        yield from units("a", "b")
        raise KeyError("no more")

    with pytest.raises(InputError, match=r"test_engine\.py:\d+: the cases broke off after 2"):
        execute(folder, source(), Worker())
    assert len(outcomes(folder)) == 2
    with Run(folder) as run:
        assert run.manifest.finished is None


def test_parts_of_an_unfinished_case_are_kept(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)

    async def interrupted(unit: Unit, parts: Parts) -> CaseRecord:
        parts.keep("0", {"bytes": b"\x00"})
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(folder, units("a"), interrupted, waits=False)
    seen: list[Any] = []

    async def resumed(unit: Unit, parts: Parts) -> CaseRecord:
        seen.extend([parts.get("0"), parts.get("1")])
        return record(unit)

    execute(folder, [Unit("a", 0, "f", None)], resumed)
    assert seen == [{"bytes": b"\x00"}, None]
    execute(folder, [Unit("a", 0, "changed", None)], resumed)
    assert seen[2:] == [None, None]


def test_one_lane_that_fails_ends_the_run_with_its_error(tmp_path: Path) -> None:
    async def failing(unit: Unit, parts: Parts) -> CaseRecord:
        if unit.id == "b":
            raise InfrastructureError("the disk is gone")
        await asyncio.sleep(30)
        return record(unit)

    with pytest.raises(InfrastructureError, match="the disk is gone"):
        execute(folder_in(tmp_path), units("a", "b", "c"), failing, jobs=3)


def test_work_that_promised_not_to_wait_is_caught(tmp_path: Path) -> None:
    async def waiting(unit: Unit, parts: Parts) -> CaseRecord:
        await asyncio.sleep(0)
        return record(unit)

    with pytest.raises(RuntimeError, match="promised"):
        execute(folder_in(tmp_path), units("a"), waiting, waits=False)


def test_a_run_can_be_made_where_a_loop_is_running(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)

    async def notebook() -> None:
        execute(folder, units("a", "b"), Worker(), jobs=2)

    asyncio.run(notebook())
    assert len(outcomes(folder)) == 2


def test_jobs_must_be_positive(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 1"):
        execute(folder_in(tmp_path), [], Worker(), jobs=0)


class Sequel:
    """A chain that remembers what it ran and may break off after some cases."""

    def __init__(self, *names: str, fingerprint: str = "f", **ends: Outcome) -> None:
        self.units, self.ends = units(*names, fingerprint=fingerprint), ends
        self.fingerprint = fingerprint
        self.ran: list[str] = []
        self.breaks_after: int | None = None

    def chain(self) -> Chain:
        return Chain("sequel", self.fingerprint, self.run)

    async def run(self) -> AsyncIterator[tuple[Unit, CaseRecord]]:
        for number, unit in enumerate(self.units):
            if number == self.breaks_after:
                raise InfrastructureError("the disk is full")
            self.ran.append(unit.id)
            await asyncio.sleep(0)
            yield unit, record(unit, self.ends.get(unit.id, Outcome.PASSED))


def follow(chain: Chain) -> AsyncIterator[tuple[Unit, CaseRecord]]:
    found: AsyncIterator[tuple[Unit, CaseRecord]] = chain.payload()
    return found


async def awaited(*steps: Step) -> AsyncIterator[Step]:
    for step in steps:
        await asyncio.sleep(0)
        yield step


def test_a_chain_runs_in_order_beside_other_cases(tmp_path: Path) -> None:
    folder, worker, sequel = folder_in(tmp_path), Worker(), Sequel("a", "b", "c")
    others = [Unit(name, place, "f", name) for place, name in enumerate("xyz", start=3)]
    execute(folder, awaited(sequel.chain(), *others), worker, jobs=2, follow=follow)
    assert sequel.ran == ["a", "b", "c"]
    assert sorted(worker.ran) == ["x", "y", "z"]
    assert [name for name, _ in outcomes(folder)] == ["a", "b", "c", "x", "y", "z"]


def test_a_finished_chain_is_not_run_again(tmp_path: Path) -> None:
    folder, sequel = folder_in(tmp_path), Sequel("a", "b")
    execute(folder, [sequel.chain()], Worker(), follow=follow)
    execute(folder, [sequel.chain()], Worker(), follow=follow)
    assert sequel.ran == ["a", "b"]
    assert [name for name, _ in outcomes(folder)] == ["a", "b"]


def test_a_broken_chain_runs_again_as_a_whole_and_doubles_no_record(tmp_path: Path) -> None:
    folder, sequel = folder_in(tmp_path), Sequel("a", "b", "c")
    sequel.breaks_after = 2
    with pytest.raises(InfrastructureError):
        execute(folder, [sequel.chain()], Worker(), follow=follow)
    sequel.breaks_after = None
    execute(folder, [sequel.chain()], Worker(), follow=follow)
    assert sequel.ran == ["a", "b", "a", "b", "c"]
    entries = [entry for _, entry in read_entries(folder / "journal.jsonl")]
    written = [entry["record"]["id"] for entry in entries if entry["kind"] == "record"]
    assert written == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("before", "after"),
    [(Sequel("a", "b", b=Outcome.ERROR), Sequel("a", "b")), (Sequel("a"), Sequel("a", "b"))],
    ids=["an error in it", "another input"],
)
def test_what_makes_a_finished_chain_run_again(
    tmp_path: Path, before: Sequel, after: Sequel
) -> None:
    folder = folder_in(tmp_path)
    execute(folder, [before.chain()], Worker(), follow=follow)
    if not before.ends:
        after.fingerprint = "other"
    execute(folder, [after.chain()], Worker(), follow=follow)
    assert after.ran == ["a", "b"]
    assert outcomes(folder) == [("a", "passed"), ("b", "passed")]


def test_an_awaited_source_that_raises_is_the_inputs_fault(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[Step]:
        yield units("a")[0]
        raise ValueError("no more")

    with pytest.raises(InputError, match="broke off after 1: ValueError: no more"):
        execute(folder_in(tmp_path), broken(), Worker())
