"""A running proof as the worker sees it: reads its messages, enforces its limits and ends it."""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

from . import jail, processes

# The most that one proof may send; a forged flood of events is cut off there.
_REPORT_BYTES = 4_000_000
_OUTPUT_BYTES = 40_000
# Helpers of a library (a resource tracker, for example) end with their parent, but not at once.
_GRACE = 0.5
# Why reading stopped, besides the names of limits.
_LAST_WORD, _ENDED = "last word", "ended"


class RunningProof:
    """A forked process, the pipe that delivers its proof and its two output pipes."""

    def __init__(self, child: jail.JailChild, order: int, report: int, output: int) -> None:
        self._child = child
        self._order = order
        self._report, self._output = report, output
        self._buffers = {report: bytearray(), output: bytearray()}
        self._cut = 0
        self._ending: jail.ChildEnding | None = None

    def give(self, job: dict[str, Any]) -> None:
        """Hand over the proof; raise BrokenPipeError if the process has died."""
        with open(self._order, "wb") as order:
            order.write(json.dumps(job).encode())

    def answer(self, seconds: float, asker: int) -> dict[str, Any]:
        """Wait for the final message, the end, a limit, or until nobody waits for the answer.

        A proof that has sent its final message and has nothing running beside it is answered at
        once; ending its process (a matter of milliseconds) is left to `end`.
        """
        started = time.monotonic()
        reason = self._watch(started + seconds, asker)
        if reason == _LAST_WORD and self._list_others():
            reason = self._watch(started + seconds, asker, last_word=False)
        seen: dict[str, Any] = {
            "exit": 0,
            "limit": None,
            "left_over": 0,
            "elapsed": time.monotonic() - started,
        }
        if reason == _LAST_WORD:
            self._read_all(wait=False)
        else:
            limit = None if reason == _ENDED else reason
            seen["left_over"] = self._count_left_over() if limit is None else 0
            ending = self.end(limit)
            seen.update(exit=ending.status, limit=ending.limit)
        report, output = self._buffers[self._report].decode("ascii", "replace"), self._text()
        return {**seen, "report": report, "output": output}

    def end(self, limit: str | None = None) -> jail.ChildEnding:
        """End the process and everything it has started; calling it again has no effect."""
        if self._ending is None:
            try:
                self._ending = self._child.end(limit)
                # All writers have been ended, so both pipes reach their end.
                self._read_all(wait=True)
            finally:
                for descriptor in self._buffers:
                    os.close(descriptor)
            self._child.close()
        return self._ending

    def _watch(self, deadline: float, asker: int, *, last_word: bool = True) -> str:
        """Read until there is a reason to stop; return the reason or the name of the limit."""
        poller = select.poll()
        for descriptor in (self._child.handle, *self._buffers):
            poller.register(descriptor, select.POLLIN)
        poller.register(asker, select.POLLRDHUP)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return "wall_time"
            pause = min(left, self._child.pause)
            ready = {descriptor for descriptor, _ in poller.poll(pause * 1000)}
            for descriptor in ready & self._buffers.keys():
                if not self._take(descriptor):
                    poller.unregister(descriptor)
            if self._child.handle in ready:
                return _ENDED
            if asker in ready:
                return "abandoned"
            if last_word and self._has_last_word():
                return _LAST_WORD
            if not ready and self._child.folder_is_full():
                return "work_size"

    def _has_last_word(self) -> bool:
        report = self._buffers[self._report]
        return report.endswith(b"}\n") and b'"event": "end"' in report[report.rfind(b"\n", 0, -1) :]

    def _take(self, descriptor: int) -> bool:
        """Read available data; return False at the end of that pipe."""
        data = os.read(descriptor, 65_536)
        buffer = self._buffers[descriptor]
        if descriptor == self._output:
            buffer += data
            if len(buffer) > 2 * _OUTPUT_BYTES:
                excess = len(buffer) - _OUTPUT_BYTES
                half = _OUTPUT_BYTES // 2
                del buffer[half : half + excess]
                self._cut += excess
        elif len(buffer) < _REPORT_BYTES:
            buffer += data
        return bool(data)

    def _read_all(self, *, wait: bool) -> None:
        """Read the available data, or with `wait` everything until the end."""
        for descriptor in self._buffers:
            poller = select.poll()
            poller.register(descriptor, select.POLLIN)
            while poller.poll(None if wait else 0) and self._take(descriptor):
                pass

    def _text(self) -> str:
        text = self._buffers[self._output]
        if not self._cut:
            return text.decode("utf-8", "replace")
        half = _OUTPUT_BYTES // 2
        note = f"\n… {self._cut} bytes cut …\n".encode()
        return bytes(text[:half] + note + text[half:]).decode("utf-8", "replace")

    def _count_left_over(self) -> int:
        """Count the processes that outlive the proof's own, a moment after it ended."""
        deadline = time.monotonic() + _GRACE
        while left := self._list_others():
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
        return len(left)

    def _list_others(self) -> list[int]:
        """Return the living processes that a proof has started, still its own or orphans."""
        # Orphans are adopted by the keeper, or without one by this process.
        keeper = self._child.keeper
        adopter = os.getpid() if keeper is None else _process_of(keeper)
        found = processes.list_children(adopter) + processes.list_children(self._child.process)
        return [one for one in found if one != self._child.process and processes.is_alive(one)]


def _process_of(handle: int) -> int:
    for line in processes.read_lines(f"/proc/self/fdinfo/{handle}"):
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1
