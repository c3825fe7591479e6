"""Trying again: which failures pass by themselves, and how long to wait for that."""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from assay.errors import InfrastructureError

ATTEMPTS = 6
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
OVERLOADED = frozenset({429, 503, 529})
# Gemini says it in the body and not in the header.
_DELAY_IN_BODY = re.compile(rb'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')

T = TypeVar("T")


class ModelFailed(InfrastructureError):  # noqa: N818 - the name says what is the case
    """The model gave no answer that can be used: an outage, a refusal or nonsense."""


class Transient(Exception):  # noqa: N818 - the name says what is the case
    """A failure that may pass; `wait` is how long the provider asked to be left alone."""

    def __init__(self, what: str, wait: float | None = None, *, overloaded: bool = False) -> None:
        super().__init__(what)
        self.wait = wait
        self.overloaded = overloaded


def asked_wait(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """The seconds a provider asks to wait, by Retry-After in both its forms or in the body."""
    said = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(said)) if said else _wait_in_body(body)
    except ValueError:
        return _until(said)


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _wait_in_body(body: bytes) -> float | None:
    found = _DELAY_IN_BODY.search(body)
    return float(found[1]) if found else None


def backoff(failures: int) -> float:
    """Twice as long after each failure, with chance in it so that calls do not return together."""
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (failures - 1))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - not for secrets


async def persist(attempt: Callable[[], Awaitable[T]], patience: float, where: str) -> T:
    """What an attempt gives in the end; ModelFailed after six, or when patience has run out.

    Patience is counted from the first failure, so that waiting for a turn costs none of it.
    """
    first_failure: float | None = None
    for failures in range(1, ATTEMPTS + 1):
        try:
            return await attempt()
        except Transient as failure:
            wait = backoff(failures) if failure.wait is None else failure.wait
            now = time.monotonic()
            first_failure = first_failure if first_failure is not None else now
            if failures == ATTEMPTS or now + wait - first_failure > patience:
                raise _given_up(failure, failures, patience, where) from None
        await asyncio.sleep(wait)
    raise AssertionError("the last attempt either returns or raises")


def _given_up(failure: Transient, failures: int, patience: float, where: str) -> ModelFailed:
    times = "once" if failures == 1 else f"{failures} times"
    what = f"{failure} (tried {times})"
    if failure.wait is not None and failure.wait > patience:
        what = f"{failure}, and asks to wait {failure.wait:,.0f} s"
    return ModelFailed(what, where=where, advice="see what works with: assay models check")
