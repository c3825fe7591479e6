"""Small submissions and problems, written for a test, and a run of some of their cases."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from assay.model import CaseResult
from assay.sandbox.isolation import available_levels, probe
from assay.submissions.assets import with_assets
from assay.submissions.cases import BaseCase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.environments import (
    DEFAULT,
    EnvironmentFile,
    PreparedSubmission,
    prepare,
)
from assay.submissions.protocols import CaseRunner
from tests.waiting import PATIENCE

Result = TypeVar("Result")
LEVELS = [*available_levels(probe()), "none"]


def finish(work: Coroutine[Any, Any, Result]) -> Result:
    async def in_time() -> Result:
        return await asyncio.wait_for(work, PATIENCE)

    return asyncio.run(in_time())


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def problem_in(folder: Path, **fields: Any) -> ProblemConfig:
    (folder / "checkpoint_1").mkdir(parents=True, exist_ok=True)
    group = GroupConfig(name="core")
    checkpoint = CheckpointConfig(
        name="checkpoint_1", path=folder / "checkpoint_1", groups={"core": group}
    )
    fields = {"name": "small", "entry_file": "main", "adapter": {"type": "cli"}, **fields}
    return ProblemConfig.model_validate(
        {"checkpoints": {"checkpoint_1": checkpoint}, "path": folder, **fields}
    )


class Bench:
    """A submission and a problem in a folder of the test."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes], **fields: Any) -> None:
        self.submission = write(folder / "submission", files)
        self.problem = problem_in(folder / "problem", **fields)
        self.checkpoint = self.problem.checkpoints["checkpoint_1"]

    def prepare(
        self, environment: EnvironmentFile = DEFAULT, level: str = "auto", **options: Any
    ) -> Any:
        return prepare(
            self.submission, environment, self.problem, self.checkpoint, isolation=level, **options
        )

    @asynccontextmanager
    async def runner(
        self, environment: EnvironmentFile = DEFAULT, level: str = "auto", **group: Any
    ) -> AsyncIterator[CaseRunner]:
        prepared: PreparedSubmission
        async with (
            self.prepare(environment, level) as prepared,
            prepared.runner(GroupConfig(name="core", **group)) as runner,
        ):
            yield runner

    def run(
        self,
        *cases: BaseCase,
        environment: EnvironmentFile = DEFAULT,
        level: str = "auto",
        **group: Any,
    ) -> list[CaseResult]:
        """One case after the other."""

        async def work() -> list[CaseResult]:
            prepared: PreparedSubmission
            async with (
                self.prepare(environment, level) as prepared,
                prepared.runner(GroupConfig(name="core", **group)) as runner,
            ):
                return [await runner.run(with_assets(case, prepared.assets)) for case in cases]

        return finish(work())
