"""The plan of `verify` and `assess`: test files, how their agents are reached and sampled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from assay.agents.connections.python import import_agent
from assay.agents.records import SUBJECT, statistics_lines
from assay.agents.running import (
    NO_MORE_TRUST,
    PYTHON,
    Reach,
    Running,
    Sampling,
    Test,
    check_recorded,
    list_units,
    plan_tests,
)
from assay.agents.testfile import read_files
from assay.agents.trust import Trust
from assay.config import load_config
from assay.errors import InputError
from assay.models import ModelChoice, ModelClient, ResponseCache, resolve
from assay.runs import Manifest, Progress, Run, Unit


@dataclass(frozen=True)
class AgentsRequest:
    """What was asked, as a run keeps it; no secret is among it."""

    files: tuple[str, ...]
    folder: str
    reach: Reach
    sampling: Sampling
    model: ModelChoice
    assesses: bool = False
    judge_error_rate: float | None = None

    def values(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**asdict(self), "files": list(self.files)}


class AgentsPlan:
    """Holds the conversations of test files, as often as their verdicts need."""

    waits = True

    def __init__(self, asked: AgentsRequest, *, trust: Trust = NO_MORE_TRUST) -> None:
        self.asked, self._trust = asked, trust
        reading = read_files(asked.files)
        self.skipped = [str(one) for one in reading.passed_over]
        self._tests = plan_tests(reading.found, asked.reach, asked.sampling)
        settings = resolve(asked.model, load_config().models)
        self.client = None if settings is None else ModelClient(settings, cache=ResponseCache())
        check_recorded(self._tests, asked.reach, trust)
        self.total: int | None = len(self._tests)
        # Each lane holds a test that may be waiting for its last samples: the pool stays busy.
        self.jobs = max(1, min(asked.sampling.max_connections, len(self._tests)))
        self.manifest = Manifest(
            subject=SUBJECT, title=", ".join(asked.files), asked=asked.values()
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Another process makes the plan again, and connections of its own.
        return partial(AgentsPlan, trust=self._trust), (self.asked,)

    @classmethod
    def from_run(
        cls, values: dict[str, Any], trust: Trust, *, jobs: int | None = None
    ) -> AgentsPlan:
        """Make the plan of a run again; called in the folder that the run was started in."""
        try:
            reach = values["reach"]
            sampling = {**values["sampling"], **({"jobs": jobs} if jobs else {})}
            asked = AgentsRequest(
                files=tuple(values["files"]),
                folder=values["folder"],
                reach=Reach(**{**reach, "connections": tuple(reach["connections"])}),
                sampling=Sampling(**sampling),
                model=ModelChoice.from_run(values["model"]),
                assesses=bool(values.get("assesses")),
                judge_error_rate=values.get("judge_error_rate"),
            )
        except (KeyError, TypeError):
            raise InputError(
                "run.json does not say what was asked", advice="start a new run"
            ) from None
        return cls(asked, trust=trust)

    def cases(self) -> Iterator[Unit]:
        """List every test of every file."""
        return list_units(self._tests, self.asked.reach, self.asked.sampling)

    def open_worker(
        self, folder: Path, progress: Progress | None
    ) -> AbstractAsyncContextManager[Running]:
        """Return what takes the samples of single tests."""
        for test in self._tests:
            if isinstance(test, Test) and test.connection == PYTHON:
                # Before any clock runs. What cannot be imported is an error of its own test.
                with nullcontext() if self.asked.sampling.strict else suppress(InputError):
                    import_agent(test.file.agent, self._trust.for_file(test.file.path))
        on_sample = getattr(progress, "sampled", None) or (lambda: None)
        return Running(self.asked.reach, self.asked.sampling, self.client, on_sample, self._trust)

    def finish(self, run: Run) -> list[str]:
        """Return the rate and the interval of every test with samples."""
        return list(statistics_lines(run))


def enter_folder(asked: dict[str, Any]) -> None:
    """Change to the folder of a run: its cases are named by paths that are relative to it."""
    try:
        os.chdir(asked["folder"])
    except (KeyError, TypeError):
        raise InputError("run.json does not say what was asked", advice="start a new run") from None
    except OSError as error:
        raise InputError(f"its folder is gone: {error.strerror}", where=asked["folder"]) from None
