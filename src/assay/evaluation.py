"""Evaluation from Python: cases, a task that runs one, a verifier, and a run of them.

Use this to evaluate your own function. `assay run FILE.py:NAME` does the same from the command
line.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import json
import os
import pickle
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sized
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

from pydantic import ValidationError

from assay.checks import get_check, run_check, text_diff
from assay.errors import InputError, Unverifiable
from assay.model import (
    Case,
    CaseResult,
    FinishedCase,
    Outcome,
    PackedReport,
    Ratio,
    VerificationResult,
    VerifierReturnType,
    are_unchangeable,
    check_results,
    compute_fingerprint,
    list_undecided,
    list_wrong,
    now_text,
    pack_error,
    pack_report,
)
from assay.processes import (
    ChildLateError,
    ChildLostError,
    ForkPool,
    WorkRaisedError,
    refuse_exits,
)
from assay.runs import RUNS_FOLDER, Manifest, Parts, Progress, Run, Unit, resume_run, start_run
from assay.tracebacks import describe, first_problem, format_exception

SUBJECT = "evaluation"

Pairs: TypeAlias = Iterable[tuple[Any, ...]]
Task: TypeAlias = Callable[[Any], Any]
Verifier: TypeAlias = Callable[[str, str, CaseResult, CaseResult], VerifierReturnType]
Check: TypeAlias = str | Callable[[Any, Any], bool | VerificationResult | None]


@dataclass(frozen=True)
class Evaluation:
    """The evaluation that `assay run FILE.py:NAME` runs: the arguments of `evaluate`.

    `cases` is an iterable of (case, expected) pairs or a function that returns one. `ratio` "N/M"
    takes M samples of every case, of which N must pass. With a `check` in place of a verifier the
    task is a plain function of an input, and cases are (input, expected) or (id, input, expected).
    """

    cases: Pairs | Callable[[], Pairs]
    task: Task
    verifier: Verifier | None = None
    time_limit: float | None = None
    ratio: str | None = None
    check: Check | None = None

    def __post_init__(self) -> None:
        if (self.verifier is None) == (self.check is None):
            raise InputError(
                "an evaluation needs either a verifier or a check",
                advice='to compare what a function returns with what is expected: check="exact"',
            )
        functions: dict[str, Any] = {"task": self.task, "verifier": self.verifier}
        if isinstance(self.check, str):
            get_check(self.check)
        else:
            functions["check"] = self.check
        for name, value in functions.items():
            if value is not None and not callable(value):
                raise InputError(f"the {name} must be a function, not {type(value).__name__}")
        _check_parameters(self.task, "task", "case" if self.check is None else "input")
        if self.verifier is not None:
            _check_parameters(self.verifier, "verifier", "group_name, case_name, actual, expected")
        elif callable(self.check):
            _check_parameters(self.check, "check", "actual, expected")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit must be above 0 seconds, not {self.time_limit}")
        if self.ratio is not None:
            Ratio.parse(self.ratio)

    def with_verifier(self) -> Evaluation:
        """Return the same evaluation with a task of a case and a verifier."""
        if self.check is None:
            return self
        return replace(
            self,
            cases=functools.partial(_plain_cases, self.pairs()),
            task=(_AsyncFunctionTask if _is_async(self.task) else _FunctionTask)(self.task),
            verifier=functools.partial(_verify_output, self.check),
            check=None,
        )

    def pairs(self) -> Pairs:
        pairs = self.cases() if callable(self.cases) else self.cases
        if not isinstance(pairs, Iterable):
            raise InputError(
                f"the cases must be an iterable of pairs, not {type(pairs).__name__}",
                advice="yield (case, expected) tuples",
            )
        return pairs


def _check_parameters(function: Any, name: str, parameters: str) -> None:
    """Refuse a function with an incompatible signature, as far as it can be inspected."""
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
    verifier: Verifier | None = None,
    out: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    time_limit: float | None = None,
    resume: bool = False,
    *,
    check: Check | None = None,
    ratio: str | None = None,
    threads: bool = False,
) -> Run:
    """Run a task on every case, verify each result, and return the run, which can be read again.

    The short form is `evaluate(cases, function, check="exact")`: cases yields (input, expected) or
    (id, input, expected), the function takes an input, and what it returns is compared with what
    is expected, by a named check or by `check(actual, expected)`, which returns a bool.

    In the long form,

    cases yields (case, expected) pairs: a case is a `Case` or a mapping with an `id`; expected is
    a `CaseResult` or the expected output. `task(case)` returns a `CaseResult` (see `Case.result`);
    `verifier(group_name, case_name, actual, expected)` returns `VerificationResult`s by name.
    A task that raises, exceeds the limit or returns something else costs its case, not the run.

    `jobs` cases run at a time: coroutines in an event loop, plain functions in processes forked
    from this one, or with `threads` in threads of it.

    The run is kept in the folder `out` (default: a new one under .assay/runs). With `resume` a run
    that is there is continued: what is finished is not repeated.
    """
    evaluation = Evaluation(cases, task, verifier, time_limit, ratio, check)
    plan = EvaluationPlan(evaluation, jobs=jobs, uses_threads=threads)
    folder = Path(out) if out is not None else None
    if resume and folder is not None and (folder / "run.json").exists():
        return resume_run(plan, folder).run
    return start_run(plan, out=folder, runs=RUNS_FOLDER).run


class EvaluationPlan:
    """Runs the task of an evaluation on its cases."""

    def __init__(
        self,
        evaluation: Evaluation,
        *,
        jobs: int,
        uses_threads: bool = False,
        title: str = "",
        asked: dict[str, Any] | None = None,
    ) -> None:
        self.total: int | None = None
        if isinstance(evaluation.cases, Sized):
            self.total = len(evaluation.cases)
        self.jobs, self.uses_threads = jobs, uses_threads
        self._evaluation = evaluation.with_verifier()
        self.waits = _is_async(self._evaluation.task) or evaluation.time_limit is not None
        # Without `asked` a run cannot be resumed by name: its task is known only to its program.
        self.manifest = Manifest(subject=SUBJECT, title=title, asked=asked or {})

    def cases(self) -> Iterator[Unit]:
        """List the cases, as they are drawn."""
        return _units(self._evaluation)

    def open_worker(
        self, folder: Path, progress: Progress | None
    ) -> contextlib.AbstractAsyncContextManager[_Runner]:
        """Return the worker that runs and verifies single cases."""
        return _open_runner(self._evaluation)

    def finish(self, run: Run) -> list[str]:
        """Keep nothing beside the run."""
        return []


@contextlib.asynccontextmanager
async def _open_runner(evaluation: Evaluation) -> AsyncIterator[_Runner]:
    runner = _Runner(evaluation)
    try:
        with refuse_exits():
            yield runner
    finally:
        runner.close()


def _units(evaluation: Evaluation) -> Iterator[Unit]:
    for place, pair in enumerate(evaluation.pairs()):
        case, expected = _check_pair(pair, place)
        about, wanted = case.describe(), expected.given()
        mark = compute_fingerprint(about, wanted, evaluation.ratio)
        yield Unit(case.id, place, mark, (case, expected, _is_changeable(about, wanted)))


def _check_pair(pair: Any, place: int) -> tuple[Case, CaseResult]:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise InputError(
            f"cases yielded {type(pair).__name__}, not a pair (case, expected)",
            where=f"case {place + 1}",
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
            where=f"case {place + 1}",
            advice="a case is an assay.Case or a mapping with at least an id",
        ) from None
    return case, expected


def _plain_cases(pairs: Pairs) -> Iterator[tuple[Case, Any]]:
    """Yield cases from inputs; one without an id is named by its input."""
    for place, one in enumerate(pairs):
        if not isinstance(one, tuple) or len(one) not in (2, 3):
            raise InputError(
                f"cases yielded {type(one).__name__}, not a tuple (input, expected)",
                where=f"case {place + 1}",
                advice="yield (input, expected) or (id, input, expected)",
            )
        name, given, expected = one if len(one) == 3 else (_name_input(one[0]), *one)
        try:
            yield Case(id=name, input=given), expected
        except ValidationError as error:
            raise InputError(first_problem(error), where=f"case {place + 1}") from None


def _name_input(given: Any) -> str:
    """Return an id that does not change when other cases are added or removed."""
    try:
        text = given if isinstance(given, str) else json.dumps(given)
    except (TypeError, ValueError):
        return compute_fingerprint(given)[:_NAME_DIGITS]
    if len(text) <= _NAME_CHARACTERS and text.strip():
        return text
    return f"{text[:_NAME_CHARACTERS]}… {compute_fingerprint(given)[:_NAME_DIGITS]}".strip()


_NAME_CHARACTERS, _NAME_DIGITS = 60, 8


@dataclass(frozen=True)
class _FunctionTask:
    """A function of an input as a task of a case."""

    function: Callable[[Any], Any]

    def __call__(self, case: Any) -> CaseResult:
        return _as_result(case, self.function(case.input))


@dataclass(frozen=True)
class _AsyncFunctionTask:
    """An async function of an input as a task of a case."""

    function: Callable[[Any], Any]

    async def __call__(self, case: Any) -> CaseResult:
        return _as_result(case, await self.function(case.input))


def _as_result(case: Case, output: Any) -> CaseResult:
    if inspect.iscoroutine(output):
        output.close()
        raise TypeError("the function returned a coroutine; define it with async def")
    return output if isinstance(output, CaseResult) else case.result(output=output)


def _verify_output(
    check: Check, group: str, name: str, actual: CaseResult, expected: CaseResult
) -> VerifierReturnType:
    if isinstance(check, str):
        return {"output": run_check(check, actual.output, expected.output)}
    found = check(actual.output, expected.output)
    if not isinstance(found, VerificationResult):
        if found is not None and not isinstance(found, bool):
            raise InputError(
                f"the check returned {type(found).__name__}, not a bool", advice="return True"
            )
        diff = text_diff(str(actual.output), str(expected.output)) if found is False else "checked"
        found = VerificationResult.create(diff, found)
    return {"output": found}


class _Runner:
    """Runs single cases as the task requires: awaited, called, or in a worker."""

    def __init__(self, evaluation: Evaluation) -> None:
        assert evaluation.verifier is not None
        self._evaluation, self._verifier = evaluation, evaluation.verifier
        self._ratio = Ratio.parse(evaluation.ratio) if evaluation.ratio else None
        self._is_async = _is_async(evaluation.task)
        limited = evaluation.time_limit is not None
        self._pool = ForkPool(evaluation.task) if limited and not self._is_async else None
        self.waits = self._is_async or limited

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()

    async def run(self, unit: Unit, parts: Parts) -> FinishedCase:
        case, expected, is_changeable = unit.payload
        started, clock = now_text(), time.perf_counter()
        if self._ratio is None:
            reports = [await self._sample(case, expected, is_changeable)]
            outcome = _single_outcome(reports[0])
        else:
            reports = [
                await self._take_sample_once(unit, parts, str(number))
                for number in range(self._ratio.samples)
            ]
            outcome = self._ratio.outcome([Outcome(report["outcome"]) for report in reports])
        return FinishedCase.of(
            unit.id,
            SUBJECT,
            outcome,
            _code(outcome[0], reports),
            reports,
            unit.fingerprint,
            started,
            time.perf_counter() - clock,
        )

    async def _take_sample_once(self, unit: Unit, parts: Parts, key: str) -> PackedReport:
        kept: PackedReport | None = parts.get(key)
        if kept is not None:
            return kept
        case, expected, _ = unit.payload
        report = await self._sample(case, expected, True)
        if report["outcome"] != Outcome.ERROR:
            parts.keep(key, report)
        return report

    async def _sample(self, case: Case, expected: CaseResult, is_changeable: bool) -> PackedReport:
        clock = time.perf_counter()
        # Copies, so that neither another sample nor the report sees what user code changes.
        tried = case.model_copy(deep=True) if is_changeable else case
        wanted = expected.model_copy(deep=True) if is_changeable else expected
        try:
            actual = await self._await_task(tried) if self.waits else self._call_task(tried)
            raw = _verify(self._verifier, case, actual, wanted)
            return pack_report(case, time.perf_counter() - clock, actual, expected, raw)
        except _CaseError as error:
            told = str(error)
        except (ValueError, RecursionError) as error:
            told = f"the verifier left a result that cannot be kept: {describe(error)}"
        return pack_error(case, time.perf_counter() - clock, told)

    async def _await_task(self, case: Case) -> CaseResult:
        """Return the task's result from a worker, or from its coroutine."""
        task, limit = self._evaluation.task, self._evaluation.time_limit
        try:
            if self._pool is not None and limit is not None:
                return _check_result(await self._pool.call(case, limit))
            return _check_result(await _supervise(task, case, limit))
        except ChildLateError:
            raise _CaseError(f"the task did not end within its limit of {limit:g} s") from None
        except (ChildLostError, WorkRaisedError) as error:
            raise _CaseError(f"the task {error}") from None
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise _CaseError(f"the case cannot cross to a worker: {describe(error)}") from None

    def _call_task(self, case: Case) -> CaseResult:
        """Return the task's result, called directly."""
        try:
            result = self._evaluation.task(case)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise _make_case_error("the task", error) from None
        return _check_result(result)


