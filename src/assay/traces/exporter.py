"""The process that delivers spans to a collector, started as `python -m assay.traces.exporter`.

It reads spans as lines of JSON, ends when its input ends, and writes how many it delivered. It
holds a limited number of bytes. While the collector is down it goes on trying, but says so once.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import threading
import time
from collections import deque
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.status import Status, StatusCode

from assay._version import __version__
from assay.redaction import find_credentials, redact

MOST_BYTES = 64_000_000
BATCH = 512
# Seconds: for one batch, between tries of a collector that is down, and after the run has ended.
TIMEOUT = 5.0
PAUSE = 10.0
LAST_WAIT = 30.0
END = b"end\n"
_KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}


class _Queue:
    """Lines that wait to be delivered; beyond a number of bytes further ones are lost."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self.lost = 0
        self.has_ended = False
        self.is_orphan = False

    def read(self) -> None:
        """Take in lines until the other side closes the pipe."""
        is_clean = False
        for line in sys.stdin.buffer:
            if line == END:
                is_clean = True
                break
            with self._changed:
                if self._bytes + len(line) > MOST_BYTES:
                    self.lost += 1
                    continue
                self._lines.append(line)
                self._bytes += len(line)
                self._changed.notify()
        with self._changed:
            self.has_ended = True
            self.is_orphan = not is_clean
            self._changed.notify()

    def take(self, wait: float) -> list[bytes]:
        """Return a batch of lines, after waiting until there are enough or the time is over."""
        deadline = time.monotonic() + wait
        with self._changed:
            while len(self._lines) < BATCH and not self.has_ended:
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    break
            batch = [self._lines.popleft() for _ in range(min(BATCH, len(self._lines)))]
            self._bytes -= sum(map(len, batch))
            return batch

    def sleep(self, seconds: float) -> None:
        """Wait, but not longer than the input goes on."""
        with self._changed:
            self._changed.wait_for(lambda: self.has_ended, seconds)

    def __len__(self) -> int:
        return len(self._lines)


class Delivered(NamedTuple):
    """What became of the spans."""

    delivered: int
    lost: int
    said: bool


class _Delivery:
    """Delivers batches, and says once if that fails."""

    def __init__(self) -> None:
        timeout = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT") or os.environ.get(
            "OTEL_EXPORTER_OTLP_TIMEOUT"
        )
        session = requests.Session()
        session.hooks["response"].append(self._remember)
        self._exporter = OTLPSpanExporter(timeout=None if timeout else TIMEOUT, session=session)
        self._resource = Resource.create(
            {"service.version": __version__}
            | ({} if os.environ.get("OTEL_SERVICE_NAME") else {SERVICE_NAME: "assay"})
        )
        self._scope = InstrumentationScope("assay", __version__)
        self._secrets = find_credentials(os.environ)
        # It would log every try, with the address and all that is in it.
        library = logging.getLogger("opentelemetry")
        library.addHandler(logging.NullHandler())
        library.propagate = False
        self._reason = ""
        self.delivered = self.lost = 0
        self.has_said = self.is_failing = False

    def deliver(self, lines: list[bytes]) -> None:
        """Send one batch."""
        spans = [self._read_span(json.loads(line)) for line in lines]
        self._reason = "it does not answer"
        try:
            result = self._exporter.export(spans)
        except Exception as error:
            # A collector's answer, a proxy's setting: nothing of it may end the run.
            self._reason = type(error).__name__
            result = SpanExportResult.FAILURE
        self.is_failing = result is not SpanExportResult.SUCCESS
        if self.is_failing:
            self.lost += len(spans)
            self._say()
        else:
            self.delivered += len(spans)

    def _remember(self, response: Any, *_: object, **__: object) -> None:
        self._reason = f"it answers {response.status_code}"

    def _say(self) -> None:
        if self.has_said:
            return
        self.has_said = True
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(
                f"assay: traces cannot be delivered to {_name_collector()}: {self._reason}; "
                "results are not affected\n"
            )
            sys.stderr.flush()

    def _read_span(self, told: dict[str, Any]) -> ReadableSpan:
        trace = int(told["trace"], 16)
        parent = int(told["parent"], 16) if told["parent"] else None
        return ReadableSpan(
            name=redact(told["name"], self._secrets),
            context=_make_context(trace, int(told["span"], 16)),
            parent=None if parent is None else _make_context(trace, parent),
            resource=self._resource,
            attributes=redact(told["attributes"], self._secrets),
            kind=_KINDS[told["kind"]],
            status=Status(StatusCode.ERROR if told["error"] else StatusCode.UNSET),
            start_time=told["start"],
            end_time=told["end"],
            instrumentation_scope=self._scope,
        )


def _make_context(trace: int, span: int) -> SpanContext:
    return SpanContext(trace, span, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _name_collector() -> str:
    """Return the server of the collector, without what else an address may hold."""
    named = os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") or os.environ.get(
        "OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318"
    )
    try:
        address = urlsplit(named)
        port = f":{address.port}" if address.port else ""
    except ValueError:
        return "the collector"
    return f"{address.scheme}://{address.hostname}{port}"


def deliver_all() -> Delivered:
    """Deliver spans until the input has ended and everything is sent, or time is over."""
    queue, delivery = _Queue(), _Delivery()
    threading.Thread(target=queue.read, daemon=True).start()
    deadline = float("inf")
    while len(queue) or not queue.has_ended:
        if queue.has_ended and deadline == float("inf"):
            deadline = time.monotonic() + LAST_WAIT
            if queue.is_orphan:
                _let_go()
        if time.monotonic() > deadline or (queue.has_ended and delivery.is_failing):
            break
        if batch := queue.take(wait=1.0):
            delivery.deliver(batch)
            if delivery.is_failing:
                queue.sleep(PAUSE)
    left = len(queue) + queue.lost
    return Delivered(delivery.delivered, delivery.lost + left, delivery.has_said)


def _let_go() -> None:
    """Close what was inherited: whoever waits for the end of Assay must not wait for this."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)


def main() -> None:
    """Deliver spans and report on standard output what became of them."""
    result = deliver_all()
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(json.dumps(result._asdict()))
        sys.stdout.flush()
    # The reader's thread may still wait for input.
    os._exit(0)


if __name__ == "__main__":
    main()
