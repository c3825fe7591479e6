"""Evaluating from Python: what tasks and verifiers may do, and what becomes of their case."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.errors import InputError, Unverifiable
from assay.model import Case, CaseRecord, CaseResult, Outcome, VerificationResult
from assay.runs import Run

Results = dict[str, VerificationResult]


def pairs(count: int = 3) -> list[tuple[Case, str]]:
    return [(Case(id=f"case {n}", text=f"text {n}"), f"text {n}") for n in range(count)]


def echo(case: Any) -> CaseResult:
    result: CaseResult = case.result(output=case.text)
    return result


def exact(group: str, name: str, actual: CaseResult, expected: CaseResult) -> Results:
    return {"output": VerificationResult.create("compared", actual.output == expected.output)}


def records(run: Run) -> list[CaseRecord]:
    with run:
        return list(run.records())


def test_an_evaluation_from_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = assay.evaluate(pairs(), echo, exact)
    assert run.path.parent == Path(".assay/runs")
    found = records(run)
    assert [record.id for record in found] == ["case 0", "case 1", "case 2"]
    assert {record.outcome for record in found} == {Outcome.PASSED}
    assert found[0].reports[0].results["output"].actual == "text 0"
    assert found[0].reports[0].case["text"] == "text 0"


def test_cases_may_be_mappings_and_expected_results_whole(tmp_path: Path) -> None:
    case = Case(id="b", group="core")
    expected = case.result(output={"n": 1}, tolerance=0.5)
    seen: list[Any] = []

    def verifier(group: str, name: str, actual: CaseResult, wanted: CaseResult) -> Results:
        seen.append((group, name, wanted.output, getattr(wanted, "tolerance", None)))
        return exact(group, name, actual, wanted)

    def task(case: Case) -> CaseResult:
        return case.result(output={"n": 1})

    assay.evaluate([({"id": "a"}, {"n": 1}), (case, expected)], task, verifier, out=tmp_path / "r")
    assert seen == [("cases", "a", {"n": 1}, None), ("core", "b", {"n": 1}, 0.5)]


def raises(case: Case) -> CaseResult:
    raise ValueError("no such thing")


def exits(case: Case) -> CaseResult:
    sys.exit(0)


def wrong_type(case: Case) -> Any:
    return "a text"


def hangs(case: Case) -> CaseResult:
    time.sleep(60)
    return case.result()


def kills_itself(case: Case) -> CaseResult:
    os._exit(0)


async def raises_async(case: Case) -> CaseResult:
    raise ValueError("no such thing")


async def hangs_async(case: Case) -> CaseResult:
    await asyncio.sleep(60)
    return case.result()


async def blocks_async(case: Case) -> CaseResult:
    time.sleep(0.3)
    return case.result()


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def bad_message(case: Case) -> CaseResult:
    raise MuteError


async def cancels_itself(case: Case) -> CaseResult:
    raise asyncio.CancelledError


async def times_out_by_itself(case: Case) -> CaseResult:
    raise TimeoutError("the service did not answer")


class Stop(BaseException):
    pass


def stops(case: Case) -> CaseResult:
    raise Stop("enough")


async def stops_async(case: Case) -> CaseResult:
    raise Stop("enough")


async def swallows(case: Case) -> CaseResult:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.sleep(60)
    return echo(case)


async def cancels_its_own_task(case: Case) -> CaseResult:
    own = asyncio.current_task()
    assert own is not None
    own.cancel()
    await asyncio.sleep(0)
    return echo(case)


def cancelled_sync(case: Case) -> CaseResult:
    raise asyncio.CancelledError


def invalid_later(case: Case) -> CaseResult:
    result = echo(case)
    result.output = {1, 2}
    return result


def far_too_long(case: Case) -> CaseResult:
    return case.result(status_code=10**5000)


def forgets_async(case: Case) -> Any:
    return raises_async(case)


@pytest.mark.parametrize(
    ("bad", "limit", "told"),
    [
        (raises, None, "the task raised ValueError: no such thing"),
        (raises, 30.0, "the task raised ValueError: no such thing"),
        (raises_async, None, "the task raised ValueError: no such thing"),
        (exits, None, "the task raised SystemExit: 0"),
        (exits, 30.0, "the task raised SystemExit: 0"),
        (stops, None, "the task raised Stop: enough"),
        (stops, 30.0, "the task raised Stop: enough"),
        (stops_async, None, "the task raised Stop: enough"),
        (swallows, 0.1, "did not end within its limit of 0.1 s"),
        (cancels_its_own_task, None, "the task raised CancelledError"),
        (invalid_later, None, "left a result that cannot be kept"),
        (far_too_long, None, "status_code"),
        (cancelled_sync, None, "the task raised CancelledError"),
        (kills_itself, None, "the task raised SystemExit: os._exit(0)"),
        (blocks_async, 0.1, "did not end within its limit of 0.1 s"),
        (bad_message, None, "the task raised MuteError: (its message cannot be shown)"),
        (wrong_type, None, "the task returned str, not a CaseResult"),
        (wrong_type, 30.0, "the task returned str, not a CaseResult"),
        (forgets_async, None, "define the task itself with async def"),
        (hangs, 2.5, "did not end within its limit of 2.5 s"),
        (hangs_async, 2.5, "did not end within its limit of 2.5 s"),
        (cancels_itself, 30.0, "the task raised CancelledError"),
        (times_out_by_itself, 30.0, "the task raised TimeoutError: the service"),
        (kills_itself, 30.0, "the task ended its process with status 0"),
    ],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bad_task_costs_its_case_and_nothing_else(
    tmp_path: Path, bad: Callable[[Case], Any], limit: float | None, told: str, jobs: int
) -> None:
    is_async = asyncio.iscoroutinefunction(bad)

    def task(case: Case) -> CaseResult:
        return bad(case) if case.id == "case 1" else echo(case)

    async def async_task(case: Case) -> CaseResult:
        return await bad(case) if case.id == "case 1" else echo(case)

    run = assay.evaluate(
        pairs(5), async_task if is_async else task, exact,
        out=tmp_path / "run", time_limit=limit, jobs=jobs,
    )  # fmt: skip
    found = records(run)
    assert [record.id for record in found] == [f"case {n}" for n in range(5)]
    assert [record.outcome.value for record in found] == [
        "passed", "error", "passed", "passed", "passed",
    ]  # fmt: skip
    assert told in (found[1].reports[0].error or "")
    assert found[1].reports[0].results == {}


def test_a_task_that_changes_its_case_changes_nothing_else(tmp_path: Path) -> None:
    def renames(case: Any) -> CaseResult:
        case.id = "same"
        return echo(case)

    found = records(assay.evaluate(pairs(3), renames, exact, out=tmp_path / "run"))
    assert [(record.id, record.outcome.value) for record in found] == [
        ("case 0", "error"), ("case 1", "error"), ("case 2", "error"),
    ]  # fmt: skip


def test_a_verifier_that_changes_what_it_gets_changes_no_other_sample(tmp_path: Path) -> None:
    def task(case: Any) -> CaseResult:
        case.words.append("more")
        return case.result(output=list(case.words))  # type: ignore[no-any-return]

    def learns(group: str, name: str, actual: CaseResult, expected: CaseResult) -> Results:
        results = exact(group, name, actual, expected)
        expected.output = actual.output
        assert isinstance(actual.files, dict)
        actual.files["new"] = "x"
        return results

    case = Case(id="a", words=["one"])
    run = assay.evaluate([(case, ["one"])], task, learns, out=tmp_path / "run", ratio="1/3")
    (record,) = records(run)
    assert record.outcome is Outcome.FAILED
    assert [r.results["output"].expected for r in record.reports] == [["one"]] * 3
    assert [r.results["output"].actual for r in record.reports] == [["one", "more"]] * 3


@pytest.mark.parametrize("ending", [SystemExit, Stop, ValueError])
def test_a_source_that_ends_the_process_is_an_error_of_the_input(
    tmp_path: Path, ending: type[BaseException]
) -> None:
    def cases() -> Iterator[Any]:
        yield from pairs(2)
        raise ending(0)

    with pytest.raises(InputError, match="broke off after 2"):
        assay.evaluate(cases, echo, exact, out=tmp_path / "run")


def test_an_exit_from_a_task_within_a_task_never_ends_assay(tmp_path: Path) -> None:
    async def leaves() -> None:
        sys.exit(0)

    async def task(case: Any) -> CaseResult:
        await asyncio.create_task(leaves())
        return echo(case)

    with pytest.raises(InputError, match="ended from within: SystemExit: 0"):
        assay.evaluate(pairs(2), task, exact, out=tmp_path / "run")


def test_names_that_have_no_text_form_are_kept(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.txt")

    def task(case: Any) -> CaseResult:
        return case.result(files={name: "x"})  # type: ignore[no-any-return]

    def verifier(*_: Any) -> Results:
        return {f"files-{name}": VerificationResult.create("wrong", False)}

    (record,) = records(assay.evaluate(pairs(1), task, verifier, out=tmp_path / "run"))
    assert record.outcome is Outcome.FAILED
    assert record.reports[0].results[f"files-{name}"].actual == "x"


def test_a_task_may_change_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()

    def task(case: Any) -> CaseResult:
        os.chdir(tmp_path / "elsewhere")
        return echo(case)

    here = Path.cwd()
    found = records(assay.evaluate(pairs(2), task, exact, out=here / "run"))
    assert [record.outcome for record in found] == [Outcome.PASSED] * 2


def test_a_traceback_names_the_users_line(tmp_path: Path) -> None:
    (record,) = records(assay.evaluate(pairs(1), raises, exact, out=tmp_path / "run"))
    error = record.reports[0].error or ""
    assert "test_evaluation.py:" in error
    assert "in raises" in error
    assert "evaluation.py" not in error.replace("test_evaluation.py", "")
    assert record.reason == "the task raised ValueError: no such thing"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda: None, "the verifier returned NoneType"),
        (lambda: {"output": True}, "the verifier returned bool for 'output'"),
        (lambda: 1 / 0, "the verifier raised ZeroDivisionError"),
        (lambda: sys.exit(0), "the verifier raised SystemExit"),
    ],
)
def test_a_bad_verifier_is_an_error_of_the_case(
    tmp_path: Path, answer: Callable[[], Any], told: str
) -> None:
    def verifier(*_: Any) -> Any:
        return answer()

    (record,) = records(assay.evaluate(pairs(1), echo, verifier, out=tmp_path / "run"))
    assert record.outcome is Outcome.ERROR
    assert told in record.reason


def test_a_verifier_that_checks_nothing_verifies_nothing(tmp_path: Path) -> None:
    (record,) = records(assay.evaluate(pairs(1), echo, lambda *_: {}, out=tmp_path / "run"))
    assert (record.outcome, record.reason) == (Outcome.UNVERIFIED, "nothing was checked")


def test_a_verifier_that_cannot_decide_leaves_the_case_open(tmp_path: Path) -> None:
    def verifier(*_: Any) -> Results:
        raise Unverifiable("no judge is configured", advice="set one with --model")

    (record,) = records(assay.evaluate(pairs(1), echo, verifier, out=tmp_path / "run"))
    assert record.outcome is Outcome.UNVERIFIED
    assert "no judge is configured" in record.reports[0].results["verifier"].diff


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("text", "not a pair"),
        (("a", "b", "c"), "not a pair"),
        (({"name": "x"}, 1), "id: Field required"),
        (({"id": ""}, 1), "id: "),
        (({"id": "x"}, {1, 2}), "set is neither JSON nor bytes"),
        (({"id": "x", "more": object()}, 1), "object is neither JSON nor bytes"),
    ],
)
def test_what_is_no_case_is_an_error_of_the_input(tmp_path: Path, case: Any, told: str) -> None:
    with pytest.raises(InputError, match=f"case 1: .*{told}"):
        assay.evaluate([case], echo, exact, out=tmp_path / "run")


def test_samples_decide_a_case(tmp_path: Path) -> None:
    calls: list[str] = []

    def mostly(case: Any) -> CaseResult:
        calls.append(case.id)
        right = calls.count(case.id) not in (3, 7)
        return case.result(output=case.text if right else "wrong")  # type: ignore[no-any-return]

    eight = records(assay.evaluate(pairs(2), mostly, exact, out=tmp_path / "8", ratio="8/10"))
    assert len(calls) == 20
    assert [record.outcome for record in eight] == [Outcome.PASSED, Outcome.PASSED]
    assert [len(record.reports) for record in eight] == [10, 10]
    assert eight[0].reason == "8 of 10 samples passed, 8/10 needed"
    calls.clear()
    nine = records(assay.evaluate(pairs(1), mostly, exact, out=tmp_path / "9", ratio="9/10"))
    assert nine[0].outcome is Outcome.FAILED


def test_finished_samples_are_not_taken_again(tmp_path: Path) -> None:
    taken: list[str] = []

    def interrupted(case: Any) -> CaseResult:
        if len(taken) == 7:
            raise KeyboardInterrupt
        taken.append(case.id)
        return echo(case)

    with pytest.raises(KeyboardInterrupt):
        assay.evaluate(pairs(2), interrupted, exact, out=tmp_path / "run", ratio="5/5")
    assert taken == ["case 0"] * 5 + ["case 1"] * 2
    taken.clear()

    def counted(case: Any) -> CaseResult:
        taken.append(case.id)
        return echo(case)

    run = assay.evaluate(pairs(2), counted, exact, out=tmp_path / "run", ratio="5/5", resume=True)
    assert taken == ["case 1"] * 3
    assert [len(record.reports) for record in records(run)] == [5, 5]


def test_errored_samples_are_taken_again(tmp_path: Path) -> None:
    broken = True
    taken = 0

    def sometimes(case: Any) -> CaseResult:
        nonlocal taken
        taken += 1
        if broken and taken == 2:
            raise OSError("unreachable")
        return echo(case)

    first = assay.evaluate(pairs(1), sometimes, exact, out=tmp_path / "run", ratio="3/3")
    assert records(first)[0].outcome is Outcome.ERROR
    broken, taken = False, 0
    again = assay.evaluate(
        pairs(1), sometimes, exact, out=tmp_path / "run", ratio="3/3", resume=True
    )
    assert records(again)[0].outcome is Outcome.PASSED
    assert taken == 1


def test_resume_wants_to_be_asked_for(tmp_path: Path) -> None:
    assay.evaluate(pairs(), echo, exact, out=tmp_path / "run", resume=True).close()
    with pytest.raises(InputError, match="already holds a run"):
        assay.evaluate(pairs(), echo, exact, out=tmp_path / "run")
    run = assay.evaluate(pairs(5), raises, exact, out=tmp_path / "run", resume=True)
    assert [record.outcome.value for record in records(run)] == ["passed"] * 3 + ["error"] * 2


def test_async_tasks_run_side_by_side(tmp_path: Path) -> None:
    running = most = 0

    async def task(case: Any) -> CaseResult:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return echo(case)

    assay.evaluate(pairs(20), task, exact, out=tmp_path / "run", jobs=4).close()
    assert most == 4


@pytest.mark.parametrize("limit", [None, 30.0])
def test_a_synchronous_task_may_use_asyncio(tmp_path: Path, limit: float | None) -> None:
    def task(case: Any) -> CaseResult:
        asyncio.run(asyncio.sleep(0))
        return echo(case)

    run = assay.evaluate(pairs(2), task, exact, out=tmp_path / "run", time_limit=limit)
    assert {record.outcome for record in records(run)} == {Outcome.PASSED}


class AsyncObject:
    async def __call__(self, case: Any) -> CaseResult:
        return echo(case)


async def with_prefix(prefix: str, case: Any) -> CaseResult:
    return case.result(output=prefix + case.text)  # type: ignore[no-any-return]


@pytest.mark.parametrize("task", [AsyncObject(), functools.partial(with_prefix, "")])
def test_objects_and_partials_are_tasks_too(tmp_path: Path, task: Any) -> None:
    run = assay.evaluate(pairs(2), task, exact, out=tmp_path / "run")
    assert {record.outcome for record in records(run)} == {Outcome.PASSED}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((pairs(), 5, exact), "the task must be a function, not int"),
        ((pairs(), echo, "exact"), "the verifier must be a function, not str"),
        ((pairs(), echo, None), "needs either a verifier or a check"),
        ((pairs(), lambda: None, exact), r"cannot be called with \(case\)"),
        ((pairs(), echo, lambda actual, expected: {}), "def verifier.group_name, case_name"),
        ((None, echo, exact), "must be an iterable of pairs, not NoneType"),
    ],
)
def test_what_cannot_work_is_told_before_it_starts(
    tmp_path: Path, arguments: Any, told: str
) -> None:
    cases, task, verifier = arguments
    with pytest.raises(InputError, match=told):
        assay.evaluate(cases, task, verifier, out=tmp_path / "run")


def test_cases_are_never_all_in_memory(tmp_path: Path) -> None:
    alive = most = 0

    class Counted(Case):
        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def many() -> Iterator[tuple[Case, str]]:
        nonlocal alive, most
        for number in range(500):
            alive += 1
            most = max(most, alive)
            yield Counted(id=str(number), text="x"), "x"

    assay.evaluate(many, echo, exact, out=tmp_path / "run").close()
    assert most < 10


@pytest.mark.parametrize("limit", [0, -1.0, float("nan")])
def test_a_limit_is_a_time(limit: float) -> None:
    with pytest.raises(InputError, match="time_limit"):
        assay.evaluate(pairs(), echo, exact, time_limit=limit)


class TestAPlainFunction:
    """`assay.evaluate(cases, function, check=…)` needs no case, no result and no verifier."""

    def test_what_it_returns_is_compared_with_what_is_expected(self, tmp_path: Path) -> None:
        cases = [("Hello World", "hello-world"), ("named", "Ready?", "ready")]
        run = assay.evaluate(cases, _slug, check="exact", out=tmp_path / "run")
        assert [(one.id, one.outcome.value) for one in run.records()] == [
            ("Hello World", "passed"),
            ("named", "failed"),
        ]
        assert (run.passed, run.exit_code) == (False, 1)

    @pytest.mark.parametrize("limit", [None, 20.0])
    def test_inputs_and_outputs_are_any_values(self, tmp_path: Path, limit: float | None) -> None:
        cases: list[tuple[Any, Any]] = [(1, 2), ([1], [1, 1]), ({"a": 1}, {"a": 1})]
        run = assay.evaluate(cases, _double, check="json", out=tmp_path / "run", time_limit=limit)
        assert run.passed, run.report()
        assert [one.id for one in run.records()] == ["1", "[1]", '{"a": 1}']

    def test_an_async_function_is_awaited(self, tmp_path: Path) -> None:
        async def double(value: int) -> int:
            await asyncio.sleep(0)
            return value * 2

        assert assay.evaluate([(1, 2)], double, check="json", out=tmp_path / "run").passed

    def test_a_check_may_be_a_function(self, tmp_path: Path) -> None:
        near = assay.evaluate(
            [(3, 9.4)],
            lambda value: value**2,
            check=lambda a, b: abs(a - b) < 1,
            out=tmp_path / "a",
        )
        undecided = assay.evaluate(
            [(3, 9)], lambda value: value, check=lambda a, b: None, out=tmp_path / "b"
        )
        assert near.passed
        assert [one.outcome.value for one in undecided.records()] == ["unverified"]

    def test_what_raises_is_an_error_and_no_failure(self, tmp_path: Path) -> None:
        run = assay.evaluate([(0, 1)], lambda value: 1 / value, check="json", out=tmp_path / "run")
        assert (run.exit_code, run.record("0").outcome.value) == (3, "error")
        assert "ZeroDivisionError" in run.record("0").reason

    def test_ids_stay_when_other_cases_come_and_long_inputs_are_told_apart(
        self, tmp_path: Path
    ) -> None:
        long = "x" * 100
        cases = [(long + "a", 101), (long + "b", 101), ("", 0)]
        first = assay.evaluate(cases, len, check="json", out=tmp_path / "a")
        second = assay.evaluate(cases[1:], len, check="json", out=tmp_path / "b")
        names = [one.id for one in first.records()]
        assert len(set(names)) == 3
        assert names[1:] == [one.id for one in second.records()]

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            ({}, "either a verifier or a check"),
            ({"check": "exact", "verifier": lambda *_: {}}, "either a verifier or a check"),
            ({"check": "exactly"}, "did you mean 'exact'"),
            ({"check": 3}, "must be a function"),
            ({"check": lambda one: True}, "cannot be called with"),
        ],
    )
    def test_mistakes_are_found_before_anything_runs(
        self, tmp_path: Path, more: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(InputError) as error:
            assay.evaluate([("a", "a")], str, out=tmp_path / "run", **more)
        assert message in str(error.value)

    def test_wrong_cases_and_a_wrong_answer_of_a_check_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="case 1"):
            assay.evaluate(["a"], str, check="exact", out=tmp_path / "a")  # type: ignore[list-item]
        wrong: Any = lambda actual, expected: "yes"  # noqa: E731 - a check of the wrong type
        run = assay.evaluate([("a", "a")], str, check=wrong, out=tmp_path / "b")
        assert "returned str, not a bool" in run.record("a").reason


def _slug(title: str) -> str:
    return title.lower().replace(" ", "-")


def _double(value: Any) -> Any:
    return value if isinstance(value, dict) else value * 2
