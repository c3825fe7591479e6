"""The plan of a run as plain data, and how a run is started, resumed and finished."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from assay import plugins
from assay.errors import InputError, nearest
from assay.findings import Baseline
from assay.model import CaseRecord, FinishedCase
from assay.runs.engine import Chain, Follow, Progress, Step, execute
from assay.runs.folder import BASELINE, Manifest, Run, check_resumable, create_folder
from assay.runs.registry import remember_run
from assay.runs.writer import Parts, Unit
from assay.traces import trace_run


class Worker(Protocol):
    """Makes the records of cases."""

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord | FinishedCase:
        """Return the record of one case; `parts` are its parts finished by an earlier pass."""

    # A worker whose cases may depend on each other also has `follow`, as in engine.Follow.


class Plan(Protocol):
    """A validated request of a subject, ready to run."""

    manifest: Manifest
    """As run.json keeps it; `asked` is what the plan can be made of again."""
    jobs: int
    """How many cases run at a time."""
    total: int | None
    """How many cases there are, if that is known before they are listed."""
    waits: bool
    """False if the worker never suspends; it then runs in the calling thread."""

    def cases(self) -> Iterable[Step] | AsyncIterable[Step]:
        """List the cases, in order; called while a worker is open."""

    def open_worker(
        self, folder: Path, progress: Progress | None
    ) -> AbstractAsyncContextManager[Worker]:
        """Return a worker, which is entered in the event loop that its cases run in.

        It may keep files of its own in the run folder, but writes none of the run's.
        """

    def finish(self, run: Run) -> list[str]:
        """Write the subject's own files for a finished run; return lines to print."""


Engine: TypeAlias = Callable[[Plan, Path, Progress | None], None]
"""Runs the cases of a plan that have no record yet in a run folder."""
LOCAL = "local"

Watch: TypeAlias = Callable[[Path, int | None], AbstractContextManager[Progress | None]]
"""Surrounds the cases of a run, given its folder and how many there are."""


@dataclass(frozen=True)
class Ended:
    """A finished run, with the lines its subject prints about it."""

    run: Run
    notes: list[str]


def watch_nothing(folder: Path, total: int | None) -> AbstractContextManager[Progress | None]:
    """Show no progress."""
    return nullcontext()


def start_run(
    plan: Plan,
    *,
    out: Path | None = None,
    runs: Path,
    baseline: Path | None = None,
    write_baseline: Path | None = None,
    watch: Watch = watch_nothing,
    engine: str = LOCAL,
    creates_runs: bool = False,
) -> Ended:
    """Create a run folder, run all cases and finish the run.

    `creates_runs` allows to make the folder `runs` for a run that is written elsewhere.
    """
    run_with = find_engine(engine)
    if baseline is not None and write_baseline is not None and not baseline.exists():
        # The first one is only being made.
        baseline = None
    if baseline is not None:
        Baseline.read(baseline)
    folder = create_folder(out, plan.manifest, runs)
    remember_run(folder, runs, creates=creates_runs)
    _use_baseline(folder, baseline)
    return _carry_out(plan, folder, write_baseline, watch, run_with)


def start_configured(
    plan: Plan, *, out: str | Path | None = None, baseline: str | Path | None = None
) -> Run:
    """Run a plan with the configuration of the current directory, without progress output."""
    from assay.config import load_config

    config = load_config()
    ended = start_run(
        plan,
        out=None if out is None else Path(out),
        runs=config.runs,
        baseline=config.baseline if baseline is None else Path(baseline),
    )
    return ended.run


def resume_run(
    plan: Plan,
    folder: Path,
    *,
    baseline: Path | None = None,
    write_baseline: Path | None = None,
    watch: Watch = watch_nothing,
    engine: str = LOCAL,
) -> Ended:
    """Run the cases of a run folder that have no record yet and finish the run."""
    # Before changing anything in the folder that another process relies on.
    check_resumable(folder)
    _use_baseline(folder, baseline)
    return _carry_out(plan, folder, write_baseline, watch, find_engine(engine))


def _use_baseline(folder: Path, baseline: Path | None) -> None:
    """Store the baseline with the run, so that every report agrees with the exit code."""
    if baseline is not None:
        Baseline.read(baseline).write(folder / BASELINE)


def _carry_out(
    plan: Plan, folder: Path, write_baseline: Path | None, watch: Watch, engine: Engine
) -> Ended:
    # The location of the run, even if the user's code changes the current directory.
    place = folder.absolute()
    manifest = plan.manifest
    with (
        watch(folder, plan.total) as progress,
        trace_run(place.name, manifest.subject, manifest.title),
    ):
        engine(plan, place, progress)
    # The path as given, if it still means the same.
    shown = folder if folder.absolute() == place else place
    with Run(shown) as run:
        notes = plan.finish(run)
    run = Run(shown)
    if write_baseline is not None:
        known = Baseline.of(row for row in run.rows() if run.fails(row.outcome))
        known.write(write_baseline)
        known.write(place / BASELINE)
        run.baseline = known
    return Ended(run, notes)


def find_engine(name: str) -> Engine:
    """Return an engine by name: built in, or from an installed package."""
    if name == LOCAL:
        return run_cases
    found: Engine | None = plugins.find("engines", name)
    if found is None:
        known = [LOCAL, *(plugin.name for plugin in plugins.list_installed("engines"))]
        raise InputError(f"there is no engine {name!r}", advice=nearest(name, known))
    return found


def run_cases(plan: Plan, folder: Path, progress: Progress | None = None) -> None:
    """Run the cases that have no record yet on this machine."""
    opened = plan.open_worker(folder, progress)
    if not plan.waits and plan.jobs > 1:
        _run_on_all_cores(plan, opened, folder, progress)
        return
    worker = _Opening(opened)
    execute(
        folder,
        plan.cases(),
        worker.run,
        follow=worker.follow,
        jobs=plan.jobs,
        waits=plan.waits,
        progress=progress,
        around=worker,
    )


def _run_on_all_cores(
    plan: Plan,
    opened: AbstractAsyncContextManager[Worker],
    folder: Path,
    progress: Progress | None,
) -> None:
    """Run synchronous work several times at once, which an event loop alone cannot."""
    from assay.runs.local_lanes import LocalWorker

    uses_threads = getattr(plan, "uses_threads", False)
    worker = LocalWorker(opened, plan.manifest.subject, plan.jobs, uses_threads=uses_threads)
    execute(
        folder,
        plan.cases(),
        worker.run,
        progress=progress,
        around=worker,
        wait_for_room=worker.dispatcher.wait_for_room,
    )


class _Opening(AbstractAsyncContextManager[None]):
    """A worker that is opened in the event loop of its run."""

    def __init__(self, opened: AbstractAsyncContextManager[Worker]) -> None:
        self._opened = opened

    async def __aenter__(self) -> None:
        self._worker = await self._opened.__aenter__()

    async def __aexit__(self, *about: object) -> None:
        await self._opened.__aexit__(*about)  # type: ignore[arg-type]

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord | FinishedCase:
        return await self._worker.run(unit, parts)

    def follow(self, chain: Chain) -> AsyncIterator[tuple[Unit, CaseRecord | FinishedCase]]:
        following: Follow = self._worker.follow  # type: ignore[attr-defined]
        return following(chain)