class _CaseError(Exception):
    """The reason why a case has no result."""


def _is_async(task: Task) -> bool:
    function = task.func if isinstance(task, functools.partial) else task
    call = getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _make_case_error(who: str, error: BaseException) -> _CaseError:
    """Return an exception of the user's code as the error of its case; Ctrl-C is not caught."""
    return _CaseError(f"{who} raised {format_exception(error)}")


async def _supervise(task: Task, case: Case, limit: float | None) -> Any:
    """Await a task that may ignore its limit or interfere with its surroundings."""
    clock = time.perf_counter()
    # In an asyncio task of its own, so that one that cancels itself cancels nothing else.
    inner = asyncio.ensure_future(_ending(task, case))
    try:
        done, _ = await asyncio.wait({inner}, timeout=limit)
    finally:
        inner.cancel()
    if not done:
        raise ChildLateError("was too slow")
    if inner.cancelled():
        raise _CaseError("the task was cancelled, and not by Assay")
    result, error, ended = inner.result()
    # Late is late, also if it could not be cancelled because it blocked.
    if limit is not None and ended - clock > limit:
        raise ChildLateError("was too slow")
    if error is not None:
        raise _make_case_error("the task", error)
    return result


async def _ending(task: Task, case: Case) -> tuple[Any, BaseException | None, float]:
    """Return what a task returned, what it raised, and when."""
    try:
        return await cast("Awaitable[CaseResult]", task(case)), None, time.perf_counter()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return None, error, time.perf_counter()


