"""Makes the spans of a run: ids, names and attributes, but no text that was said or produced."""

from __future__ import annotations

import contextlib
import math
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from assay.model import count_samples

if TYPE_CHECKING:
    from assay.traces.pipe import TracePipe

_SECOND = 1_000_000_000
_INTERNAL, _CLIENT = "internal", "client"
_STATUSES = {"passed": "pass", "failed": "fail"}
# Names of amounts in a record, and what the conventions call them.
_USAGE = {
    "input tokens": "gen_ai.usage.input_tokens",
    "output tokens": "gen_ai.usage.output_tokens",
    "calls": "assay.model.calls",
    "cached calls": "assay.model.cached_calls",
    "repeated calls": "assay.model.repeated_calls",
    "US dollars": "assay.model.cost",
}


@dataclass
class _Run:
    """The run whose cases are traced now; it is the root of its trace."""

    subject: str
    title: str
    ended: Counter[str] = field(default_factory=Counter)
    """How many cases ended with each outcome."""
    trace: str = field(default_factory=lambda: secrets.token_hex(16))
    span: str = field(default_factory=lambda: secrets.token_hex(8))

    def name_case(self, identifier: str) -> str:
        """Return the id of the span of a case, which a call of a model needs before it exists."""
        text = f"{self.trace} {identifier}".encode("utf-8", "backslashreplace")
        return blake2b(text, digest_size=8).hexdigest()


_pipe: TracePipe | None = None
_run: _Run | None = None
_case: ContextVar[str | None] = ContextVar("assay_traced_case", default=None)


def is_tracing() -> bool:
    """Return whether spans are wanted now."""
    return _pipe is not None and _run is not None


@contextlib.contextmanager
def export_traces() -> Iterator[None]:
    """Send the runs that are made inside as spans to an OpenTelemetry collector.

    Where to is configured as everywhere, by OTEL_EXPORTER_OTLP_ENDPOINT and its neighbours. Needs
    the extra `assaykit[otel]`.
    """
    global _pipe
    if _pipe is not None:
        yield
        return
    from assay.traces.pipe import TracePipe

    with TracePipe() as pipe:
        _pipe = pipe
        try:
            yield
        finally:
            _pipe = None


@contextlib.contextmanager
def trace_run(name: str, subject: str, title: str) -> Iterator[None]:
    """Trace what happens inside as a run; its span is sent when it ends."""
    global _run
    if _pipe is None or _run is not None:
        yield
        return
    _run = run = _Run(subject, title)
    start, pipe, error = time.time_ns(), _pipe, None
    try:
        yield
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        _run = None
        about: dict[str, Any] = {
            "assay.run.name": name,
            "assay.subject": subject,
            "test.suite.name": title,
        }
        about |= {f"assay.cases.{outcome}": number for outcome, number in run.ended.items()}
        span = _make_span(run.trace, run.span, "", f"assay {subject}", start, time.time_ns())
        pipe.send(_finish_span(span, about, error))


@contextlib.contextmanager
def enter_case(identifier: str) -> Iterator[None]:
    """Let calls of models inside belong to a case."""
    if not is_tracing():
        yield
        return
    token = _case.set(identifier)
    try:
        yield
    finally:
        _case.reset(token)


def trace_case(record: Mapping[str, Any]) -> None:
    """Send the spans of a case that has just ended, given its record in the journal's form."""
    if _pipe is None or _run is None:
        return
    end = time.time_ns()
    start = end - int(record["duration"] * _SECOND)
    own = _run.name_case(record["id"])
    outcome = record["outcome"]
    _run.ended[outcome] += 1
    span = _make_span(_run.trace, own, _run.span, "case", start, end)
    _pipe.send(_finish_span(span, _describe_case(record, _run), _find_error(outcome)))
    reports = record["reports"]
    if len(reports) > 1 or (reports and "sample" in reports[0]["case"]):
        for number, report in enumerate(reports, start=1):
            _pipe.send(_make_sample(_run, own, number, report))


