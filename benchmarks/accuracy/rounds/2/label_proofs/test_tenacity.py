import asyncio
import importlib.metadata
import inspect
import pathlib
import sys
from types import SimpleNamespace

import pytest
import tenacity
from tenacity import *  # noqa: F403
from tenacity import (
    RetryCallState, Retrying, RetryError, TryAgain, retry, retry_if_exception, retry_if_exception_type,
    retry_if_not_result, retry_if_result, retry_never, stop_after_attempt, stop_after_delay, stop_all, stop_any,
    stop_before_delay, wait_exponential_jitter, wait_random, wait_random_exponential,
)

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "suites"))
import tenacity_snippets as snippets


def test_version():
    assert importlib.metadata.version("tenacity") == "9.2.1"


def test_bare_retry():
    parameters = inspect.signature(tenacity.BaseRetrying.__init__).parameters
    assert parameters["stop"].default is tenacity.stop_never
    assert type(parameters["wait"].default) is tenacity.wait_none

    class Enough(BaseException):
        pass

    calls = 0

    @retry
    def fails():
        nonlocal calls
        calls += 1
        if calls > 500:
            raise Enough  # not an Exception: ends the loop of the test
        raise ValueError

    with pytest.raises(Enough):
        fails()
    assert calls == 501 and fails.statistics["idle_for"] == 0  # A: not 3 (B), no pause (C), not once (D)


def test_attempts_used_up():
    @retry(stop=stop_after_attempt(3))
    def flaky():
        raise ValueError("boom")

    with pytest.raises(Exception) as caught:
        flaky()
    assert type(caught.value) is RetryError  # C
    assert not isinstance(caught.value, (ValueError, TryAgain, TimeoutError))


def test_async_attempts():
    assert asyncio.run(snippets.main()) == 3  # B, no other


def test_exponential_schedule():
    assert snippets.schedule() == [4, 4, 4, 8, 10]  # C, no other


def test_full_jitter():
    assert tenacity.wait_full_jitter is wait_random_exponential  # B and C
    state = SimpleNamespace(attempt_number=4)
    draws = [wait_random_exponential()(state) for _ in range(2000)]
    assert 0 <= min(draws) < 1 and 7 < max(draws) <= 8
    late = [wait_exponential_jitter()(state) for _ in range(500)]
    assert min(late) >= 8  # A: the exponential part is fixed, only a small jitter is added
    assert max(wait_random()(state) for _ in range(500)) <= 1  # D: does not grow


def test_whichever_comes_first():
    def stops(stop):
        cases = [(5, 1), (2, 11), (5, 11), (2, 1)]
        return [bool(stop(SimpleNamespace(attempt_number=n, seconds_since_start=s))) for n, s in cases]

    wanted = [True, True, True, False]
    assert stops(stop_after_attempt(5) | stop_after_delay(10)) == wanted  # A
    assert stops(stop_any(stop_after_attempt(5), stop_after_delay(10))) == wanted  # C
    assert stops(stop_after_attempt(5) & stop_after_delay(10)) != wanted  # not B
    assert stops(stop_all(stop_after_attempt(5), stop_after_delay(10))) != wanted  # not D


def test_explicit_retry():
    def calls_when_raising(exc):
        calls = 0

        def fn():
            nonlocal calls
            calls += 1
            if calls == 1:
                raise exc
            return "ok"

        try:
            Retrying(retry=retry_never, stop=stop_after_attempt(3))(fn)
        except Exception:
            pass
        return calls

    assert calls_when_raising(TryAgain()) == 2  # B
    assert calls_when_raising(RetryError(tenacity.Future(1))) == 1  # not A
    assert not issubclass(tenacity.DoAttempt, BaseException)  # not C
    assert not issubclass(tenacity.RetryAction, BaseException)  # not D


def test_switch_off():
    calls = []

    @retry(enabled=False)
    def fails():
        calls.append(1)
        raise ValueError

    with pytest.raises(ValueError):
        fails()
    assert len(calls) == 1  # C
    for name in ("active", "retrying"):
        with pytest.raises(TypeError):
            retry(**{name: False})(lambda: None)  # not A, D
    again = []

    @retry(reraise=False, stop=stop_after_attempt(3))
    def fails_too():
        again.append(1)
        raise ValueError

    with pytest.raises(RetryError):
        fails_too()
    assert len(again) == 3  # not B


def test_import_async_retrying():
    from tenacity.asyncio import AsyncRetrying  # C

    assert AsyncRetrying is tenacity.AsyncRetrying
    for module in ("_asyncio", "aio", "async_retrying"):
        with pytest.raises(ImportError):
            importlib.import_module(f"tenacity.{module}")  # not A, B, D


def test_retry_on_none():
    def run(condition):
        results = iter([None, None, 7, 8, 9, None, 10])
        try:
            return Retrying(retry=condition, stop=stop_after_attempt(5))(lambda: next(results))
        except RetryError:
            return "gave up"

    assert run(retry_if_result(lambda r: r is None)) == 7  # B
    assert run(retry_if_exception(lambda e: e is None)) is None  # not A
    assert run(retry_if_not_result(lambda r: r is None)) is None  # not C
    assert run(retry_if_exception_type()) is None  # not D


def test_before_or_after_delay():
    def state(since, sleep):
        return SimpleNamespace(seconds_since_start=since, upcoming_sleep=sleep)

    assert stop_before_delay(30)(state(25, 10)) and not stop_after_delay(30)(state(25, 10))  # A
    assert not stop_before_delay(30)(state(25, 1)) and stop_after_delay(30)(state(31, 0))
    assert stop_before_delay is not stop_after_delay  # not D

    import time

    def slow():
        time.sleep(0.2)
        return 1

    # not B: a running attempt is not interrupted
    assert Retrying(stop=stop_before_delay(0.05))(slow) == 1

    # not C: the time is measured from the first attempt, whichever attempt is running
    call = RetryCallState(Retrying(), fn=None, args=(), kwargs={})
    call.set_result(None)
    call.prepare_for_next_attempt()
    call.set_result(None)
    call.outcome_timestamp = call.start_time + 31
    assert call.attempt_number == 2 and call.seconds_since_start == pytest.approx(31)
    assert stop_before_delay(30)(call) and stop_after_delay(30)(call)


def test_callback_on_giving_up():
    for cls in (tenacity.BaseRetrying, tenacity.Retrying):
        assert "retry_error_callback" in inspect.signature(cls.__init__).parameters

    def fails():
        raise ValueError

    assert Retrying(stop=stop_after_attempt(2), retry_error_callback=lambda state: "gone")(fails) == "gone"


def test_callback_argument():
    seen = []
    results = iter([None, 1])
    Retrying(retry=retry_if_result(lambda r: r is None), before=seen.append, after=seen.append, before_sleep=seen.append)(
        lambda: next(results)
    )
    assert seen and {type(s) for s in seen} == {RetryCallState} == {tenacity.RetryCallState}
