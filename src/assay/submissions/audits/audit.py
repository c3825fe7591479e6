"""An audit of a problem: runs its reference twice, then shows wrong results to its verifier."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import functools
import json
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

from assay import findings
from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_bytes
from assay.errors import InfrastructureError, InputError, nearest
from assay.model import CaseResult
from assay.reports import Paint
from assay.runs import run_in_loop
from assay.submissions.audits.facts import collect_facts
from assay.submissions.audits.findings import (
    DEFAULT_MIN_SCORE,
    FINDING_TYPES,
    AuditFinding,
    GroupAudit,
    find_problems,
)
from assay.submissions.audits.rendering import render_html, render_text, render_values
from assay.submissions.audits.trials import Judge, ReferenceTrial, VerifierJudgement, try_case
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.plan import OpenedRequest, open_request
from assay.submissions.problems import read_problem
from assay.submissions.protocols import (
    CaseRunner,
    CasesBrokenError,
    CaseSource,
    CaseStream,
    ExpectedCase,
    Prepare,
    SetUpFailedError,
    Site,
    StoreBrokenError,
    VerifierBrokenError,
    is_chain,
)
from assay.submissions.request import ALL, Filter, SubmissionsRequest, find_checkpoint
from assay.submissions.result_files import list_patterns
from assay.tracebacks import format_exception


@dataclass(frozen=True)
class Audit:
    """The results of auditing the grader of a problem."""

    problem: str
    groups: list[GroupAudit]
    findings: list[AuditFinding]
    min_score: float

    @property
    def passed(self) -> bool:
        """Return whether nothing was found."""
        return not self.findings

    @property
    def exit_code(self) -> int:
        """Return 1 if anything was found, else 0."""
        return int(bool(self.findings))

    def report(self, format: Literal["text", "json", "html"] = "text") -> str:  # noqa: A002 - as `Run`
        """Return the numbers of every group, and the findings."""
        if format == "html":
            return render_html(self.problem, self.groups, self.findings)
        if format == "json":
            values = render_values(self.problem, self.groups, self.findings, self.min_score)
            return json.dumps(values, indent=2) + "\n"
        lines = render_text(self.problem, self.groups, self.findings, Paint(False))
        return "\n".join(lines) + "\n"


def audit_problem(
    asked: SubmissionsRequest,
    snapshot: Path | None = None,
    *,
    min_score: float = DEFAULT_MIN_SCORE,
    ignore: Iterable[str] = (),
    progress: AuditProgress | None = None,
    on_warning: Callable[[findings.Finding], None] | None = None,
) -> Audit:
    """Run the verifier of a problem on correct, empty and mutated results."""
    ignored = tuple(ignore)
    _check_ignored(ignored)
    problem = read_problem(Path(asked.problem), on_warning, allows_outside=asked.allow_outside)
    groups = run_in_loop(_audit_groups(problem, asked, snapshot, progress))
    found = find_problems(groups, min_score=min_score, ignored=ignored)
    return Audit(problem.name, groups, found, min_score)


def _check_ignored(ignored: Iterable[str]) -> None:
    for text in ignored:
        code = text.partition("=")[0]
        if code not in FINDING_TYPES:
            raise InputError(f"there is no finding {code!r}", advice=nearest(code, FINDING_TYPES))


async def _audit_groups(
    problem: ProblemConfig,
    asked: SubmissionsRequest,
    snapshot: Path | None,
    progress: AuditProgress | None,
) -> list[GroupAudit]:
    """Audit every selected group, each checkpoint with its own reference."""
    every = list(problem.checkpoints.values())
    chosen = every if asked.checkpoint == ALL else [find_checkpoint(problem, asked.checkpoint)]
    opened = {one.name: _open_checkpoint(problem, one, asked, snapshot) for one in chosen}
    # All have the same problem, so that the source of one serves them all.
    source = opened[chosen[0].name].source
    wanted = Filter(asked.group, asked.case)
    auditor = Auditor(problem, source, wanted, asked.jobs)
    if progress is not None:
        auditor.progress = progress
    groups = []
    async with AsyncExitStack() as held:
        if isinstance(source, AbstractAsyncContextManager):
            await held.enter_async_context(source)
        for checkpoint in chosen:
            groups += await auditor.audit(checkpoint, opened[checkpoint.name].prepare)
    wanted.check_met(problem, chosen)
    if not any(group.cases or group.broken for group in groups):
        raise InputError("there are no cases to audit", where=str(problem.path))
    return groups


def _open_checkpoint(
    problem: ProblemConfig,
    checkpoint: CheckpointConfig,
    asked: SubmissionsRequest,
    snapshot: Path | None,
) -> OpenedRequest:
    """Open a checkpoint with its reference solution."""
    reference = _reference(problem, checkpoint) if snapshot is None else snapshot.absolute()
    return open_request(replace(asked, checkpoint=checkpoint.name, snapshot=str(reference)))


def _reference(problem: ProblemConfig, checkpoint: CheckpointConfig) -> Path:
    folder = checkpoint.path / "solution"
    problem.check_inside(folder)
    if not folder.is_dir():
        raise InputError(
            "the checkpoint has no reference solution",
            where=str(folder),
            advice="write one there, or name a submission that is right with -s",
        )
    return folder


_MOST_WORDS = 40
_LONGEST_WORD = 40


class AuditProgress(Protocol):
    """Receives progress events of an audit."""

    def count_run(self, group: str) -> None:
        """Record that the reference has run a case once more."""

    def count_case(self, group: str, mutants: int) -> None:
        """Record that all trials of a case are done."""


class NoAuditProgress:
    """A progress that shows nothing."""

    def count_run(self, group: str) -> None: ...

    def count_case(self, group: str, mutants: int) -> None: ...


@dataclass
class Auditor:
    """The parts of a problem that an audit needs."""

    problem: ProblemConfig
    source: CaseSource
    wanted: Filter
    jobs: int = 1
    progress: AuditProgress = field(default_factory=NoAuditProgress)

    async def audit(self, checkpoint: CheckpointConfig, prepare: Prepare) -> list[GroupAudit]:
        """Audit every selected group of a checkpoint, with the reference prepared."""
        groups = [one for one in checkpoint.groups.values() if self.wanted.takes_group(one)]
        if not groups:
            return []
        try:
            async with prepare(checkpoint) as site:
                return [await self._group(checkpoint, group, site) for group in groups]
        except SetUpFailedError as error:
            return [GroupAudit(checkpoint.name, "(set-up)", "", broken=str(error))]

    async def _group(
        self, checkpoint: CheckpointConfig, group: GroupConfig, site: Site
    ) -> GroupAudit:
        """Run the reference twice, then try the cases that occurred in both runs."""
        place = _Place(checkpoint, group, site)
        first, broken = await self._run(place)
        second, broken_again = await self._run(place)
        audit = GroupAudit(
            checkpoint.name, group.name, str(group.type), broken=broken or broken_again
        )
        for one, again in zip(first, second, strict=False):
            if not self.wanted.takes_case(one.drawn.case):
                continue
            tracked = list_patterns(self.problem, group, one.drawn.case)
            words = read_vocabulary(self.problem.path)
            trials = await try_case(one, again, self._judge(place), tracked, words)
            audit.cases.append(collect_facts(trials))
            self.progress.count_case(audit.name, len(trials.mutants))
            # A judgement may never await; this lets an interrupt through.
            await asyncio.sleep(0)
        return audit

    async def _run(self, place: _Place) -> tuple[list[ReferenceTrial], str]:
        """Run the reference on every case from a fresh start; also return why they ended early."""
        tried: list[ReferenceTrial] = []
        try:
            async with (
                self.source.open(place.checkpoint, place.group) as stream,
                place.site.runner(place.group) as runner,
            ):
                if is_chain(self.problem, place.group, stream):
                    await self._follow(place, stream, runner, tried)
                else:
                    await self._side_by_side(place, stream, runner, tried)
        except CasesBrokenError as error:
            return tried, str(error)
        return tried, ""

    async def _follow(
        self, place: _Place, stream: CaseStream, runner: CaseRunner, tried: list[ReferenceTrial]
    ) -> None:
        while (drawn := await stream.draw()) is not None:
            one = await self._try_reference(place, drawn, runner)
            tried.append(one)
            # A store that cannot take a case in is told about by what comes of the later ones.
            with contextlib.suppress(StoreBrokenError):
                await stream.update(drawn, one.actual)

    async def _side_by_side(
        self, place: _Place, stream: CaseStream, runner: CaseRunner, tried: list[ReferenceTrial]
    ) -> None:
        lanes = asyncio.Semaphore(self.jobs)

        async def run(drawn: ExpectedCase) -> ReferenceTrial:
            async with lanes:
                return await self._try_reference(place, drawn, runner)

        tasks: list[asyncio.Task[ReferenceTrial]] = []
        try:
            while (drawn := await stream.draw()) is not None:
                # The others of an isolated group tell nothing about those that were asked for.
                if self.wanted.takes_case(drawn.case):
                    tasks.append(asyncio.create_task(run(drawn)))
        finally:
            # Also if there are no further cases to be had, those before are told about.
            tried += await _all_of(tasks)

    async def _try_reference(
        self, place: _Place, drawn: ExpectedCase, runner: CaseRunner
    ) -> ReferenceTrial:
        drawn = drawn.place_assets(place.site.assets)
        actual = await runner.run(drawn.case)
        judged = await self._judge(place)(drawn, actual)
        self.progress.count_run(place.name)
        return ReferenceTrial(drawn, actual, judged)

    def _judge(self, place: _Place) -> Judge:
        async def judge(drawn: ExpectedCase, actual: CaseResult) -> VerifierJudgement:
            try:
                found = await self.source.verify(place.checkpoint, place.group, drawn, actual)
            except (VerifierBrokenError, InputError) as error:
                return VerifierJudgement(error=str(error))
            except InfrastructureError:
                raise
            except Exception as error:
                return VerifierJudgement(error=format_exception(error))
            return VerifierJudgement(found)

        return judge


@dataclass(frozen=True)
class _Place:
    """A group of a checkpoint, and the reference prepared for it."""

    checkpoint: CheckpointConfig
    group: GroupConfig
    site: Site

    @property
    def name(self) -> str:
        return f"{self.checkpoint.name}/{self.group.name}"


@functools.cache
def read_vocabulary(folder: Path) -> tuple[str, ...]:
    """Return the short strings in a problem's code: words its verifier may look for."""
    words: dict[str, None] = {}
    for file in sorted(folder.glob("*.py")):
        with contextlib.suppress(SyntaxError, ValueError, OSError, UnreadableFileError):
            for node in ast.walk(ast.parse(read_bytes(file, LARGEST_SOURCE))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    words[node.value] = None
    return tuple(word for word in words if 0 < len(word) <= _LONGEST_WORD)[:_MOST_WORDS]


async def _all_of(tasks: list[asyncio.Task[ReferenceTrial]]) -> list[ReferenceTrial]:
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
