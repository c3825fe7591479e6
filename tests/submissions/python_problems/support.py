"""Small programmed problems, written by the tests that need them."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from assay.model import GroupType
from assay.submissions.cases import CLICase, CLIResult
from assay.submissions.config import CheckpointConfig, CliAdapter, GroupConfig, ProblemConfig
from assay.submissions.protocols import ExpectedCase
from assay.submissions.python_problems.source import PythonSource

LOADER = """
    from slop_code.evaluation.adapters import CLICase, CLIResult
    from slop_code.evaluation.loaders import BaseLoader

    class Loader(BaseLoader):
        def __call__(self, group, store):
            for number in range(3):
                name = f"case_{number}"
                yield (
                    CLICase(id=name, group=group.name, arguments=[str(number)]),
                    CLIResult(id=name, group=group.name, output=str(number)),
                )
"""
VERIFIER = """
    from slop_code.evaluation.verifiers import VerificationResult

    class Verifier:
        def __init__(self, checkpoint_config):
            self.config = checkpoint_config

        def __call__(self, group_name, case_name, actual, expected):
            diff = [actual.output, expected.output]
            return {"output": VerificationResult.create(diff, actual.output == expected.output)}
"""


def problem(
    folder: Path, loader: str = LOADER, verifier: str = VERIFIER, **more: Any
) -> ProblemConfig:
    """A problem with one checkpoint and the group `core`."""
    path = folder / "small_problem"
    (path / "checkpoint_1").mkdir(parents=True)
    for name, text in (("loader.py", loader), ("verifier.py", verifier)):
        if text:
            (path / name).write_text(textwrap.dedent(text))
    checkpoint = CheckpointConfig(
        name="checkpoint_1",
        path=path / "checkpoint_1",
        groups={"core": GroupConfig(name="core", type=GroupType.CORE)},
    )
    return ProblemConfig(
        name="small_problem",
        entry_file="main.py",
        adapter=CliAdapter(),
        checkpoints={"checkpoint_1": checkpoint},
        path=path,
        **more,
    )


def checkpoint_of(problem: ProblemConfig) -> tuple[CheckpointConfig, GroupConfig]:
    checkpoint = next(iter(problem.checkpoints.values()))
    return checkpoint, checkpoint.groups["core"]


async def draw_all(source: PythonSource) -> list[ExpectedCase]:
    found = []
    async with source.open(*checkpoint_of(source.problem)) as stream:
        while (drawn := await stream.draw()) is not None:
            found.append(drawn)
    return found


def pair(output: Any, expected: Any, **more: Any) -> tuple[ExpectedCase, CLIResult]:
    """A drawn case that expects one output, and the result that has the other."""
    about: dict[str, Any] = {"id": "one", "group": "core"}
    drawn = ExpectedCase(CLICase(**about), CLIResult(**about, output=expected))
    return drawn, CLIResult(**about, output=output, **more)
