"""What all samples of a test say, in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.agents.records import repeated_requests
from assay.model import CaseRecord
from assay.runs import Run


def statistics_lines(run: Run) -> Iterator[str]:
    """Say what the samples of every test say about the agent, and which requests were repeated.

    A rate is given only where all samples were taken, repeated requests always.
    """
    for record in run.records():
        detail: Any = record.detail
        if not isinstance(detail, dict):
            continue
        repeated = repeated_requests(record.reports)
        if "statistics" in detail and detail["taken"] > 1:
            yield from _lines(record, detail, repeated)
        elif repeated:
            yield from (record.id, f"  {repeated}")


def _lines(record: CaseRecord, detail: dict[str, Any], repeated: str) -> Iterator[str]:
    numbers = detail["statistics"]
    yield record.id
    counts = [
        (numbers["passes"], "passed"),
        (numbers["failures"], "failed"),
        (numbers["unverified"], "unverified"),
        (numbers["errors"], "errors"),
    ]
    told = ", ".join(f"{count} {word}" for count, word in counts if count or word == "passed")
    yield f"  {detail['taken']} samples: {told}"
    if numbers["rate"] is not None:
        low, high = numbers["interval"]
        chances = ", ".join(f"{size}: {chance:.0%}" for size, chance in numbers["all_of"].items())
        rate = f"  rate {numbers['rate']:.0%}, 95% interval {low:.0%} to {high:.0%}"
        yield f"{rate}; {repeated}" if repeated else rate
        yield f"  chance that k in a row all pass (pass^k): {chances}"
    elif repeated:
        yield f"  {repeated}"
    yield f"  {detail['lets through']}"
