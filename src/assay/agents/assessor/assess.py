"""The assessment of a run: the modes of failure of all its tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from assay.agents.assessor.assessment import (
    Assessment,
    assess,
    assessment_values,
    markdown_lines,
)
from assay.agents.assessor.naming import name_modes
from assay.agents.plan import AgentsPlan
from assay.errors import BudgetExceeded, InfrastructureError
from assay.models import ModelClient
from assay.runs import Run, run_in_loop


@dataclass(frozen=True)
class RunAssessment:
    """A run with all its samples, and the ways in which the agent failed in each test."""

    run: Run
    tests: list[Assessment]

    @property
    def exit_code(self) -> int:
        """Return the exit code of the run."""
        return self.run.exit_code

    def report(self, format: Literal["markdown", "json"] = "markdown") -> str:  # noqa: A002 - as `Run`
        """Return the modes of every test, with their shares, intervals and examples."""
        if format == "json":
            tests = assessment_values(self.tests)
            about = {"run": str(self.run.path), "exit_code": self.exit_code, "tests": tests}
            return json.dumps(about, indent=2) + "\n"
        return "\n".join(markdown_lines(self.tests)) + "\n"


def assess_run(
    run: Run, plan: AgentsPlan, say: Callable[[str], None] = lambda text: None
) -> RunAssessment:
    """Group the failures of a run; a model, if there is one, names the modes."""
    rate = plan.asked.judge_error_rate
    tests = [assess(record, rate) for record in run.records()]
    if plan.client is not None and any(one.modes for one in tests):
        try:
            tests = run_in_loop(_name_all(tests, plan.client))
        except (BudgetExceeded, InfrastructureError) as error:
            say(f"the modes have no names: {error}")
    return RunAssessment(run, tests)


async def _name_all(tests: list[Assessment], client: ModelClient) -> list[Assessment]:
    async with client:
        return list(await asyncio.gather(*(name_modes(one, client) for one in tests)))
