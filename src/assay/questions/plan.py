"""The plans of `verify` and `calibrate`: suites, targets and provers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from assay.config import load_config
from assay.errors import InputError
from assay.models import ModelChoice
from assay.questions.calibration import (
    CalibrationWorker,
    Planting,
    calibration_of,
    list_calibrations,
)
from assay.questions.labels import read_labels
from assay.questions.model_prover import make_procedure
from assay.questions.proof_runners import ProofRunners
from assay.questions.provers import load_provers
from assay.questions.quality_report import summary_lines, write_quality_report
from assay.questions.records import SUBJECT
from assay.questions.selection import Selection, build_environments, samples, select
from assay.questions.suite.suite import read_suites
from assay.questions.verification import QuestionWorker, list_units, verify_one
from assay.runs import Manifest, Progress, Run, Unit

_Worker = TypeVar("_Worker")


@dataclass(frozen=True)
class QuestionsRequest:
    """The request as stored in a run; it contains no secret."""

    selection: Selection
    isolation: str
    jobs: int
    model: ModelChoice | None = None
    fixing: str | None = None
    more: Mapping[str, Any] | None = None
    """What only one of the plans has."""

    def values(self) -> dict[str, Any]:
        """Return it as JSON."""
        asked: dict[str, Any] = {
            **asdict(self.selection),
            "isolation": self.isolation,
            "jobs": self.jobs,
            **(self.more or {}),
        }
        if self.model is not None:
            asked |= {"model": asdict(self.model), "fixing": self.fixing}
        found: dict[str, Any] = json.loads(json.dumps(asked))
        return found

    @classmethod
    def from_run(
        cls, values: dict[str, Any], *, jobs: int | None, more: tuple[str, ...] = ()
    ) -> Self:
        """Read the request from a run folder, which is untrusted."""
        try:
            fields = {name: values[name] for name in Selection.__dataclass_fields__}
            lists = {
                name: tuple(value) for name, value in fields.items() if isinstance(value, list)
            }
            model = values.get("model")
            return cls(
                selection=Selection(**{**fields, **lists}),
                isolation=values["isolation"],
                jobs=jobs or values["jobs"],
                model=None if model is None else ModelChoice.from_run(model),
                fixing=values.get("fixing"),
                more={name: values[name] for name in more},
            )
        except (KeyError, TypeError):
            raise InputError(
                "run.json does not contain the request", advice="start a new run"
            ) from None


def make_request(
    suites: Iterable[str | Path],
    *,
    targets: Iterable[str] = (),
    proofs: str | Path | None = None,
    cases: Iterable[str] = (),
    types: Iterable[str] = (),
    exception_match: str | None = None,
    isolation: str = "auto",
    jobs: int | None = None,
    model: ModelChoice | None = None,
    fixing: str | None = None,
) -> QuestionsRequest:
    """Return the request with absolute paths."""
    selection = Selection(
        suites=tuple(str(Path(one).absolute()) for one in suites),
        folder=str(Path.cwd()),
        targets=tuple(targets),
        proofs=str(Path(proofs).absolute()) if proofs else None,
        cases=tuple(cases),
        types=tuple(types),
        exception_match=exception_match,
    )
    return QuestionsRequest(
        selection, isolation, jobs or load_config().jobs_or_default(), model, fixing
    )


def make_planting(
    suites: Iterable[str | Path], count: int, seed: int, labels: str | Path | None
) -> Planting:
    """Return what to plant, with the labels of a file if one is named."""
    if labels is None:
        return Planting(count, seed)
    questions = {
        entry.id: suite.path.stem for suite in read_suites(suites) for entry in suite.entries
    }
    return Planting(count, seed, read_labels(Path(labels), questions))


class _PlanWithRunners:
    """The selected questions, and the runners of their targets."""

    waits = True
    remembers: ClassVar[bool] = False

    def __init__(self, asked: QuestionsRequest, say: Callable[[str], None] | None = None) -> None:
        self.asked, self.jobs = asked, asked.jobs
        self._procedure = make_procedure(asked.model, asked.fixing)
        self._work = select(asked.selection)
        provers = load_provers() if self._procedure is None else self._procedure.provers
        self._runners = ProofRunners(
            build_environments(self._work, say),
            provers=provers,
            samples=samples(self._work),
            jobs=asked.jobs,
            isolation=asked.isolation,
            remembers=self.remembers,
        )
        self.total: int | None = len(self._work)

    @asynccontextmanager
    async def _lend(self, worker: _Worker) -> AsyncIterator[_Worker]:
        """Open the runners of the targets for as long as a worker is used."""
        async with self._runners:
            yield worker


class QuestionsPlan(_PlanWithRunners):
    """Verifies every question: Valid, Ambiguous, Incorrect or Unproven."""

    def __init__(
        self,
        asked: QuestionsRequest,
        say: Callable[[str], None] | None = None,
        *,
        fail_on_unproven: bool = False,
        title: str = "",
    ) -> None:
        super().__init__(asked, say)
        if self._procedure is not None:
            self._procedure.check(self._work)
        described = sorted({str(one.target) for one in self._work})
        selection = asked.selection
        self.manifest = Manifest(
            subject=SUBJECT,
            title=f"{title or ', '.join(selection.suites)} on {'; '.join(described)}",
            is_partial=bool(selection.cases or selection.types),
            asked={**asked.values(), "described": described},
            unverified_fails=fail_on_unproven,
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Another process rebuilds the plan and starts its own runners.
        return QuestionsPlan, (self.asked,)

    @classmethod
    def from_run(
        cls,
        values: dict[str, Any],
        *,
        jobs: int | None = None,
        say: Callable[[str], None] | None = None,
    ) -> QuestionsPlan:
        """Rebuild the plan of a run from its run.json."""
        return cls(QuestionsRequest.from_run(values, jobs=jobs), say)

    def cases(self) -> Iterator[Unit]:
        """List the questions."""
        return list_units(self._work)

    def open_worker(
        self, folder: Path, progress: Progress | None
    ) -> AbstractAsyncContextManager[QuestionWorker]:
        """Return what verifies single questions."""
        # Proofs made against another target would replace those of the suite's own.
        selection = self.asked.selection
        writes = not selection.targets or selection.proofs is not None
        verify = self._procedure.verifier(folder) if self._procedure is not None else verify_one
        return self._lend(QuestionWorker(self._runners, verify, writes))

    def finish(self, run: Run) -> list[str]:
        """Write the quality report; return the verdicts counted."""
        written = write_quality_report(run)
        more = self._procedure.finish(run) if self._procedure is not None else []
        return [*summary_lines(run), *more, f"written: {written}"]


class CalibratePlan(_PlanWithRunners):
    """Plants defects in Valid questions and counts how many of them are found."""

    remembers = True

    def __init__(
        self,
        asked: QuestionsRequest,
        planting: Planting,
        say: Callable[[str], None] | None = None,
        *,
        title: str = "",
    ) -> None:
        asked = replace(asked, more=planting.values())
        super().__init__(asked, say)
        self._planting = planting
        self.manifest = Manifest(
            subject="calibration",
            title=f"calibration of {title or ', '.join(asked.selection.suites)}",
            is_partial=bool(asked.selection.cases),
            asked=asked.values(),
            # A question that is left out says nothing against the provers.
            unverified_fails=False,
        )

    def __reduce__(self) -> tuple[object, ...]:
        return CalibratePlan, (self.asked, self._planting)

    @classmethod
    def from_run(
        cls,
        values: dict[str, Any],
        *,
        jobs: int | None = None,
        say: Callable[[str], None] | None = None,
    ) -> CalibratePlan:
        """Rebuild the plan of a run from its run.json."""
        asked = QuestionsRequest.from_run(values, jobs=jobs, more=("mutants", "seed"))
        return cls(asked, Planting.of_values(values), say)

    def cases(self) -> Iterator[Unit]:
        """List the questions."""
        return list_calibrations(self._work, self._planting)

    def open_worker(
        self, folder: Path, progress: Progress | None
    ) -> AbstractAsyncContextManager[CalibrationWorker]:
        """Return what tries single questions with defects."""
        verify = self._procedure.verifier(folder) if self._procedure is not None else verify_one
        return self._lend(CalibrationWorker(self._runners, self._planting, verify))

    def finish(self, run: Run) -> list[str]:
        """Refuse a calibration without a question to verify; return what a model used."""
        found = calibration_of(run)
        if not found.valid and not found.errors and found.labelled is None:
            raise InputError(
                "no question is Valid, so there is nothing to plant a defect in",
                where=", ".join(self.asked.selection.suites),
                advice="`assay questions verify` shows why",
            )
        return self._procedure.finish(run) if self._procedure is not None else []
