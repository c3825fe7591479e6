"""A problem in memory: cases, a program and a verifier that are plain functions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.model import CaseResult, VerificationResult
from assay.submissions.audits import AuditFinding, Auditor, GroupAudit, find_problems
from assay.submissions.cases import BaseCase, CLICase, CLIResult
from assay.submissions.config import CheckpointConfig, CliAdapter, GroupConfig, ProblemConfig
from assay.submissions.protocols import (
    CaseRunner,
    CasesBrokenError,
    CaseStream,
    ExpectedCase,
    Site,
    VerifierBrokenError,
)
from assay.submissions.request import Filter

Verifier = Callable[[CaseResult, CaseResult], dict[str, VerificationResult]]
Program = Callable[[BaseCase], dict[str, Any]]
GROUP = GroupConfig(name="core")


def result(case: str = "one", **fields: Any) -> CLIResult:
    return CLIResult(id=case, group="core", **fields)


def case(name: str = "one", **fields: Any) -> CLICase:
    return CLICase(id=name, group="core", **fields)


def same(actual: Any, expected: Any, weight: float = 1.0) -> VerificationResult:
    diff = f"{actual!r} for {expected!r}"
    return VerificationResult.create(diff, actual == expected, weight)


def strict(actual: CaseResult, expected: CaseResult) -> dict[str, VerificationResult]:
    """A verifier as it should be: JSON by what it says, the status, every file."""
    try:
        output = json.loads(actual.output)
    except ValueError:
        output = actual.output
    found = {
        "output": same(output, expected.output),
        "status_code": same(actual.status_code, expected.status_code),
    }
    assert isinstance(actual.files, dict)
    assert isinstance(expected.files, dict)
    for name, content in expected.files.items():
        found[f"files-{name}"] = same(actual.files.get(name), content)
    return found


@dataclass
class Memory:
    """Stands for a source, a prepared submission and its runner at once."""

    drawn: list[ExpectedCase]
    program: Program
    verifier: Verifier
    is_stateful: bool = False
    breaks_after: int | None = None
    updates: list[str] = field(default_factory=list)
    judged: int = 0
    digest: str = "memory"
    missing: str | None = None
    assets: dict[str, str] = field(default_factory=dict)
    most_at_once: int = 0
    _running: int = 0

    @asynccontextmanager
    async def open(
        self, checkpoint: CheckpointConfig, group: GroupConfig
    ) -> AsyncIterator[CaseStream]:
        yield _Stream(self)

    async def verify(
        self,
        checkpoint: CheckpointConfig,
        group: GroupConfig,
        drawn: ExpectedCase,
        actual: CaseResult,
    ) -> dict[str, VerificationResult]:
        self.judged += 1
        try:
            return self.verifier(actual, drawn.expected)
        except ZeroDivisionError as error:
            raise VerifierBrokenError(f"the verifier raised {error}") from None

    @asynccontextmanager
    async def prepare(self, checkpoint: CheckpointConfig) -> AsyncIterator[Site]:
        yield self

    @asynccontextmanager
    async def runner(self, group: GroupConfig) -> AsyncIterator[CaseRunner]:
        yield self

    async def run(self, case: BaseCase) -> CaseResult:
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        await asyncio.sleep(0)
        self._running -= 1
        return result(case.id, **self.program(case))


class _Stream:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._waiting = list(memory.drawn)
        self.is_stateful = memory.is_stateful

    async def draw(self) -> ExpectedCase | None:
        done = len(self._memory.drawn) - len(self._waiting)
        if self._memory.breaks_after is not None and done >= self._memory.breaks_after:
            raise CasesBrokenError("loader.py: the loader raised ValueError")
        return self._waiting.pop(0) if self._waiting else None

    async def update(self, drawn: ExpectedCase, actual: CaseResult) -> None:
        self._memory.updates.append(drawn.case.id)


def audited(
    memory: Memory, wanted: Filter | None = None, jobs: int = 1, folder: Path = Path("/nowhere")
) -> GroupAudit:
    checkpoint = CheckpointConfig(name="one", path=Path("/nowhere"), groups={"core": GROUP})
    problem = ProblemConfig(
        name="memory", entry_file="main", adapter=CliAdapter(), path=folder,
        checkpoints={"one": checkpoint},
    )  # fmt: skip
    auditor = Auditor(problem, memory, wanted or Filter(), jobs)
    (group,) = asyncio.run(auditor.audit(checkpoint, memory.prepare))
    return group


def codes(found: list[AuditFinding]) -> set[tuple[str, str]]:
    """Code and subject of each."""
    return {(one.sort.code, one.subject) for one in found}


def found_in(memory: Memory) -> set[tuple[str, str]]:
    return codes(find_problems([audited(memory)]))