def _describe_case(record: Mapping[str, Any], run: _Run) -> dict[str, Any]:
    samples = count_samples(record)
    about: dict[str, Any] = {
        "test.suite.name": run.title,
        "test.case.name": record["id"],
        "assay.subject": run.subject,
        "assay.outcome": record["outcome"],
        "assay.code": record["code"],
        "assay.score": float(record["score"]),
        "assay.samples": samples.taken,
        "assay.samples.passed": samples.passed,
    }
    if samples.repeated:
        about["assay.repeated_requests"] = samples.repeated
    if (status := _STATUSES.get(record["outcome"])) is not None:
        about["test.case.result.status"] = status
    for name, amount in record["usage"].items():
        if (key := _USAGE.get(name)) is not None and math.isfinite(amount):
            about[key] = float(amount) if name == "US dollars" else int(amount)
    return about


def _make_sample(run: _Run, case: str, number: int, report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the span of one report of a case; of an agent it is an invocation."""
    end = _moment(report["timestamp"])
    start = end - int(max(0.0, report["duration"]) * _SECOND)
    sample: dict[str, Any] = {
        "assay.sample": number,
        "assay.outcome": report["outcome"],
        "gen_ai.evaluation.name": "assay",
        "gen_ai.evaluation.score.value": float(report["score"]),
        "gen_ai.evaluation.score.label": report["outcome"],
    }
    about, name, kind = report["case"], "sample", _INTERNAL
    if isinstance(agent := about.get("agent"), str) and "connection" in about:
        name, kind = f"invoke_agent {agent}", _CLIENT
        sample |= {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": str(about["connection"]),
            "gen_ai.agent.name": agent,
            "gen_ai.conversation.id": report["id"],
        }
        for key in ("requests", "repeated"):
            if isinstance(count := about.get(key), int):
                sample[f"assay.{key}"] = count
    span = _make_span(run.trace, secrets.token_hex(8), case, name, start, end, kind)
    return _finish_span(span, sample, _find_error(report["outcome"]))


def _moment(timestamp: str) -> int:
    try:
        return int(datetime.fromisoformat(timestamp).timestamp() * _SECOND)
    except ValueError:
        return time.time_ns()


def _find_error(outcome: str) -> str | None:
    """Return what a span that ended in an error of the infrastructure says; a failure is none."""
    return "error" if outcome == "error" else None


@dataclass
class ModelCall:
    """What is known of a call of a model when it ends."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None
    repeated: int = 0


@contextlib.contextmanager
def trace_model_call(
    model: str, provider: str, url: str, temperature: float | None = None
) -> Iterator[ModelCall]:
    """Trace what happens inside as a call of a model; the caller fills in what it learns."""
    call = ModelCall()
    if _pipe is None or _run is None:
        yield call
        return
    run, pipe, start, error = _run, _pipe, time.time_ns(), None
    case = _case.get()
    try:
        yield call
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        parent = run.span if case is None else run.name_case(case)
        about = _describe_call(call, model, provider, url, temperature)
        own = secrets.token_hex(8)
        span = _make_span(run.trace, own, parent, f"chat {model}", start, time.time_ns(), _CLIENT)
        pipe.send(_finish_span(span, about, error))


def _describe_call(
    call: ModelCall, model: str, provider: str, url: str, temperature: float | None
) -> dict[str, Any]:
    about: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.request.temperature": temperature,
        "gen_ai.usage.input_tokens": call.input_tokens,
        "gen_ai.usage.output_tokens": call.output_tokens,
    }
    with contextlib.suppress(ValueError):
        # Without the user, the password and the query that an address may have.
        address = urlsplit(url)
        about |= {"server.address": address.hostname, "server.port": address.port}
    if call.finish_reason is not None:
        about["gen_ai.response.finish_reasons"] = [call.finish_reason]
    if call.repeated:
        about["assay.repeated"] = call.repeated
    return {name: value for name, value in about.items() if value is not None}


def _make_span(
    trace: str, own: str, parent: str, name: str, start: int, end: int, kind: str = _INTERNAL
) -> dict[str, Any]:
    return {
        "trace": trace,
        "span": own,
        "parent": parent,
        "name": name,
        "kind": kind,
        # The format knows no time before 1970, and a clock may be set back.
        "start": max(0, start),
        "end": max(0, start, end),
    }


def _finish_span(
    span: dict[str, Any], attributes: dict[str, Any], error: str | None
) -> dict[str, Any]:
    if error is not None:
        attributes = {**attributes, "error.type": error}
    return {**span, "attributes": attributes, "error": error is not None}


def _forget() -> None:
    global _pipe, _run
    _pipe = _run = None


# The pipe is closed in a child that is forked, and its number may be that of another file.
os.register_at_fork(after_in_child=_forget)
