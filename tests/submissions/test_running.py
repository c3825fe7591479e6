"""A run of cases: order, isolation, what breaks and whose fault it was, resuming."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InfrastructureError, InputError
from assay.model import CaseResult, Outcome, VerificationResult
from assay.reports import exit_code
from assay.runs import Manifest, Run, create_folder, execute
from assay.submissions.cases import BaseCase, CLICase, CLIResult
from assay.submissions.config import CheckpointConfig, CliAdapter, GroupConfig, ProblemConfig
from assay.submissions.protocols import (
    CasesBrokenError,
    CaseStream,
    ExpectedCase,
    NoCasesError,
    SetUpFailedError,
    StoreBrokenError,
    VerifierBrokenError,
)
from assay.submissions.request import Filter
from assay.submissions.verification import Verification


def drawn(name: str, output: str = "right") -> ExpectedCase:
    case = CLICase(id=name, group="group")
    return ExpectedCase(case, CLIResult(id=name, group="group", output=output))


class Stream:
    def __init__(
        self,
        cases: list[ExpectedCase],
        is_stateful: bool,
        breaks_after: int | None,
        *,
        store_raises: bool = False,
    ) -> None:
        self.store_raises = store_raises
        self.cases, self.is_stateful, self.breaks_after = cases, is_stateful, breaks_after
        self.number = 0
        self.told: list[str] = []

    async def draw(self) -> ExpectedCase | None:
        if self.number == self.breaks_after:
            raise CasesBrokenError("the loader raised")
        if not self.cases:
            raise NoCasesError("the loader gave no cases")
        if self.number == len(self.cases):
            return None
        if self.is_stateful:
            assert len(self.told) == self.number, "drawn before the last one was told"
        self.number += 1
        return self.cases[self.number - 1]

    async def update(self, drawn: ExpectedCase, actual: CaseResult) -> None:
        if self.store_raises:
            raise StoreBrokenError("the update of its store raised")
        self.told.append(drawn.case.id)


class Memory:
    """A source and a site in memory; programs print what they are told to."""

    def __init__(self, *cases: ExpectedCase, is_stateful: bool = False) -> None:
        self.cases, self.is_stateful = list(cases), is_stateful
        self.breaks_after: int | None = None
        self.ran: list[str] = []
        self.running = self.most = 0
        self.prints: Callable[[BaseCase], str] = lambda case: "right"
        self.verifier_raises = self.store_raises = False
        self.readable: set[str] = set()
        self.digest = "site"
        self.missing: str | None = None
        self.assets: dict[str, str] = {}

    @asynccontextmanager
    async def open(
        self, checkpoint: CheckpointConfig, group: GroupConfig
    ) -> AsyncIterator[CaseStream]:
        yield Stream(
            self.cases if group.name == "group" else [],
            self.is_stateful,
            self.breaks_after,
            store_raises=self.store_raises,
        )

    async def verify(
        self,
        checkpoint: CheckpointConfig,
        group: GroupConfig,
        drawn: ExpectedCase,
        actual: CaseResult,
    ) -> dict[str, VerificationResult]:
        if self.verifier_raises and drawn.case.id == "b" and actual.output not in self.readable:
            raise VerifierBrokenError("the verifier raised")
        return {"output": VerificationResult.create("", actual.output == drawn.expected.output)}

    @asynccontextmanager
    async def prepare(self, checkpoint: CheckpointConfig) -> AsyncIterator[Memory]:
        yield self

    @asynccontextmanager
    async def runner(self, group: GroupConfig) -> AsyncIterator[Memory]:
        yield self

    async def run(self, case: BaseCase) -> CaseResult:
        self.ran.append(case.id)
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.01)
        self.running -= 1
        return CLIResult(id=case.id, group=case.group, output=self.prints(case))


def problem(**group: Any) -> ProblemConfig:
    checkpoint = CheckpointConfig(
        name="checkpoint_1",
        path=Path("/nowhere"),
        groups={"group": GroupConfig(name="group", type="Core", **group)},
    )
    return ProblemConfig(
        name="problem",
        entry_file="main",
        adapter=CliAdapter(),
        checkpoints={"checkpoint_1": checkpoint},
        path=Path("/nowhere"),
    )


def checking(
    memory: Memory, wanted: Filter | None = None, *, has_empty: bool = False, **group: Any
) -> Verification:
    made = problem(**group)
    if has_empty:
        empty = GroupConfig(name="empty", type="Core", **group)
        made.checkpoints["checkpoint_1"].groups["empty"] = empty
    return Verification(
        made,
        list(made.checkpoints.values()),
        memory,
        memory.prepare,
        wanted or Filter(),
        "digest",
    )


def check(folder: Path, cases: Verification, jobs: int) -> None:
    """Run the cases as a plan does."""
    execute(folder, cases.steps(), cases.run, jobs=jobs, around=cases, follow=cases.follow)
    cases.check_met()


def folder_in(tmp_path: Path) -> Path:
    return create_folder(tmp_path / "run", Manifest(subject="submissions"))


def outcomes(folder: Path) -> dict[str, Outcome]:
    with Run(folder) as run:
        return {row.id.removeprefix("checkpoint_1/"): row.outcome for row in run.rows()}


def test_isolated_cases_run_side_by_side(tmp_path: Path) -> None:
    memory = Memory(drawn("a"), drawn("b", "other"), drawn("c"))
    check(folder_in(tmp_path), checking(memory), 3)
    assert outcomes(tmp_path / "run") == {
        "group/a": Outcome.PASSED,
        "group/b": Outcome.FAILED,
        "group/c": Outcome.PASSED,
    }
    assert memory.most > 1


@pytest.mark.parametrize("stateful", [True, False])
def test_cases_that_share_something_run_one_after_another(tmp_path: Path, stateful: bool) -> None:
    memory = Memory(drawn("a"), drawn("b"), drawn("c"), is_stateful=stateful)
    check(folder_in(tmp_path), checking(memory, isolated=stateful), 3)
    assert memory.ran == ["a", "b", "c"]
    assert memory.most == 1


def test_names_of_assets_are_paths_in_what_is_run_and_expected(tmp_path: Path) -> None:
    case = CLICase(id="a", group="group", arguments=["{{static:data}}"])
    named = ExpectedCase(case, CLIResult(id="a", group="group", output="{{static:data}}"))
    memory = Memory(named)
    memory.assets = {"data": "/static/data"}
    memory.prints = lambda case: case.arguments[0]
    check(folder_in(tmp_path), checking(memory), 1)
    with Run(tmp_path / "run") as run:
        (record,) = run.records()
    assert record.outcome is Outcome.PASSED
    report = record.reports[0]
    assert report.results["output"].actual == report.results["output"].expected == "/static/data"


def test_a_filter_runs_earlier_cases_of_a_chain_without_recording_them(tmp_path: Path) -> None:
    memory = Memory(drawn("a"), drawn("b"), is_stateful=True)
    check(folder_in(tmp_path), checking(memory, Filter(case="b")), 1)
    assert memory.ran == ["a", "b"]
    assert list(outcomes(tmp_path / "run")) == ["group/b"]


def test_a_filter_leaves_out_independent_cases(tmp_path: Path) -> None:
    memory = Memory(drawn("a"), drawn("b"))
    check(folder_in(tmp_path), checking(memory, Filter(case="b")), 1)
    assert memory.ran == ["b"]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (Filter(case="bb"), "no case matches 'bb'.*did you mean 'b'"),
        (Filter(group="grup"), "no group matches 'grup'.*did you mean 'group'"),
    ],
)
def test_a_filter_that_meets_nothing_is_a_mistake(
    tmp_path: Path, wanted: Filter, message: str
) -> None:
    memory = Memory(drawn("a"), drawn("b"), is_stateful=True)
    with pytest.raises(InputError) as caught:
        check(folder_in(tmp_path), checking(memory, wanted), 1)
    assert re.search(message, str(caught.value), re.DOTALL)


def test_a_verifier_that_raises_spoils_its_case_only(tmp_path: Path) -> None:
    memory = Memory(drawn("a"), drawn("b"), drawn("c"))
    memory.verifier_raises = True
    check(folder_in(tmp_path), checking(memory), 1)
    assert outcomes(tmp_path / "run") == {
        "group/a": Outcome.PASSED,
        "group/b": Outcome.ERROR,
        "group/c": Outcome.PASSED,
    }


@pytest.mark.parametrize("stateful", [True, False])
def test_a_loader_that_breaks_off_is_an_error_and_never_a_pass(
    tmp_path: Path, stateful: bool
) -> None:
    memory = Memory(drawn("a"), drawn("b"), is_stateful=stateful)
    memory.breaks_after = 1
    check(folder_in(tmp_path), checking(memory), 1)
    assert outcomes(tmp_path / "run") == {
        "group/a": Outcome.PASSED,
        "group/(cases)": Outcome.ERROR,
    }


@pytest.mark.parametrize("stateful", [True, False])
def test_a_group_without_cases_is_an_error_and_never_a_pass(tmp_path: Path, stateful: bool) -> None:
    memory = Memory(drawn("a"), is_stateful=stateful)
    folder = folder_in(tmp_path)
    for _ in range(2):
        check(folder, checking(memory, has_empty=True), 1)
        with Run(folder) as run:
            kept = {one.id: (one.outcome, one.reason) for one in run.records()}
        assert kept == {
            "checkpoint_1/group/a": (Outcome.PASSED, ""),
            "checkpoint_1/empty/(cases)": (Outcome.ERROR, "the loader gave no cases"),
        }
    assert memory.ran == ["a"]


@pytest.mark.parametrize("stateful", [True, False])
def test_a_problem_without_any_case_is_a_mistake_that_names_its_groups(
    tmp_path: Path, stateful: bool
) -> None:
    with pytest.raises(InputError, match="there are no cases at all") as caught:
        check(folder_in(tmp_path), checking(Memory(is_stateful=stateful)), 1)
    assert caught.value.advice == "the loader gave no cases"


def test_trouble_of_our_own_is_an_error_and_breaks_a_chain(tmp_path: Path) -> None:
    memory = Memory(drawn("a"), drawn("b"), is_stateful=True)

    def trouble(case: BaseCase) -> str:
        raise InfrastructureError("the disk is full")

    memory.prints = trouble
    check(folder_in(tmp_path), checking(memory), 1)
    assert outcomes(tmp_path / "run") == {
        "group/a": Outcome.ERROR,
        "group/(cases)": Outcome.ERROR,
    }


def test_a_set_up_that_fails_is_an_error_of_its_checkpoint(tmp_path: Path) -> None:
    memory = Memory(drawn("a"))
    made = problem()

    @asynccontextmanager
    async def fails(checkpoint: CheckpointConfig) -> AsyncIterator[Memory]:
        raise SetUpFailedError("make failed: no rule")
        yield memory

    several = list(made.checkpoints.values())
    check(
        folder_in(tmp_path),
        Verification(made, several, memory, fails, Filter(), "digest"),
        1,
    )
    with Run(tmp_path / "run") as run:
        (record,) = run.records()
    assert (record.outcome, record.reason) == (Outcome.ERROR, "make failed: no rule")
    assert memory.ran == []


def test_resuming_repeats_nothing_and_a_changed_submission_everything(tmp_path: Path) -> None:
    memory = Memory(drawn("a"), drawn("b"))
    folder = folder_in(tmp_path)
    check(folder, checking(memory), 1)
    check(folder, checking(memory), 1)
    assert memory.ran == ["a", "b"]
    memory.digest = "changed"
    check(folder, checking(memory), 1)
    assert memory.ran == ["a", "b", "a", "b"]


def codes(folder: Path) -> dict[str, str]:
    with Run(folder) as run:
        return {row.id.removeprefix("checkpoint_1/"): row.code for row in run.rows()}


@pytest.mark.parametrize(("printed", "code"), [("right", "mistake"), ("wrong", "unreadable")])
def test_a_store_that_cannot_take_in_a_failed_case_is_not_held_against_its_author(
    tmp_path: Path, printed: str, code: str
) -> None:
    memory = Memory(drawn("a"), drawn("b"), is_stateful=True)
    memory.prints = lambda case: printed
    memory.store_raises = True
    check(folder_in(tmp_path), checking(memory), 1)
    assert codes(tmp_path / "run")["group/(cases)"] == code
    with Run(tmp_path / "run") as run:
        assert exit_code(run) == {"mistake": 2, "unreadable": 1}[code]


def test_trouble_of_the_machine_is_never_a_mistake_of_the_author(tmp_path: Path) -> None:
    memory = Memory(drawn("a"), drawn("b"), is_stateful=True)

    def trouble(case: BaseCase) -> str:
        raise InfrastructureError("the disk is full")

    memory.prints = trouble
    check(folder_in(tmp_path), checking(memory), 1)
    assert codes(tmp_path / "run") == {"group/a": "error", "group/(cases)": "error"}


def test_a_case_that_cannot_be_run_as_it_is_written_is_its_authors_mistake(tmp_path: Path) -> None:
    memory = Memory(drawn("a"), drawn("b"), is_stateful=True)

    def refused(case: BaseCase) -> str:
        raise InputError("the argument 'x' is not name=value", where="group/a")

    memory.prints = refused
    check(folder_in(tmp_path), checking(memory), 1)
    assert codes(tmp_path / "run") == {"group/a": "mistake", "group/(cases)": "mistake"}


@pytest.mark.parametrize("stateful", [True, False])
@pytest.mark.parametrize(("is_readable", "code"), [(True, "unreadable"), (False, "mistake")])
def test_the_reference_decides_whether_an_output_can_be_read(
    tmp_path: Path, stateful: bool, is_readable: bool, code: str
) -> None:
    silent = CLIResult(id="b", group="group", status_code=0)
    memory = Memory(
        drawn("a"), ExpectedCase(CLICase(id="b", group="group"), silent), is_stateful=stateful
    )
    memory.verifier_raises = True
    memory.readable = {"right"} if is_readable else set()
    memory.prints = lambda case: "garbage"
    reference = Memory(*memory.cases, is_stateful=stateful)
    made = problem()
    (tmp_path / "solution").mkdir()
    checkpoint = made.checkpoints["checkpoint_1"].model_copy(update={"path": tmp_path})
    tried = Verification(
        made, [checkpoint], memory, memory.prepare, Filter(), "digest", reference.prepare
    )  # fmt: skip
    check(folder_in(tmp_path), tried, 1)
    assert codes(tmp_path / "run")["group/b"] == code
    assert reference.ran == (["a", "b"] if stateful else ["b"])


def test_without_its_own_file_no_case_of_a_submission_passes(tmp_path: Path) -> None:
    memory = Memory(drawn("a"))
    memory.missing = "the submission has no file main.py"
    check(folder_in(tmp_path), checking(memory), 1)
    with Run(tmp_path / "run") as run:
        (record,) = run.records()
    assert record.outcome is Outcome.FAILED
    assert record.reason == "the submission has no file main.py; wrong: entry_file"
