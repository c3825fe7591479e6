"""Where the questions of a run are examined: per target an environment and its proof runner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType

from assay.questions.examining import Bench, Prover
from assay.questions.proofs.remembering import RememberingRunner
from assay.questions.verdict.exceptions import ExceptionMatch
from assay.sandbox import Environment, ProofRunner, Target, target_modules


@dataclass(frozen=True)
class Laboratory:
    """One target: its environment, its own modules, and what runs proofs against it."""

    environment: Environment
    modules: tuple[str, ...]
    runner: ProofRunner | RememberingRunner
    provers: tuple[Prover, ...] = ()

    def bench(self, exception_match: ExceptionMatch) -> Bench:
        """What examining a question needs."""
        return Bench(self.runner, self.environment, self.modules, self.provers, exception_match)


class Laboratories(AbstractAsyncContextManager["Laboratories"]):
    """The laboratories of a run; each starts when it is first asked for and all end together.

    Entered in the event loop that the questions are verified in. `samples` are proofs from which
    a runner learns what to import before it forks. One that `remembers` runs no proof twice.
    """

    def __init__(
        self,
        environments: Mapping[Target, Environment],
        *,
        provers: tuple[Prover, ...] = (),
        samples: Mapping[Target, Sequence[str]] | None = None,
        jobs: int = 2,
        isolation: str = "auto",
        remembers: bool = False,
    ) -> None:
        self._environments = environments
        self._provers = provers
        self._samples = samples or {}
        self._jobs = jobs
        self._isolation = isolation
        self._remembers = remembers
        self._open: dict[Target, Laboratory] = {}

    def of(self, target: Target) -> Laboratory:
        """The laboratory of a target whose environment is built."""
        if target not in self._open:
            environment = self._environments[target]
            modules = target_modules(target, environment)
            runner = ProofRunner(
                environment,
                imports=modules,
                samples=self._samples.get(target, ()),
                modules=modules or None,
                concurrency=self._jobs,
                isolation=self._isolation,
            )
            used = RememberingRunner(runner) if self._remembers else runner
            self._open[target] = Laboratory(environment, modules, used, self._provers)
        return self._open[target]

    async def __aenter__(self) -> Laboratories:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for laboratory in self._open.values():
            await laboratory.runner.close()
        self._open.clear()
        for prover in self._provers:
            if close := getattr(prover, "close", None):
                await close()
