"""One proof under way, as the worker sees it: reads what it sends, keeps its clock, ends it."""

from __future__ import annotations

import json
import os
import select
import time
from typing import Any

from . import jail

# What one proof may send back; a forged flood of events ends there.
_REPORT_BYTES = 4_000_000
_OUTPUT_BYTES = 40_000
# What a library starts for itself (a resource tracker, say) ends with its parent, but not at once.
_GRACE = 0.1


class Running:
    """A forked process, the pipe that brings it its proof and the two that lead from it."""

    def __init__(self, child: jail.Child, order: int, report: int, output: int) -> None:
        self._child = child
        self._order = order
        self._report, self._output = report, output
        self._buffers = {report: bytearray(), output: bytearray()}
        self._cut = 0

    def give(self, job: dict[str, Any]) -> None:
        """Hand over the proof; BrokenPipeError if the process did not live to take it."""
        with open(self._order, "wb") as order:
            order.write(json.dumps(job).encode())

    def finish(self, seconds: float, asker: int) -> dict[str, Any]:
        """Wait for the end, for a limit or until nobody asks any more; clear up; tell all."""
        started = time.monotonic()
        limit = self._watch(started + seconds, asker)
        elapsed = time.monotonic() - started
        left_over = self._left_over() if limit is None else 0
        ending = self.end(limit)
        return {
            "exit": ending.status,
            "limit": ending.limit,
            "left_over": left_over,
            "elapsed": elapsed,
            "cpu": ending.cpu_time,
            "peak_memory": ending.peak_memory,
            "report": self._buffers[self._report].decode("ascii", "replace"),
            "output": self._shown(),
        }

    def end(self, limit: str | None = None) -> jail.Ending:
        """End the process with everything it has started, and keep nothing of it."""
        try:
            ending = self._child.end(limit)
            self._drain()
        finally:
            for descriptor in self._buffers:
                os.close(descriptor)
        self._child.close()
        return ending

    def _watch(self, deadline: float, asker: int) -> str | None:
        """Read until the child has ended; the name of the limit if it did not end by itself."""
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
                return None
            if asker in ready:
                return "abandoned"
            if not ready and self._child.folder_is_full():
                return "work_size"

    def _take(self, descriptor: int) -> bool:
        """Read what came; False at the end of that pipe."""
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

    def _drain(self) -> None:
        # Everybody who could write has been ended, so that both pipes have an end.
        for descriptor in self._buffers:
            while self._take(descriptor):
                pass

    def _shown(self) -> str:
        text = self._buffers[self._output]
        if not self._cut:
            return text.decode("utf-8", "replace")
        half = _OUTPUT_BYTES // 2
        note = f"\n… {self._cut} bytes cut …\n".encode()
        return bytes(text[:half] + note + text[half:]).decode("utf-8", "replace")

    def _left_over(self) -> int:
        """How many processes outlive the proof's own, a moment after it ended."""
        deadline = time.monotonic() + _GRACE
        while True:
            left = [process for process in self._orphans() if process != self._child.process]
            if not left or time.monotonic() > deadline:
                return len(left)
            time.sleep(0.01)

    def _orphans(self) -> list[int]:
        """The processes that lost their parent go to the keeper, or without one to this process."""
        adopter = os.getpid() if self._child.keeper is None else _process_of(self._child.keeper)
        found = []
        for name in _lines(f"/proc/{adopter}/task/{adopter}/children"):
            found += [int(process) for process in name.split()]
        return [process for process in found if _is_alive(process)]


def _process_of(handle: int) -> int:
    for line in _lines(f"/proc/self/fdinfo/{handle}"):
        if line.startswith("Pid:"):
            return int(line.split()[1])
    return -1


def _is_alive(process: int) -> bool:
    # After the name in brackets, which may hold anything, comes the state.
    return any(
        line.rpartition(")")[2].split()[:1] != ["Z"] for line in _lines(f"/proc/{process}/stat")
    )


def _lines(path: str) -> list[str]:
    try:
        with open(path) as file:
            return file.read().splitlines()
    except OSError:
        return []
