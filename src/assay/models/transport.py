"""Sends requests to a provider with concurrency limits, retries and a budget."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.documents import MEGABYTE, MOST_PARTS, has_too_many_parts
from assay.errors import AssayError, InfrastructureError, InputError
from assay.models.settings import ModelSettings, find_provider_at
from assay.models.usage import REPEATED, Budget, Usage, count_usage, meter_usage, open_meter
from assay.tracebacks import describe, first_problem
from assay.traces import ModelCall, trace_model_call

LONGEST_ANSWER = 16 * MEGABYTE
FIRST_LIMIT = 4.0


class AdaptiveConcurrency:
    """A limit that adapts to the provider; a pause requested for one call applies to all."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = min(FIRST_LIMIT, float(most))
        self._busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._cut_at = 0.0
        self._resume_at = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold a slot for one call."""
        await self._take()
        try:
            # Checked again after a sleep: another call may have been told to wait longer.
            while (left := self._resume_at - time.monotonic()) > 0:
                await asyncio.sleep(left)
            yield
        finally:
            self._busy -= 1
            self._wake()

    def record_success(self) -> None:
        """Allow one more call per round of successful calls."""
        self.limit = min(float(self.most), self.limit + 1 / self.limit)
        self._wake()

    def record_overload(self, started: float, pause: float = 0.0) -> None:
        """Halve the limit, once for all concurrent calls."""
        now = time.monotonic()
        self._resume_at = max(self._resume_at, now + pause)
        if started >= self._cut_at:
            self.limit = max(1.0, self.limit / 2)
            self._cut_at = now

    async def _take(self) -> None:
        while self._busy >= int(self.limit):
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            try:
                await future
            except asyncio.CancelledError:
                # A slot it was already given is passed on.
                self._wake()
                raise
            finally:
                if future in self._waiting:
                    self._waiting.remove(future)
        self._busy += 1

    def _wake(self) -> None:
        for _ in range(int(self.limit) - self._busy):
            if not self._waiting:
                return
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)


ATTEMPTS = 6
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
OVERLOADED = frozenset({429, 503, 529})
# Gemini gives it in the body, not in the header.
_DELAY_IN_BODY = re.compile(rb'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')

T = TypeVar("T")


class ModelFailed(InfrastructureError):  # noqa: N818 - the name says what is the case
    """The model gave no usable answer: an outage, a refusal or an invalid answer."""


class Transient(Exception):  # noqa: N818 - the name says what is the case
    """A failure that may pass; `wait` is the delay requested by the provider."""

    def __init__(self, what: str, wait: float | None = None, *, overloaded: bool = False) -> None:
        super().__init__(what)
        self.wait = wait
        self.overloaded = overloaded


def read_wait(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """Return the seconds a provider asks to wait, by Retry-After or in the body."""
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
    """Return a delay that doubles with each failure, with jitter."""
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (failures - 1))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - not for secrets


async def persist(attempt: Callable[[], Awaitable[T]], patience: float, where: str) -> T:
    """Return the result of an attempt, with retries; raise ModelFailed when patience runs out.

    Patience is counted from the first failure, so waiting for a slot does not use it up.
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
                raise _give_up(failure, failures, patience, where) from None
        meter_usage(REPEATED)
        await asyncio.sleep(wait)
    raise AssertionError("the last attempt either returns or raises")


def _give_up(failure: Transient, failures: int, patience: float, where: str) -> ModelFailed:
    times = "once" if failures == 1 else f"{failures} times"
    what = f"{failure} (tried {times})"
    if failure.wait is not None and failure.wait > patience:
        what = f"{failure}, and asks to wait {failure.wait:,.0f} s"
    return ModelFailed(what, where=where, advice="see what works with: assay models check")


SHOWN_CHARACTERS = 300


class Function(BaseModel):
    """The function of a tool call; its arguments are JSON text that the model wrote."""

    name: str
    arguments: str = "{}"


class ToolCall(BaseModel):
    """A function that the model wants to have called."""

    id: str = ""
    function: Function


class _Message(BaseModel):
    content: str | None = None
    tool_calls: list[ToolCall] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Body(BaseModel):
    model_config = ConfigDict(extra="ignore")

    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None


class Refused(ModelFailed):
    """The provider refuses this request, but may accept a different one."""


