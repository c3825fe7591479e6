"""A runner that runs the same proof once, for those who ask about many likenesses of a question."""

from __future__ import annotations

import asyncio
from typing import Any

from assay.sandbox import Challenge, ProofOutcome, ProofRunner


class RememberingRunner:
    """Gives the outcome of a proof that it has run before, for as long as it is open.

    Mutants of a question and swapped keys lead to the same few proofs again and again.
    """

    def __init__(self, runner: ProofRunner) -> None:
        self._runner = runner
        self._seen: dict[
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
        """The outcome of a proof; one that comes with more than its text is always run."""
        if more:
            return await self._runner.run(
                proof, fresh=fresh, hash_seed=hash_seed, challenge=challenge, **more
            )
        key = (proof, fresh, hash_seed, challenge)
        if key not in self._seen:
            run = self._runner.run(proof, fresh=fresh, hash_seed=hash_seed, challenge=challenge)
            self._seen[key] = asyncio.ensure_future(run)
        return await asyncio.shield(self._seen[key])

    async def close(self) -> None:
        await self._runner.close()
