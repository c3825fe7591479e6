"""Runs the steps of a pickled plan in this process and prints what came of them.

Started by test_elsewhere.py; reads the pickle from the file that it is given.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import sys
from pathlib import Path
from typing import Any

from assay.runs import Chain, Plan, Unit


class _NoParts:
    """Nothing was finished before, and nothing is kept."""

    def get(self, key: str) -> Any:
        return None

    def keep(self, key: str, value: Any) -> None: ...


async def run(plan: Plan, steps: list[Unit | Chain]) -> list[Any]:
    """Return the id, outcome, code and fingerprint of every record."""
    found = []
    async with plan.open_worker(Path("nowhere"), None) as worker:
        for step in steps:
            if isinstance(step, Chain):
                async for _, record in worker.follow(step):  # type: ignore[attr-defined]
                    found.append(record)
            else:
                found.append(await worker.run(step, _NoParts()))  # type: ignore[arg-type]
    packed = [one.pack() for one in found]
    return [[one[name] for name in ("id", "outcome", "code", "fingerprint")] for one in packed]


if __name__ == "__main__":
    plan, steps = pickle.loads(Path(sys.argv[1]).read_bytes())
    print(json.dumps(asyncio.run(run(plan, steps))))
