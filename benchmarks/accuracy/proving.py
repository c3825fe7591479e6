"""Runs the installed provers on questions, many at a time, and keeps what went wrong with them."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from assay.model import CaseRecord
from assay.questions.proof_runners import ProofRunners, Prover
from assay.questions.provers import load_provers
from assay.questions.selection import build_environments
from assay.questions.verification import Work, verify_one
from assay.sandbox import Environment, Target

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


@asynccontextmanager
async def runners(
    work: Iterable[Work],
    *,
    jobs: int = JOBS,
    remembers: bool = False,
    provers: tuple[Prover, ...] | None = None,
) -> AsyncIterator[ProofRunners]:
    """Where the questions are proven, for several rounds of them."""
    environments: dict[Target, Environment] = build_environments(work)
    async with ProofRunners(
        environments,
        provers=load_provers() if provers is None else provers,
        jobs=jobs,
        remembers=remembers,
    ) as opened:
        yield opened


async def answer_all(
    work: Sequence[Work],
    opened: ProofRunners,
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


async def _answer(work: Work, opened: ProofRunners) -> Answered:
    clock = time.perf_counter()
    record, crash = None, ""
    try:
        async with asyncio.timeout(PATIENCE):
            record = await verify_one(work, opened, writes=False)
    except Exception:  # whatever a prover raises is what is counted here
        crash = traceback.format_exc()
    return Answered(work, record, crash, time.perf_counter() - clock)
