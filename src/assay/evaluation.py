"""Evaluating from Python: cases, a task that runs one, a verifier that compares, and a run of them.

This is the whole of Assay for those who bring a function of their own; `assay run FILE.py:NAME`
does the same from the command line.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from assay import values
from assay.errors import InputError, Unverifiable
from assay.failures import account, first_problem
from assay.ratio import Ratio
from assay.results import (
    Case,
    CaseRecord,
    CaseResult,
    Outcome,
    VerificationResult,
    VerifierReport,
    VerifierReturnType,
    checked_results,
)
from assay.runs import Manifest, Parts, Progress, Run, Unit, create_folder, execute
from assay.runs.workers import LimitExceededError, WorkerDiedError, WorkerPool, WorkRaisedError

SUBJECT = "evaluation"

Pairs: TypeAlias = Iterable[tuple[Case | Mapping[str, Any], Any]]
Task: TypeAlias = Callable[[Case], CaseResult | Awaitable[CaseResult]]
Verifier: TypeAlias = Callable[[str, str, CaseResult, CaseResult], VerifierReturnType]


@dataclass(frozen=True)
class Evaluation:
    """What `assay run FILE.py:NAME` runs: the arguments of `evaluate` that say what to do.

    `cases` is an iterable of (case, expected) pairs or a function that returns one. `ratio` "N/M"
    takes M samples of every case, of which N must pass.
    """

    cases: Pairs | Callable[[], Pairs]
    task: Task
    verifier: Verifier
    time_limit: float | None = None
    ratio: str | None = None

    def __post_init__(self) -> None:
        for name, value in (("task", self.task), ("verifier", self.verifier)):
            if not callable(value):
                raise InputError(f"the {name} must be a function, not {type(value).__name__}")
        _check_parameters(self.task, "task", "case")
        _check_parameters(self.verifier, "verifier", "group_name, case_name, actual, expected")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit must be above 0 seconds, not {self.time_limit}")
        if self.ratio is not None:
            Ratio.parse(self.ratio)

    def pairs(self) -> Pairs:
        pairs = self.cases() if callable(self.cases) else self.cases
        if not isinstance(pairs, Iterable):
            raise InputError(
                f"the cases must be an iterable of pairs, not {type(pairs).__name__}",
                advice="yield (case, expected) tuples",
            )
        return pairs


def _check_parameters(function: Any, name: str, parameters: str) -> None:
    """Refuse a function that cannot be called as it will be; some cannot be asked."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*parameters.split(", "))
    except TypeError as error:
        raise InputError(
            f"the {name} cannot be called with ({parameters}): {error}",
            advice=f"define it as: def {name}({parameters})",
        ) from None


def evaluate(
    cases: Pairs | Callable[[], Pairs],
    task: Task,
    verifier: Verifier,
    out: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    time_limit: float | None = None,
    resume: bool = False,
    *,
    ratio: str | None = None,
) -> Run:
    """Run a task on every case, verify each result, and return the run, which can be read again.

    cases yields (case, expected) pairs: a case is a `Case` or a mapping with an `id`; expected is
    a `CaseResult` or the expected output. `task(case)` returns a `CaseResult` (see `Case.result`);
    `verifier(group_name, case_name, actual, expected)` returns `VerificationResult`s by name.
    A task that raises, exceeds the limit or returns something else costs its case, not the run.

    The run is kept in the folder `out` (default: a new one under .assay/runs). With `resume` a run
    that is there is continued: what is finished is not repeated.
    """
    evaluation = Evaluation(cases, task, verifier, time_limit, ratio)
    folder = Path(out) if out is not None else None
    if not (resume and folder is not None and (folder / "run.json").exists()):
        folder = create_folder(folder, Manifest(subject=SUBJECT))
    run_evaluation(evaluation, folder, jobs=jobs)
    return Run(folder)


def run_evaluation(
    evaluation: Evaluation, folder: Path, *, jobs: int, progress: Progress | None = None
) -> None:
    """Run the cases of an evaluation that have no record yet in a run folder."""
    runner = _Runner(evaluation)
    try:
        with exits_refused():
            execute(
                folder,
                _units(evaluation),
                runner.run_case,
                jobs=jobs,
                waits=runner.waits,
                progress=progress,
            )
    finally:
        runner.close()


def _units(evaluation: Evaluation) -> Iterator[Unit]:
    for place, pair in enumerate(evaluation.pairs()):
        case, expected = _checked_pair(pair, place)
        mark = values.fingerprint(case.describe(), expected.given(), evaluation.ratio)
        yield Unit(case.id, place, mark, (case, expected))


def _checked_pair(pair: Any, place: int) -> tuple[Case, CaseResult]:
    where = f"case {place + 1}"
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise InputError(
            f"cases gave {type(pair).__name__}, not a pair (case, expected)",
            where=where,
            advice="yield (case, expected) tuples",
        )
    given, expected = pair
    try:
        case = given if isinstance(given, Case) else Case.model_validate(given)
        if not isinstance(expected, CaseResult):
            expected = case.result(output=expected)
    except ValidationError as error:
        raise InputError(
            first_problem(error),
            where=where,
            advice="a case is an assay.Case or a mapping with at least an id",
        ) from None
    return case, expected


