"""The client: a question to a model, answered from the cache, or asked, checked, paid and kept."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, overload

from pydantic import BaseModel

from assay.errors import BudgetExceeded
from assay.models import wire
from assay.models.budget import Budget
from assay.models.cache import ResponseCache, request_hash
from assay.models.retries import ModelFailed
from assay.models.settings import ModelSettings
from assay.models.structured import (
    MalformedAnswer,
    Message,
    Shape,
    parse,
    response_format,
    sent_back,
    with_shape,
)
from assay.models.usage import CACHED, Usage

T = TypeVar("T")
Tools = list[dict[str, Any]] | None


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What a model answered; `parsed` is the object where a schema was given."""

    text: str
    parsed: T
    tool_calls: tuple[wire.ToolCall, ...]
    usage: Usage


@dataclass(frozen=True)
class _Question:
    """A request, the shape its answer must have, and who asks (for messages)."""

    body: dict[str, Any]
    schema: type[BaseModel] | None
    sample: int
    purpose: str
    redact: Callable[[Any], Any] | None = None


class ModelClient:
    """Asks one model; use it with `async with`.

    The same question asked twice at the same time is sent once. When the budget is spent, what is
    under way is waited for, so that every answer that is paid for is also kept.
    """

    def __init__(
        self,
        settings: ModelSettings,
        *,
        cache: ResponseCache | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.settings = settings
        self.cache = cache
        self.budget = budget or Budget(settings.max_cost, settings.max_tokens)
        # Until the provider refuses a request because of it.
        self.sends_schemas = True
        self._running: dict[str, asyncio.Task[Answer[Any]]] = {}

    @property
    def usage(self) -> Usage:
        """What all questions together used."""
        return self.budget.spent

    async def __aenter__(self) -> Self:
        # httpx takes long to import, and most commands hold no conversation.
        from assay.models.transport import Transport

        self._transport = Transport(self.settings, self.budget)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        running = list(self._running.values())
        if not isinstance(error, BudgetExceeded):
            for task in running:
                task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._transport.close()

    @overload
    async def ask(
        self,
        messages: list[Message],
        *,
        schema: None = None,
        sample: int = 0,
        tools: Tools = None,
        purpose: str = "",
    ) -> Answer[None]: ...

    @overload
    async def ask(
        self,
        messages: list[Message],
        *,
        schema: type[Shape],
        sample: int = 0,
        purpose: str = "",
        redact: Callable[[Shape], Shape] | None = None,
    ) -> Answer[Shape]: ...

    async def ask(
        self,
        messages: list[Message],
        *,
        schema: type[BaseModel] | None = None,
        sample: int = 0,
        tools: Tools = None,
        purpose: str = "",
        redact: Callable[[Any], Any] | None = None,
    ) -> Answer[Any]:
        """The answer to a conversation; every sample of the same one has an answer of its own.

        `redact` makes of an answer what may be written to disk; nobody gets more than that of it.

        Raises ModelFailed (an outage, nonsense), InputError (a wrong key, address or model) or
        BudgetExceeded.
        """
        body: dict[str, Any] = {"model": self.settings.name, "messages": messages}
        if schema is not None:
            body["messages"] = with_shape(messages, schema)
            body["response_format"] = response_format(schema)
        if tools:
            body["tools"] = tools
        return await self._shared(_Question(body, schema, sample, purpose, redact))

    async def _shared(self, question: _Question) -> Answer[Any]:
        name = request_hash(self._request(question), question.sample)
        running = self._running.get(name)
        if running is not None:
            answer = await asyncio.shield(running)
            self._transport.account(CACHED)
            return Answer(answer.text, answer.parsed, answer.tool_calls, CACHED)
        task = self._running[name] = asyncio.create_task(self._answer(question))
        task.add_done_callback(lambda done: self._ended(name, done))
        return await asyncio.shield(task)

    def _ended(self, name: str, task: asyncio.Task[Answer[Any]]) -> None:
        del self._running[name]
        if not task.cancelled():
            # Looked at, because an asker that was cancelled no longer does.
            task.exception()

    def _request(self, question: _Question) -> dict[str, Any]:
        """What an answer is kept under: everything that is sent, and where to."""
        return {"url": self.settings.url, **question.body}

    async def _answer(self, question: _Question) -> Answer[Any]:
        kept = self._kept(question)
        if kept is not None:
            self._transport.account(CACHED)
            return kept
        answer = await self._asked(question)
        if self.cache is not None:
            calls = [call.model_dump() for call in answer.tool_calls]
            told = {"text": answer.text, "tool_calls": calls, "usage": asdict(answer.usage)}
            self.cache.put(self._request(question), question.sample, told)
        return answer

    def _kept(self, question: _Question) -> Answer[Any] | None:
        if self.cache is None:
            return None
        found = self.cache.get(self._request(question), question.sample)
        try:
            calls = tuple(wire.ToolCall.model_validate(call) for call in found["tool_calls"])
            parsed = parse(found["text"], question.schema) if question.schema else None
            return Answer(found["text"], parsed, calls, CACHED)
        except (TypeError, KeyError, ValueError):
            return None

    async def _asked(self, question: _Question) -> Answer[Any]:
        """The answer over HTTP; one of the wrong shape is sent back once."""
        reply, usage = await self._reply(question, [])
        if question.schema is None:
            return Answer(reply.text, None, reply.tool_calls, usage)
        try:
            return self._parsed(reply, question, usage)
        except MalformedAnswer as problem:
            reply, more = await self._reply(question, sent_back(reply.text, problem))
        try:
            return self._parsed(reply, question, usage + more)
        except MalformedAnswer as again:
            what = f"the answer has the wrong shape, also the second time: {again}"
            raise ModelFailed(what, where=self._where(question)) from None

    def _parsed(self, reply: wire.Reply, question: _Question, usage: Usage) -> Answer[Any]:
        assert question.schema is not None
        parsed: BaseModel = parse(reply.text, question.schema)
        if question.redact is None:
            return Answer(reply.text, parsed, (), usage)
        parsed = question.redact(parsed)
        return Answer(parsed.model_dump_json(), parsed, (), usage)

    async def _reply(self, question: _Question, more: list[Message]) -> tuple[wire.Reply, Usage]:
        body = {**question.body, "messages": [*question.body["messages"], *more]}
        if not self.sends_schemas:
            body.pop("response_format", None)
        try:
            reply, usage = await self._transport.send(body, self._where(question))
        except wire.Refused:
            if "response_format" not in body:
                raise
            # Some providers know no schemas; the shape is in the messages too.
            del body["response_format"]
            reply, usage = await self._transport.send(body, self._where(question))
            self.sends_schemas = False
        if reply.is_cut_off:
            raise ModelFailed("the answer was cut off at a limit", where=self._where(question))
        return reply, usage

    def _where(self, question: _Question) -> str:
        return (
            f"{question.purpose}: {self.settings.name}" if question.purpose else self.settings.name
        )
