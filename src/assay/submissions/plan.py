"""The plan of `verify`: a problem, a submission, and the policy that decides."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.findings import Finding
from assay.reports import keep_report
from assay.runs import Manifest, Progress, Run, Step
from assay.submissions.opening import SubmissionsRequest, check_recorded, open_checking
from assay.submissions.policies import DEFAULT, POLICIES
from assay.submissions.records import SUBJECT
from assay.submissions.reporting import write_evaluation
from assay.submissions.running import Checking


class SubmissionsPlan:
    """Runs a submission on the cases of a problem."""

    total: int | None = None
    waits = True

    def __init__(
        self,
        asked: SubmissionsRequest,
        policy: str = DEFAULT,
        *,
        on_warning: Callable[[Finding], None] | None = None,
    ) -> None:
        if policy not in POLICIES:
            raise InputError(f"unknown policy {policy!r}", advice=f"valid: {', '.join(POLICIES)}")
        opened = open_checking(asked, on_warning=on_warning)
        self._problem, self._checking, self._policy = opened.problem, opened.checking, policy
        self._asked, self.jobs = asked, asked.jobs
        self.manifest = Manifest(
            subject=SUBJECT,
            title=f"{opened.problem.name} by {asked.snapshot}",
            is_partial=asked.is_partial,
            asked={**asked.values(), "policy": policy},
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Another process makes the plan again, and a copy of the submission of its own.
        return SubmissionsPlan, (self._asked, self._policy)

    @classmethod
    def from_run(
        cls,
        asked: dict[str, Any],
        *,
        jobs: int | None = None,
        project: Path | None = None,
        on_warning: Callable[[Finding], None] | None = None,
    ) -> SubmissionsPlan:
        """Make the plan of a run again, from what its run.json says was asked.

        Code that it names must be of the `project`, if one is given.
        """
        try:
            # Runs that were made before there was such an option did without it.
            names, new = SubmissionsRequest.__dataclass_fields__, ("allow_outside",)
            known = {name: asked[name] for name in names if name in asked or name not in new}
            before, policy = SubmissionsRequest(**known), asked["policy"]
        except KeyError:
            raise InputError(
                "run.json does not say what was asked", advice="start a new run"
            ) from None
        if project is not None:
            check_recorded(before, project)
        if jobs is not None:
            before = replace(before, jobs=jobs)
        return cls(before, policy, on_warning=on_warning)

    def cases(self) -> AsyncIterator[Step]:
        """List the cases as their groups are reached."""
        return self._checking.steps()

    def open_worker(
        self, folder: Path, progress: Progress | None
    ) -> AbstractAsyncContextManager[Checking]:
        """Return what runs and verifies single cases."""
        return self._checking

    def check_met(self) -> None:
        """Raise an InputError if a filter or the whole run met no case."""
        self._checking.check_met()

    def finish(self, run: Run) -> list[str]:
        """Judge the run by its policy; write `evaluation.json` and all reports as parquet."""
        self.check_met()
        written = write_evaluation(run, self._problem.name, self._policy)
        keep_report(run, "parquet", "reports.parquet")
        return [f"written: {written}"]