@dataclass(frozen=True)
class ModelReply:
    """A reply of a model."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    usage: Any
    is_cut_off: bool


def encode_request(body: dict[str, Any]) -> bytes:
    """Return the bytes of a request, with `?` for lone surrogates, which some refuse."""
    return json.dumps(body, ensure_ascii=False).encode(errors="replace")


def read_reply(content: bytes) -> ModelReply:
    """Return the reply in a body; raise Transient if there is none in it."""
    try:
        body = _Body.model_validate_json(content)
    except ValidationError as error:
        raise Transient(f"the answer is not a chat completion: {first_problem(error)}") from None
    choice = body.choices[0]
    text, calls = choice.message.content or "", tuple(choice.message.tool_calls or ())
    if not text and not calls and choice.finish_reason != "length":
        raise Transient(f"the answer is empty (finish_reason {choice.finish_reason!r})")
    return ModelReply(text, calls, body.usage, choice.finish_reason == "length")


def make_failure(
    status: int, headers: Mapping[str, str], content: bytes, settings: ModelSettings
) -> Transient | AssayError:
    """Return the error for a status other than 200: transient, a mistake or a refusal."""
    reason = f"{status}: {_read_message(content)}"
    if status in TRANSIENT and b"insufficient_quota" not in content:
        return Transient(reason, read_wait(headers, content), overloaded=status in OVERLOADED)
    if status in (401, 403) or (status == 400 and b"API_KEY_INVALID" in content):
        name = settings.key_name
        advice = f"look at the environment variable {name}" if name else "set ASSAY_MODEL_KEY"
        return InputError(f"the key was refused: {reason}", where=settings.url, advice=advice)
    if status == 404 or 300 <= status < 400:
        advice = "look at --model and --model-url; the address often ends in /v1"
        return InputError(
            f"there is no model {settings.name!r}: {reason}", where=settings.url, advice=advice
        )
    return Refused(f"the request was refused with {reason}", where=settings.url)


def _read_message(content: bytes) -> str:
    """Return the message in the body of a failure, in one line."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, list) and body:
        # Gemini puts its errors into a list.
        body = body[0]
    error = body.get("error") if isinstance(body, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    text = message if isinstance(message, str) else content.decode(errors="replace")
    return " ".join(text.split())[:SHOWN_CHARACTERS] or "(no explanation)"


@contextmanager
def trace_call(settings: ModelSettings) -> Iterator[ModelCall]:
    """Trace what happens inside as a call of this model, with how often it was repeated."""
    provider = find_provider_at(settings.url)
    name = _PROVIDERS.get(provider.name, provider.name) if provider else "openai_compatible"
    with (
        open_meter() as meter,
        trace_model_call(
            settings.redact(settings.name), name, settings.url, settings.temperature
        ) as call,
    ):
        try:
            yield call
        finally:
            call.repeated = meter.usage.repeated_calls


# What the conventions of OpenTelemetry call a provider, where that differs.
_PROVIDERS = {"gemini": "gcp.gemini"}


def _name_ending(reply: ModelReply) -> str:
    if reply.is_cut_off:
        return "length"
    return "tool_calls" if reply.tool_calls else "stop"


class Transport:
    """One pooled connection to the chat endpoint of a provider."""

    def __init__(self, settings: ModelSettings, budget: Budget) -> None:
        # httpx is slow to import, and most commands use no model.
        import httpx

        from assay.http_client import refuse_wrong_proxy

        self._settings, self._budget = settings, budget
        self._concurrency = AdaptiveConcurrency(settings.concurrency)
        with refuse_wrong_proxy():
            self._http = httpx.AsyncClient(
                headers={"Authorization": f"Bearer {settings.key}"} if settings.key else {},
                # The whole of a call is limited below: a limit per read lets a slow sender go on.
                timeout=None,  # noqa: S113
                # Reading all certificates takes 0.15 s, for nothing where the address is plain.
                verify=settings.url.startswith("https:"),
                limits=httpx.Limits(max_connections=None),
                # Cookies of one call must not reach the next.
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            )

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, body: dict[str, Any], where: str) -> tuple[ModelReply, Usage]:
        """Return the reply to a request, with its usage, which has been charged by then."""
        content, settings = encode_request(body), self._settings
        with trace_call(settings) as call:
            reply = await persist(lambda: self._call(content), settings.patience, where)
            usage = count_usage(reply.usage, body, reply.text, settings.price)
            call.input_tokens, call.output_tokens = usage.input_tokens, usage.output_tokens
            call.finish_reason = _name_ending(reply)
        self.pay(usage)
        return reply, usage

    def pay(self, usage: Usage) -> None:
        self._budget.spend(usage)
        meter_usage(usage)

    async def _call(self, content: bytes) -> ModelReply:
        async with self._concurrency.slot():
            # Not earlier: others may have spent while this one waited.
            self._budget.check()
            started = time.monotonic()
            try:
                reply = await self._post(content)
            except Transient as failure:
                if failure.overloaded:
                    # If a provider requests too long a wait, the call fails instead of blocking
                    # all.
                    wait = failure.wait or 0.0
                    patient = wait <= self._settings.patience
                    self._concurrency.record_overload(started, wait if patient else 0.0)
                raise
            self._concurrency.record_success()
            return reply

    async def _post(self, content: bytes) -> ModelReply:
        import httpx

        from assay.http_client import ACCEPTED, BodyTooLongError, read_body

        settings = self._settings
        try:
            async with asyncio.timeout(settings.timeout):
                async with self._http.stream(
                    "POST",
                    f"{settings.url}/chat/completions",
                    content=content,
                    headers={"Content-Type": "application/json", "Accept-Encoding": ACCEPTED},
                ) as response:
                    pieces = [piece async for piece in read_body(response, LONGEST_ANSWER)]
        except TimeoutError:
            told = f"no answer from {settings.url} within {settings.timeout:g} s"
            raise Transient(told, overloaded=True) from None
        except httpx.HTTPError as error:
            told = settings.redact(describe(error))
            raise Transient(f"{settings.url} cannot be reached: {told}") from None
        except BodyTooLongError:
            told = f"the answer of {settings.url} is longer than {LONGEST_ANSWER:,} bytes"
            raise Transient(told) from None
        received = b"".join(pieces)
        if has_too_many_parts(received):
            raise Transient(f"the answer of {settings.url} has more than {MOST_PARTS:,} parts")
        answer = settings.redact(received)
        if response.status_code != httpx.codes.OK:
            raise make_failure(response.status_code, response.headers, answer, settings)
        return read_reply(answer)
