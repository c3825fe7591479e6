"""The model client: answers from the cache, or calls the model, validates and stores the answer."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeVar, overload

from pydantic import BaseModel, ConfigDict, ValidationError

from assay.documents import UnreadableFileError, read_record
from assay.errors import BudgetExceeded
from assay.model import compute_fingerprint, decode_value, encode_value
from assay.models.settings import ModelSettings
from assay.models.transport import ModelFailed, ModelReply, Refused, ToolCall, Transport
from assay.models.usage import CACHED, Budget, Usage
from assay.sandbox import cache_folder, write_whole
from assay.tracebacks import first_problem

KIND = "answers"
# Increased when the format of stored answers changes.
_VERSION = 1


class ResponseCache:
    """Answers by request and sample, one small file each; safe for several processes."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or cache_folder() / KIND

    def get(self, request: Any, sample: int = 0) -> Any:
        """Return the stored JSON value of a request, or None."""
        try:
            return decode_value(read_record(self._path(request, sample)))
        except (OSError, ValueError, UnreadableFileError):
            # An unreadable entry counts as absent: the request is repeated and stored again.
            return None

    def put(self, request: Any, sample: int, response: Any) -> None:
        """Store a JSON value for a request; only its owner may read the file."""
        write_whole(self._path(request, sample), encode_value(response))

    def remove(self, request: Any, sample: int) -> None:
        """Forget the answer to a request, if there is one."""
        self._path(request, sample).unlink(missing_ok=True)

    def _path(self, request: Any, sample: int) -> Path:
        name = request_hash(request, sample)
        return self.folder / name[:2] / f"{name}.json"


def request_hash(request: Any, sample: int) -> str:
    """Return the cache key of a request, independent of the order of keys."""
    return compute_fingerprint(_VERSION, request, sample)


Shape = TypeVar("Shape", bound=BaseModel)
Message = dict[str, Any]

_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)


class MalformedAnswer(ValueError):  # noqa: N818 - the name says what is the case
    """An answer does not match the requested schema."""


