"""One environment per target, with its proof runner and provers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol

from assay.questions.model import Question
from assay.questions.proofs.claims import Proof
from assay.questions.proofs.store import digest_lock
from assay.sandbox import (
    Challenge,
    Environment,
    ProofOutcome,
    ProofRunner,
    Target,
    first_imports,
    target_modules,
)

# Why a prover has nothing to look names up in.
NO_ENVIRONMENT = "there is no environment whose names could be looked at"
NO_PACKAGE = "the question names no package that is installed here"


@dataclass(frozen=True)
class Attempt:
    """The result of a prover: proofs, and per option why it has none."""

    proofs: tuple[Proof, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)


class Prover(Protocol):
    """Turns options into claims with proofs; it never sees a key."""

    name: str

    async def prove(
        self, question: Question, options: Sequence[str], runner: TargetRunner
    ) -> Attempt:
        """Return proofs for those of the options it understands."""
        ...


class QuestionProver(Protocol):
    """A prover that also looks at the question as a whole."""

    async def prove_question(self, question: Question, runner: TargetRunner) -> tuple[Proof, ...]:
        """Return proofs of what the question takes for granted, and of options that are one."""
        ...


@dataclass(frozen=True)
class TargetRunner:
    """One target: what runs proofs against it, its environment and modules, and the provers."""

    proof_runner: ProofRunner | CachingRunner
    environment: Environment | None = None
    modules: tuple[str, ...] = ()
    provers: tuple[Prover, ...] = ()

    @property
    def lock(self) -> str:
        assert self.environment is not None
        return self.environment.lock

    def is_locked_to(self, digest: str | None) -> bool:
        """Tell whether the environment is the one of a lock, given its digest, and no other."""
        environment = self.environment
        return (
            environment is not None
            and environment.is_locked
            and digest_lock(environment.lock) == digest
        )


class CachingRunner:
    """A proof runner that runs the same proof once, for as long as it is open.

    Mutants of a question and swapped keys lead to the same few proofs again and again.
    """

    def __init__(self, runner: ProofRunner) -> None:
        self._runner = runner
        self._outcomes: dict[
            tuple[str, bool, int | None, Challenge | None], asyncio.Task[ProofOutcome]
        ] = {}

    async def run(
        self,
        proof: str,
        *,
        fresh: bool = False,
        hash_seed: int | None = None,
        challenge: Challenge | None = None,
        **more: Any,
    ) -> ProofOutcome:
        """Return the outcome of a proof; one that comes with files is always run."""
        if more:
            return await self._runner.run(
                proof, fresh=fresh, hash_seed=hash_seed, challenge=challenge, **more
            )
        key = (proof, fresh, hash_seed, challenge)
        if key not in self._outcomes:
            run = self._runner.run(proof, fresh=fresh, hash_seed=hash_seed, challenge=challenge)
            self._outcomes[key] = asyncio.ensure_future(run)
        return await asyncio.shield(self._outcomes[key])


class ProofRunners(AbstractAsyncContextManager["ProofRunners"]):
    """The runners of a run: each starts on first use and all end together.

    Entered in the event loop that the questions are verified in. `samples` are proofs from which
    a runner learns what to import before it forks. With `remembers` no proof is run twice.
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
        self._open: dict[Target, tuple[ProofRunner, TargetRunner]] = {}

    def of(self, target: Target) -> TargetRunner:
        """Return the runner of a target whose environment is built."""
        if target not in self._open:
            environment = self._environments[target]
            modules = target_modules(target, environment)
            runner = ProofRunner(
                environment,
                imports=first_imports(target, environment),
                samples=self._samples.get(target, ()),
                modules=modules or None,
                concurrency=self._jobs,
                isolation=self._isolation,
            )
            used = CachingRunner(runner) if self._remembers else runner
            self._open[target] = runner, TargetRunner(used, environment, modules, self._provers)
        return self._open[target][1]

    async def __aenter__(self) -> ProofRunners:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for runner, _ in self._open.values():
            await runner.close()
        self._open.clear()
        for prover in self._provers:
            if close := getattr(prover, "close", None):
                await close()
