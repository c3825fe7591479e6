"""Hands spans to the process that delivers them, without ever waiting for it for long."""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import select
import subprocess
import sys
import time
from typing import Any, Self

from assay.escaping import escape_hidden
from assay.extras import require_extra
from assay.processes import keep_private, release

logger = logging.getLogger("assay")

# A write of at most so many bytes to a pipe is never torn.
LONGEST_LINE = 4096
_PIPE_SIZE = 1 << 20
_TEXT_LENGTHS = (500, 60)
# How long all writes of a run together may wait for the other process.
PATIENCE = 2.0
# How long the end of a run may wait for the last spans to be delivered.
LAST_WAIT = 35.0
_END = b"end\n"


class TracePipe:
    """A pipe to a process that delivers spans; a span that does not fit is counted as lost."""

    def __enter__(self) -> Self:
        require_extra("otel", "the export of traces")
        self._patience = PATIENCE
        self.lost = 0
        here, self._pipe = os.pipe()
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(self._pipe, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
        os.set_blocking(self._pipe, False)
        # A child that is forked meanwhile must not keep the pipe open.
        keep_private(self._pipe)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "assay.traces.exporter"],
            stdin=here,
            stdout=subprocess.PIPE,
            # An interrupt ends the run; what it has sent is still delivered.
            start_new_session=True,
        )
        os.close(here)
        return self

    def send(self, span: dict[str, Any]) -> None:
        """Hand over one span."""
        if self._pipe < 0:
            self.lost += 1
            return
        line = _encode(span)
        while True:
            try:
                os.write(self._pipe, line)
                return
            except BlockingIOError:
                if not self._wait():
                    self.lost += 1
                    return
            except OSError:
                # The other process is gone.
                self.lost += 1
                self._close()
                return

    def _wait(self) -> bool:
        """Wait until there is room; return whether there is, and patience was left."""
        if self._patience <= 0:
            return False
        start = time.monotonic()
        _, ready, _ = select.select([], [self._pipe], [], self._patience)
        self._patience -= time.monotonic() - start
        return bool(ready)

    def _close(self) -> None:
        if self._pipe >= 0:
            release(self._pipe)
            os.close(self._pipe)
            self._pipe = -1

    def __exit__(self, *_: object) -> None:
        # Without it the reader takes us for killed. It reads faster than it delivers.
        self._patience = PATIENCE
        with contextlib.suppress(OSError, ValueError):
            self._wait()
            os.write(self._pipe, _END)
        self._close()
        _say_what_is_lost(self._read_answer(), self.lost)

    def _read_answer(self) -> bytes:
        """Return what the process says when it has delivered everything, or time is over."""
        try:
            answer, _ = self._process.communicate(timeout=LAST_WAIT)
        except BaseException as error:
            self._process.kill()
            self._process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return b""
        return answer


def _say_what_is_lost(answer: bytes, unsent: int) -> None:
    """Say once that not everything was delivered, unless the other process said why already."""
    try:
        told = json.loads(answer)
        lost, has_said = int(told["lost"]) + unsent, bool(told["said"])
    except (ValueError, TypeError, KeyError):
        logger.warning("traces could not be delivered; results are not affected")
        return
    if lost and not has_said:
        logger.warning(
            "%s spans were left out of the traces, because the collector takes them too slowly; "
            "results are not affected",
            f"{lost:,}",
        )


def _encode(span: dict[str, Any]) -> bytes:
    for length in _TEXT_LENGTHS:
        line = json.dumps(_shorten(span, length)).encode() + b"\n"
        if len(line) <= LONGEST_LINE:
            return line
    bare = {**span, "name": "span", "attributes": {}}
    return json.dumps(bare).encode() + b"\n"


def _shorten(value: Any, length: int) -> Any:
    if isinstance(value, str):
        return escape_hidden(value[:length])
    if isinstance(value, dict):
        return {name: _shorten(each, length) for name, each in value.items()}
    return value
