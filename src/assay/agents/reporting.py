"""What all samples of a test say, in lines for a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.results import CaseRecord
from assay.runs import Run


def statistics_lines(run: Run) -> Iterator[str]:
    """For every test of which all samples were taken, what they say about the agent."""
    for record in run.records():
        detail: Any = record.detail
        if isinstance(detail, dict) and "statistics" in detail and detail["taken"] > 1:
            yield from _lines(record, detail)


def _lines(record: CaseRecord, detail: dict[str, Any]) -> Iterator[str]:
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
        yield f"  rate {numbers['rate']:.0%}, 95% interval {low:.0%} to {high:.0%}"
        yield f"  chance that k in a row all pass (pass^k): {chances}"
    yield f"  {detail['lets through']}"