def response_format(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the parameter with which supporting providers enforce a schema."""
    return {
        "type": "json_schema",
        "json_schema": {
            "name": schema.__name__,
            "schema": schema.model_json_schema(),
            "strict": True,
        },
    }


def add_shape(messages: list[Message], schema: type[BaseModel]) -> list[Message]:
    """Return the messages with the schema in the system message, for providers that ignore it."""
    instruction = (
        "Answer with exactly one JSON object that satisfies this JSON Schema, and with nothing "
        f"before or after it:\n{json.dumps(schema.model_json_schema())}"
    )
    if messages and messages[0]["role"] == "system":
        first = {**messages[0], "content": f"{messages[0]['content']}\n\n{instruction}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": instruction}, *messages]


def parse(text: str, schema: type[Shape]) -> Shape:
    """Return the object in an answer.

    The answer must consist of the object alone, plain or in one code fence. An object within prose
    may be a quotation of what somebody else wants the answer to be.
    """
    bare = _THOUGHTS.sub("", text).strip()
    fenced = _FENCED.match(bare)
    try:
        return schema.model_validate_json(fenced[1] if fenced else bare)
    except ValidationError as error:
        raise MalformedAnswer(first_problem(error)) from None


def make_correction(text: str, problem: MalformedAnswer) -> list[Message]:
    """Return the messages that send a malformed answer back to the model."""
    request = f"That is not the JSON object that was asked for ({problem}). Answer with it alone."
    return [{"role": "assistant", "content": text}, {"role": "user", "content": request}]


T = TypeVar("T")
Tools = list[dict[str, Any]] | None


@dataclass(frozen=True)
class ModelAnswer(Generic[T]):
    """An answer of a model; `parsed` is the object if a schema was given."""

    text: str
    parsed: T
    tool_calls: tuple[ToolCall, ...]
    usage: Usage


@dataclass(frozen=True)
class _Question:
    """A request, the schema of its answer, and who asks (for messages)."""

    body: dict[str, Any]
    schema: type[BaseModel] | None
    sample: int
    purpose: str
    redact: Callable[[Any], Any] | None = None


class ModelClient:
    """A client for one model; use it with `async with`.

    Identical concurrent requests are sent once. When the budget is spent, running requests are
    awaited, so that every paid answer is also stored.
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
        self._running: dict[str, asyncio.Task[ModelAnswer[Any]]] = {}

    @property
    def usage(self) -> Usage:
        """The total usage of all requests."""
        return self.budget.spent

    async def __aenter__(self) -> Self:
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
    ) -> ModelAnswer[None]: ...

    @overload
    async def ask(
        self,
        messages: list[Message],
        *,
        schema: type[Shape],
        sample: int = 0,
        purpose: str = "",
        redact: Callable[[Shape], Shape] | None = None,
    ) -> ModelAnswer[Shape]: ...

    async def ask(
        self,
        messages: list[Message],
        *,
        schema: type[BaseModel] | None = None,
        sample: int = 0,
        tools: Tools = None,
        purpose: str = "",
        redact: Callable[[Any], Any] | None = None,
    ) -> ModelAnswer[Any]:
        """Return the answer to a conversation; every sample has its own answer.

        `redact` turns an answer into what may be written to disk; callers only get the redacted
        answer.

        Raises ModelFailed (an outage, an invalid answer), InputError (a wrong key, address or
        model) or BudgetExceeded.
        """
        body: dict[str, Any] = {"model": self.settings.name, "messages": messages}
        if self.settings.temperature is not None:
            body["temperature"] = self.settings.temperature
        if self.settings.effort is not None:
            body["reasoning_effort"] = self.settings.effort
        if schema is not None:
            body["messages"] = add_shape(messages, schema)
            body["response_format"] = response_format(schema)
        if tools:
            body["tools"] = tools
        return await self._share(_Question(body, schema, sample, purpose, redact))

    async def _share(self, question: _Question) -> ModelAnswer[Any]:
        name = request_hash(self._describe_request(question), question.sample)
        running = self._running.get(name)
        if running is not None:
            answer = await asyncio.shield(running)
            self._transport.pay(CACHED)
            return ModelAnswer(answer.text, answer.parsed, answer.tool_calls, CACHED)
        task = self._running[name] = asyncio.create_task(self._answer(question))
        task.add_done_callback(lambda done: self._forget(name, done))
        return await asyncio.shield(task)

    def _forget(self, name: str, task: asyncio.Task[ModelAnswer[Any]]) -> None:
        del self._running[name]
        if not task.cancelled():
            # Retrieved here, because a cancelled caller no longer does.
            task.exception()

    def _describe_request(self, question: _Question) -> dict[str, Any]:
        """Return the cache identity of a request: everything that is sent, and where to."""
        return {"url": self.settings.url, **question.body}

    async def _answer(self, question: _Question) -> ModelAnswer[Any]:
        kept = self._read_cache(question)
        if kept is not None:
            self._transport.pay(CACHED)
            return kept
        answer = await self._ask_model(question)
        if self.cache is not None:
            calls = [call.model_dump() for call in answer.tool_calls]
            stored = {"text": answer.text, "tool_calls": calls, "usage": asdict(answer.usage)}
            self.cache.put(self._describe_request(question), question.sample, stored)
        return answer

    def _read_cache(self, question: _Question) -> ModelAnswer[Any] | None:
        if self.cache is None or self.settings.refresh:
            return None
        found = self.cache.get(self._describe_request(question), question.sample)
        try:
            calls = tuple(ToolCall.model_validate(call) for call in found["tool_calls"])
            parsed = parse(found["text"], question.schema) if question.schema else None
            return ModelAnswer(found["text"], parsed, calls, CACHED)
        except (TypeError, KeyError, ValueError):
            return None

    async def _ask_model(self, question: _Question) -> ModelAnswer[Any]:
        """Return the answer over HTTP; a malformed one is sent back once."""
        reply, usage = await self._reply(question, [])
        if question.schema is None:
            return ModelAnswer(reply.text, None, reply.tool_calls, usage)
        try:
            return self._make_answer(reply, question, usage)
        except MalformedAnswer as problem:
            reply, more = await self._reply(question, make_correction(reply.text, problem))
        try:
            return self._make_answer(reply, question, usage + more)
        except MalformedAnswer as again:
            what = f"the answer has the wrong shape, also the second time: {again}"
            raise ModelFailed(what, where=self._where(question)) from None

    def _make_answer(
        self, reply: ModelReply, question: _Question, usage: Usage
    ) -> ModelAnswer[Any]:
        assert question.schema is not None
        parsed: BaseModel = parse(reply.text, question.schema)
        if question.redact is None:
            return ModelAnswer(reply.text, parsed, (), usage)
        parsed = question.redact(parsed)
        return ModelAnswer(parsed.model_dump_json(), parsed, (), usage)

    async def _reply(self, question: _Question, more: list[Message]) -> tuple[ModelReply, Usage]:
        body = {**question.body, "messages": [*question.body["messages"], *more]}
        if not self.sends_schemas:
            body.pop("response_format", None)
        try:
            reply, usage = await self._transport.send(body, self._where(question))
        except Refused:
            if "response_format" not in body:
                raise
            # Some providers do not support schemas; the schema is in the messages too.
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


class Sign(BaseModel):
    """The smallest answer that has a shape."""

    model_config = ConfigDict(extra="forbid")

    sign: Literal["alive"]


async def check_access(settings: ModelSettings) -> list[tuple[str, str]]:
    """Return what works, as pairs of a word and a text; raise the errors of a call."""
    asked = [{"role": "user", "content": 'Give the sign "alive".'}]
    clock = time.monotonic()
    # Without the cache, to check whether the model answers now.
    async with ModelClient(settings) as client:
        answer = await client.ask(asked, schema=Sign, purpose="check")
    return list(_describe_access(client, answer, time.monotonic() - clock))


def _describe_access(
    client: ModelClient, answer: ModelAnswer[Sign], seconds: float
) -> Iterator[tuple[str, str]]:
    settings, used = client.settings, answer.usage
    yield "model", f"{settings.name} at {settings.url}"
    yield "key", f"from {settings.key_name}" if settings.key_name else "none sent"
    yield "answer", f"in {seconds:.1f} s"
    if not client.sends_schemas:
        yield "schema", "refused by the provider; the prompt describes it, and answers are checked"
    elif used.calls > 1:
        yield "schema", "ignored at first; such an answer is sent back once"
    else:
        yield "schema", "followed"
    cost = "of unknown price" if used.cost is None else f"for {used.cost:.6f} US dollars"
    yield "usage", f"{used.input_tokens} + {used.output_tokens} tokens {cost}"
