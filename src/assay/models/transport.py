"""Requests on their way to a provider: limited, tried again, and paid from a budget."""

from __future__ import annotations

import asyncio
import time
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx

from assay.documents import MEGABYTE, MOST_PARTS, has_too_many_parts
from assay.http_client import ACCEPTED, BodyTooLongError, read_body, refuse_wrong_proxy
from assay.models import wire
from assay.models.budget import Budget
from assay.models.concurrency import AdaptiveConcurrency
from assay.models.retries import Transient, persist
from assay.models.settings import ModelSettings
from assay.models.usage import Usage, meter_usage, usage_of
from assay.tracebacks import describe

LONGEST_ANSWER = 16 * MEGABYTE


class Transport:
    """One pooled connection to the chat endpoint of a provider."""

    def __init__(self, settings: ModelSettings, budget: Budget) -> None:
        self._settings = settings
        self._budget = budget
        self._concurrency = AdaptiveConcurrency(settings.concurrency)
        with refuse_wrong_proxy():
            self._http = httpx.AsyncClient(
                headers={"Authorization": f"Bearer {settings.key}"} if settings.key else {},
                # The whole of a call is limited below: a limit per read lets a slow sender go on.
                timeout=None,  # noqa: S113
                # Reading all certificates takes 0.15 s, for nothing where the address is plain.
                verify=settings.url.startswith("https:"),
                limits=httpx.Limits(max_connections=None),
                # What a server remembers of one call must not reach the next.
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            )

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, body: dict[str, Any], where: str) -> tuple[wire.Reply, Usage]:
        """The reply to a request, with what it used; it is paid for when this returns."""
        content = wire.encode_request(body)
        reply = await persist(lambda: self._call(content), self._settings.patience, where)
        usage = usage_of(reply.usage, body, reply.text, self._settings.price)
        self.account(usage)
        return reply, usage

    def account(self, usage: Usage) -> None:
        self._budget.spend(usage)
        meter_usage(usage)

    async def _call(self, content: bytes) -> wire.Reply:
        async with self._concurrency.slot():
            # Here and not earlier: many may have waited for their turn since.
            self._budget.check()
            started = time.monotonic()
            try:
                reply = await self._post(content)
            except Transient as failure:
                if failure.overloaded:
                    # A provider that asks for too long is given up on, not waited for by all.
                    wait = failure.wait or 0.0
                    patient = wait <= self._settings.patience
                    self._concurrency.overloaded(started, wait if patient else 0.0)
                raise
            self._concurrency.succeeded()
            return reply

    async def _post(self, content: bytes) -> wire.Reply:
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
            raise wire.failure(response.status_code, response.headers, answer, settings)
        return wire.read_reply(answer)