class _Runner:
    """Runs single cases the way the task asks for: awaited, called, or in a worker."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._ratio = Ratio.parse(evaluation.ratio) if evaluation.ratio else None
        self._is_async = _is_async(evaluation.task)
        limited = evaluation.time_limit is not None
        self._pool = WorkerPool(evaluation.task) if limited and not self._is_async else None
        self.waits = self._is_async or limited

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()

    async def run_case(self, unit: Unit, parts: Parts) -> CaseRecord:
        case, expected = unit.payload
        started, clock = datetime.now(UTC), time.perf_counter()
        if self._ratio is None:
            reports = [await self._sample(case, expected)]
            outcome, reason = _single_outcome(reports[0])
        else:
            reports = [
                await self._kept_sample(case, expected, parts, str(number))
                for number in range(self._ratio.samples)
            ]
            outcome, reason = self._ratio.outcome(reports)
        return CaseRecord(
            id=case.id,
            subject=SUBJECT,
            outcome=outcome,
            reason=reason,
            code=_code(outcome, reports),
            reports=reports,
            fingerprint=unit.fingerprint,
            started=started,
            duration=time.perf_counter() - clock,
        )

    async def _kept_sample(
        self, case: Case, expected: CaseResult, parts: Parts, key: str
    ) -> VerifierReport:
        kept = parts.get(key)
        if kept is not None:
            return VerifierReport.unpack(kept)
        report = await self._sample(case, expected)
        if report.outcome is not Outcome.ERROR:
            parts.keep(key, report.pack())
        return report

    async def _sample(self, case: Case, expected: CaseResult) -> VerifierReport:
        clock = time.perf_counter()
        try:
            actual = await self._run_task(case)
            raw = _verify(self._evaluation.verifier, case, actual, expected)
            return VerifierReport.from_verifier_result(
                case, time.perf_counter() - clock, actual, expected, raw
            )
        except _CaseError as error:
            return VerifierReport.from_error(case, time.perf_counter() - clock, str(error))

    async def _run_task(self, case: Case) -> CaseResult:
        limit = self._evaluation.time_limit
        try:
            if self._pool is not None and limit is not None:
                result = await self._pool.call(case, limit)
            elif self._is_async:
                result = await _within(limit, self._evaluation.task(case))
            else:
                result = self._evaluation.task(case)
        except LimitExceededError:
            raise _CaseError(f"the task did not end within its limit of {limit:g} s") from None
        except (WorkerDiedError, WorkRaisedError) as error:
            raise _CaseError(f"the task {error}") from None
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if _is_being_cancelled(error):
                raise
            raise _CaseError(f"the task raised {account(error)}") from None
        return _checked_result(result)


class _CaseError(Exception):
    """Why nothing can be said about a case."""


def _is_async(task: Task) -> bool:
    function = task.func if isinstance(task, functools.partial) else task
    call = getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


async def _within(limit: float | None, work: Any) -> Any:
    clock = time.perf_counter()
    try:
        async with asyncio.timeout(limit) as scope:
            result = await work
            # A task that blocks the loop cannot be cancelled; it was too slow all the same.
            if limit is not None and time.perf_counter() - clock > limit:
                raise LimitExceededError
            return result
    except TimeoutError:
        # The task may raise a TimeoutError of its own, which says nothing about the limit.
        if scope.expired():
            raise LimitExceededError from None
        raise


def _is_being_cancelled(error: BaseException) -> bool:
    """Whether a cancellation is the engine's; one that the task made up is the task's error."""
    task = asyncio.current_task() if isinstance(error, asyncio.CancelledError) else None
    return task is not None and task.cancelling() > 0


def _checked_result(result: Any) -> CaseResult:
    if isinstance(result, CaseResult):
        return result
    advice = "return case.result(output=…)"
    if inspect.iscoroutine(result):
        result.close()
        advice = "define the task itself with async def"
    raise _CaseError(f"the task returned {type(result).__name__}, not a CaseResult; {advice}")


def _verify(
    verifier: Verifier, case: Case, actual: CaseResult, expected: CaseResult
) -> VerifierReturnType:
    try:
        return checked_results(verifier(case.group, case.id, actual, expected))
    except Unverifiable as reason:
        return {"verifier": VerificationResult.create(str(reason), None)}
    except InputError as error:
        raise _CaseError(str(error)) from None
    except (Exception, SystemExit) as error:
        raise _CaseError(f"the verifier raised {account(error)}") from None


def _single_outcome(report: VerifierReport) -> tuple[Outcome, str]:
    outcome = report.outcome
    if outcome is Outcome.ERROR:
        return outcome, (report.error or "").partition("\n")[0]
    if outcome is Outcome.FAILED:
        return outcome, "wrong: " + ", ".join(_wrong(report))
    if outcome is Outcome.UNVERIFIED:
        undecided = [r.attribute for r in report.results.values() if r.is_undecided]
        return outcome, "undecided: " + ", ".join(undecided) if undecided else "nothing was checked"
    return outcome, ""


def _code(outcome: Outcome, reports: list[VerifierReport]) -> str:
    """What identifies the finding in a baseline: the attributes that are wrong in any sample."""
    if outcome is Outcome.FAILED:
        wrong = dict.fromkeys(name for report in reports for name in _wrong(report))
        return f"{outcome}: {', '.join(wrong)}"
    return outcome.value


@contextlib.contextmanager
def exits_refused() -> Iterator[None]:
    """While tasks run in this process, `os._exit` raises: ending Assay would look like a pass."""
    own, ending = os.getpid(), os._exit

    def refuse(status: int) -> None:
        if os.getpid() != own:
            ending(status)
        raise SystemExit(f"os._exit({status})")

    os._exit = refuse  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = ending


def _wrong(report: VerifierReport) -> list[str]:
    return [result.attribute for result in report.results.values() if result.is_correct is False]
