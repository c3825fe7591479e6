"""The proof runner: plain pytest files in, outcomes out, using warm isolated processes."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType

from assay.documents import LARGEST_SOURCE, read_text
from assay.errors import InputError
from assay.sandbox.evidence import ProofEnding, ProofOutcome, Status, TestOutcome, judge
from assay.sandbox.isolation import choose
from assay.sandbox.proof_lint import inspect_proof
from assay.sandbox.proof_worker import Challenge, Order, ProofRequest, ProofWorker, WorkerLost
from assay.sandbox.targets import Environment
from assay.sandbox.workers import Limits

# A proof that kills its runner gets this many tries, the last one alone in a new process.
_TRIES = 3


@dataclass
class _Slot:
    """A place for one proof at a time, and the processes that serve it.

    The warm process has imported the target. The clean one has imported only the target's
    dependencies: its forks see the target as a new interpreter does, without importing pytest and
    all dependencies again. Processes with their own hash seed have imported only pytest.
    """

    warm: ProofWorker | None = None
    clean: ProofWorker | None = None
    seeded: dict[int, ProofWorker] = field(default_factory=dict)


class ProofRunner:
    """Runs proofs against one environment, several side by side; use it with `async with`.

    `imports` are imported once, before the forks; `samples` are proofs whose imports are learned
    from. `modules` are the target's, for the question whether a test has anything to do with it.
    """

    def __init__(
        self,
        environment: Environment,
        *,
        imports: Sequence[str] = (),
        samples: Sequence[str] = (),
        modules: Collection[str] | None = None,
        concurrency: int = 2,
        limits: Limits | None = None,
        isolation: str = "auto",
        fast: bool = True,
    ) -> None:
        self._modules = modules
        self._roots = tuple(modules or ())
        self._others: tuple[str, ...] | None = None
        self._limits = limits or Limits(wall_time=20.0, cpu_time=20)
        self._order = Order(
            environment,
            choose(isolation),
            self._limits,
            imports=tuple(imports),
            samples=tuple(samples),
            fast=fast,
            roots=self._roots,
        )
        self._slots: asyncio.Queue[_Slot] = asyncio.Queue()
        self._all = [_Slot() for _ in range(concurrency)]
        for slot in self._all:
            self._slots.put_nowait(slot)
        self.restarts = 0
        self.notes: list[str] = []
        self._threaded = False

    async def __aenter__(self) -> ProofRunner:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End all processes; running proofs are abandoned."""
        for slot in self._all:
            await self._retire(slot)

    async def warm_up(self) -> None:
        """Start one process now, so that the first proof does not wait for it."""
        slot = await self._slots.get()
        try:
            await self._serving(slot)
        finally:
            self._slots.put_nowait(slot)

    async def run(
        self,
        proof: str | Path,
        *,
        fresh: bool = False,
        files: Mapping[str, str] | None = None,
        hash_seed: int | None = None,
        challenge: Challenge | None = None,
    ) -> ProofOutcome:
        """Run a proof, given as source or as a file, with other `files` beside it.

        `fresh` runs it where nothing of the target is imported yet; with a `hash_seed` not even its
        dependencies are, and the interpreter uses that seed. With a `challenge`, the outcome
        includes the results of calling a test in other ways.
        """
        name, source = _read(proof)
        text = ProofRequest(name, source, files or {}, challenge)
        inspection = inspect_proof(source, self._modules)
        slot = await self._slots.get()
        try:
            ending, used_fresh, attempt = await self._run(slot, text, fresh, hash_seed)
        finally:
            self._slots.put_nowait(slot)
        if ending is None:
            outcome = _never_ran(inspection.tests)
        else:
            outcome = judge(inspection, ending)
        return replace(outcome, fresh=used_fresh, isolation=self._order.level, attempts=attempt)

    async def _run(
        self, slot: _Slot, text: ProofRequest, fresh: bool, hash_seed: int | None
    ) -> tuple[ProofEnding | None, bool, int]:
        # A challenge calls a test many times more.
        seconds = self._limits.wall_time * (1 if text.challenge is None else 3)
        for attempt in range(1, _TRIES + 1):
            try:
                if attempt == _TRIES:
                    return await self._run_alone(text, hash_seed or 0, seconds), True, attempt
                if hash_seed is not None:
                    seeded = await self._serving_seeded(slot, hash_seed)
                    return await seeded.run(text, seconds), True, attempt
                if not (fresh or self._threaded):
                    warm = await self._serving(slot)
                    if not self._threaded:
                        return await warm.run(text, seconds), False, attempt
                clean = await self._serving_clean(slot)
                return await clean.run(text, seconds), True, attempt
            except WorkerLost as loss:
                self.notes.append(f"a runner was lost ({loss}) and what it did is repeated")
                await self._retire(slot)
                self.restarts += 1
            except BaseException:
                # Cancelled half way: the answer would be mistaken for that of the next proof.
                await self._retire(slot)
                raise
        return None, True, _TRIES

    async def _run_alone(self, text: ProofRequest, hash_seed: int, seconds: float) -> ProofEnding:
        process = await ProofWorker.start(replace(self._clean_order(), hash_seed=hash_seed))
        try:
            return await process.run(text, seconds)
        finally:
            await process.close()

    def _clean_order(self) -> Order:
        """Return an order for a process that has imported only pytest's needs, not the target."""
        return replace(self._order, imports=(), samples=(), learn=False)

    async def _serving(self, slot: _Slot) -> ProofWorker:
        if slot.warm is None:
            slot.warm = await ProofWorker.start(self._order)
            self._look_at(slot.warm)
        return slot.warm

    async def _serving_clean(self, slot: _Slot) -> ProofWorker:
        if slot.clean is None:
            clean = await ProofWorker.start(await self._order_with_others(slot))
            if clean.threads > 1 or clean.shares:
                await clean.close()
                clean = await ProofWorker.start(self._clean_order())
            slot.clean = clean
        return slot.clean

    async def _serving_seeded(self, slot: _Slot, hash_seed: int) -> ProofWorker:
        if hash_seed not in slot.seeded:
            order = replace(self._clean_order(), hash_seed=hash_seed)
            slot.seeded[hash_seed] = await ProofWorker.start(order)
        return slot.seeded[hash_seed]

    async def _order_with_others(self, slot: _Slot) -> Order:
        """Return an order for a process with the target's dependencies, but not the target."""
        if not (self._roots and self._order.imports):
            return self._clean_order()
        if self._others is None:
            loaded = (await self._serving(slot)).loaded
            self._others = tuple(name for name in loaded if not self._is_own(name))
        return replace(self._clean_order(), imports=self._others, learn=True)

    def _is_own(self, name: str) -> bool:
        return any(f"{name}.".startswith(f"{root}.") for root in self._roots)

    def _look_at(self, process: ProofWorker) -> None:
        notes = [f"{name}: {why}" for name, why in process.failed_imports.items()]
        if process.threads > 1:
            # A fork keeps only one thread; locks held by the others stay locked forever.
            self._threaded = True
            notes.append("importing the target starts threads: every proof gets a new interpreter")
        elif process.shares:
            self._threaded = True
            notes.append("importing the target shares memory: every proof gets a new interpreter")
        self.notes += [note for note in notes if note not in self.notes]

    async def _retire(self, slot: _Slot) -> None:
        processes = (slot.warm, slot.clean, *slot.seeded.values())
        slot.warm, slot.clean, slot.seeded = None, None, {}
        for process in processes:
            if process is not None:
                await process.close()


def _read(proof: str | Path) -> tuple[str, str]:
    if isinstance(proof, str):
        return "test_proof.py", proof
    try:
        return proof.name, read_text(proof, LARGEST_SOURCE)
    except OSError as error:
        raise InputError(f"the proof cannot be read: {error}", where=str(proof)) from None


def _never_ran(tests: dict[str, int]) -> ProofOutcome:
    reason = f"its runner died {_TRIES} times while it ran"
    return ProofOutcome(
        tests=tuple(
            TestOutcome(name, Status.ERROR, line=line, message=reason, objection=reason)
            for name, line in tests.items()
        ),
        objection=reason,
    )