def _is_changeable(about: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Return whether user code could change a value that a report relies on."""
    return not are_unchangeable([*about.values(), *wanted.values()])


def _check_result(result: Any) -> CaseResult:
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
        return check_results(verifier(case.group, case.id, actual, expected))
    except Unverifiable as reason:
        return {"verifier": VerificationResult.create(str(reason), None)}
    except InputError as error:
        raise _CaseError(str(error)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _make_case_error("the verifier", error) from None


# Bound once: in Python 3.11 every mention of a member of an enumeration is a call.
_PASSED: tuple[Outcome, str] = Outcome.PASSED, ""
_ABOUT = {Outcome.FAILED: list_wrong, Outcome.UNVERIFIED: list_undecided}


def _single_outcome(report: PackedReport) -> tuple[Outcome, str]:
    if report["outcome"] == _PASSED[0]:
        return _PASSED
    match report["outcome"]:
        case Outcome.FAILED:
            return Outcome.FAILED, "wrong: " + ", ".join(list_wrong(report))
        case Outcome.ERROR:
            return Outcome.ERROR, report["error"].partition("\n")[0]
    undecided = ", ".join(list_undecided(report))
    return Outcome.UNVERIFIED, f"undecided: {undecided}" if undecided else "nothing was checked"


def _code(outcome: Outcome, reports: list[PackedReport]) -> str:
    """Return what identifies the finding in a baseline: its attributes, in any sample."""
    about = _ABOUT.get(outcome)
    names = dict.fromkeys(name for report in reports for name in about(report)) if about else {}
    return f"{outcome}: {', '.join(names)}" if names else outcome._value_
