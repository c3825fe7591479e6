"""Runs the installed provers on questions, many at a time, and keeps what went wrong with them."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from assay.questions.laboratories import Laboratories, Laboratory
from assay.questions.provers import installed_provers
from assay.questions.selection import build_environments
from assay.questions.verifying import Work, verify_one
from assay.results import CaseRecord
from assay.sandbox import Environment, ProofOutcome, Target

JOBS = 2
# A question that takes longer than this hangs, whatever it says in the end.
PATIENCE = 120.0


@dataclass(frozen=True)
class Answered:
    """A question and its record, or the traceback of what ended the work on it."""

    work: Work
    record: CaseRecord | None
    crash: str = ""
    elapsed: float = 0.0


class _Remembering:
    """A runner that runs the same proof on the same target once.

    Mutants of a question and swapped keys lead to the same few proofs again and again.
    """

    def __init__(self, laboratory: Laboratory) -> None:
        self._runner = laboratory.runner
        self._seen: dict[tuple[str, bool, int | None], asyncio.Task[ProofOutcome]] = {}

    async def run(
        self, proof: str, *, fresh: bool = False, hash_seed: int | None = None
    ) -> ProofOutcome:
        key = (proof, fresh, hash_seed)
        if key not in self._seen:
            run = self._runner.run(proof, fresh=fresh, hash_seed=hash_seed)
            self._seen[key] = asyncio.ensure_future(run)
        return await asyncio.shield(self._seen[key])

    async def close(self) -> None:
        await self._runner.close()


class _RememberingLaboratories(Laboratories):
    def of(self, target: Target) -> Laboratory:
        laboratory = super().of(target)
        if not isinstance(laboratory.runner, _Remembering):
            runner = _Remembering(laboratory)
            laboratory = replace(laboratory, runner=runner)  # type: ignore[arg-type]
            self._open[target] = laboratory
        return laboratory


@asynccontextmanager
async def laboratories(
    work: Iterable[Work], *, jobs: int = JOBS, remembers: bool = False
) -> AsyncIterator[Laboratories]:
    """Where the questions are proven, for several rounds of them."""
    environments: dict[Target, Environment] = build_environments(work)
    kind = _RememberingLaboratories if remembers else Laboratories
    async with kind(environments, provers=installed_provers(), jobs=jobs) as opened:
        yield opened


async def answer_all(
    work: Sequence[Work],
    opened: Laboratories,
    *,
    jobs: int = JOBS,
    progress: Callable[[Answered], None] | None = None,
) -> list[Answered]:
    """Every question answered by the provers alone; what they raise is kept, not raised."""
    free = asyncio.Semaphore(jobs)

    async def answer(one: Work) -> Answered:
        async with free:
            answered = await _answer(one, opened)
        if progress is not None:
            progress(answered)
        return answered

    return list(await asyncio.gather(*map(answer, work)))


async def _answer(work: Work, opened: Laboratories) -> Answered:
    clock = time.perf_counter()
    record, crash = None, ""
    try:
        async with asyncio.timeout(PATIENCE):
            record = await verify_one(work, opened, writes=False)
    except Exception:  # whatever a prover raises is what is counted here
        crash = traceback.format_exc()
    return Answered(work, record, crash, time.perf_counter() - clock)
