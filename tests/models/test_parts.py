"""The parts that others use without the client: cache, budget, usage, waiting, concurrency."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BudgetExceeded, InfrastructureError
from assay.models import Budget, Meter, ResponseCache, Usage, meter_usage, open_meter
from assay.models.client import request_hash
from assay.models.transport import (
    FIRST_WAIT,
    LONGEST_WAIT,
    AdaptiveConcurrency,
    backoff,
    read_wait,
)
from tests.waiting import PATIENCE

pytestmark = pytest.mark.anyio

requests = st.dictionaries(st.sampled_from("ab"), st.sampled_from(["", "a", "1"]))
amounts = st.integers(0, 10**9)
usages = st.builds(Usage, amounts, amounts, amounts, amounts, st.none() | st.just(0.5))


def test_the_cache_keeps_by_request_and_sample(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put({"model": "m", "n": 1}, 0, {"text": "ü\ud800", "score": 0.5})
    assert cache.get({"n": 1, "model": "m"}, 0) == {"text": "ü\ud800", "score": 0.5}
    assert cache.get({"n": 1, "model": "m"}, 1) is None
    assert cache.get({"n": 1.5, "model": "m"}, 0) is None


def test_a_spoiled_entry_is_asked_for_again(tmp_path: Path) -> None:
    cache = ResponseCache(tmp_path)
    cache.put("request", 0, "answer")
    [path] = tmp_path.rglob("*.json")
    path.write_bytes(b'{"tex')
    assert cache.get("request", 0) is None
    cache.put("request", 0, "again")
    assert cache.get("request", 0) == "again"


def test_a_cache_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="ASSAY_CACHE"):
        ResponseCache(tmp_path / "file").put("request", 0, "answer")


def test_the_cache_is_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    assert ResponseCache().folder == tmp_path / "answers"


@given(requests, requests)
def test_different_requests_have_different_names(
    one: dict[str, str], other: dict[str, str]
) -> None:
    assert (request_hash(one, 0) == request_hash(other, 0)) == (one == other)
    assert request_hash(one, 0) != request_hash(one, 1)


@given(usages, usages, usages)
def test_usage_adds_up_in_any_order(one: Usage, two: Usage, three: Usage) -> None:
    assert (one + two) + three == one + (two + three)
    assert one + two == two + one
    assert one + Usage() == one


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(0, 300))
def test_nothing_is_spent_after_the_limit(calls: list[int], limit: int) -> None:
    budget, before = Budget(max_tokens=limit), 0
    for tokens in calls:
        try:
            budget.check()
        except BudgetExceeded:
            assert budget.spent.tokens >= limit
            break
        before = budget.spent.tokens
        budget.spend(Usage(calls=1, output_tokens=tokens))
    assert before < limit or before == 0


def test_a_call_of_unknown_price_ends_a_limit_on_cost() -> None:
    budget = Budget(max_cost=1.0)
    budget.check()
    budget.spend(Usage(calls=1, cost=None))
    with pytest.raises(BudgetExceeded, match="an unknown part of the 1 US dollars"):
        budget.check()


def test_meters_are_nested_and_count_only_while_open() -> None:
    with open_meter() as outer:
        meter_usage(Usage(calls=1))
        with open_meter() as inner:
            meter_usage(Usage(calls=2))
        meter_usage(Usage(calls=4))
    meter_usage(Usage(calls=8))
    assert (outer.usage.calls, inner.usage.calls) == (7, 2)
    assert Meter().usage == Usage()


def test_what_a_provider_asks_to_wait_is_understood() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=30)
    assert read_wait({}) is None
    assert read_wait({"retry-after": "7"}) == 7.0
    assert read_wait({"retry-after": "0.5"}) == 0.5
    assert read_wait({"retry-after": "-1"}) == 0.0
    assert 28 <= (read_wait({"retry-after": format_datetime(soon)}) or 0) <= 30
    assert read_wait({"retry-after": "Mon, 01 Jan 2024 00:00:00 GMT"}) == 0.0
    assert read_wait({"retry-after": "soon"}) is None
    assert read_wait({}, b'[{"error": {"details": [{"retryDelay": "34.5s"}]}}]') == 34.5


@given(st.integers(1, 100))
def test_pauses_grow_and_stay_bounded(failures: int) -> None:
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failures - 1))
    assert longest / 2 <= backoff(failures) <= longest


async def test_calls_under_way_together_halve_the_limit_once() -> None:
    concurrency = AdaptiveConcurrency(16)
    for _ in range(200):
        concurrency.record_success()
    assert concurrency.limit == 16
    started = time.monotonic()
    for _ in range(5):
        concurrency.record_overload(started)
    assert concurrency.limit == 8
    for _ in range(20):
        concurrency.record_overload(time.monotonic())
    assert concurrency.limit == 1


async def test_a_turn_given_to_one_that_was_cancelled_goes_to_the_next() -> None:
    concurrency = AdaptiveConcurrency(1)
    entered: list[int] = []

    async def call(number: int, hold: asyncio.Event) -> None:
        async with concurrency.slot():
            entered.append(number)
            await hold.wait()

    hold = asyncio.Event()
    async with concurrency.slot():
        tasks = [asyncio.create_task(call(number, hold)) for number in (1, 2, 3)]
        await asyncio.sleep(0)
    # The turn has just been given to the first, which gives up before it can take it.
    tasks[0].cancel()
    hold.set()
    await asyncio.wait_for(asyncio.gather(*tasks[1:]), PATIENCE)
    assert entered == [2, 3]
