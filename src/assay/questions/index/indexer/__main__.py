"""Drives the look at a target: one process imports and tells, this one watches over it.

Reads `order.json` in the working folder; leaves `facts.jsonl`, `words.txt` and, last of all,
`summary.json` there. The work is done in forks: what a module does to its process (exit,
crash, hang) costs that process, which is started again without the module.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from typing import Any

from . import layout
from .collector import Collector

_BACKLOG = 1 << 16
_LATE = {"error": "Late", "message": "the time for the whole target was over before"}
_READING_SECONDS = 60.0
# Less than this share of a processor is idleness; a busy machine gives a process more than that.
_IDLE = 0.02


def main() -> None:
    with open("order.json", encoding="utf-8") as file:
        order = json.load(file)
    # The working folder must not hide a module of the target's, nor offer one.
    sys.path[:] = [*order["first"], *(one for one in sys.path if one not in ("", os.getcwd()))]
    found = layout.layout_of(order["distributions"])
    scanner = os.fork()
    if scanner == 0:
        _scan(found)
    summary = _watch(found, order)
    os.waitpid(scanner, 0)
    with open("summary.json", "w", encoding="utf-8") as file:
        json.dump(summary, file)


def _scan(found: layout.Layout) -> None:
    try:
        with open("words.txt", "wb") as file:
            file.write(layout.lines_of(layout.scan_identifiers(found.files)))
    finally:
        os._exit(0)


def _watch(found: layout.Layout, order: dict[str, Any]) -> dict[str, Any]:
    """Repeat until a pass reaches its end; each pass leaves out what ended the one before."""
    deadline = time.monotonic() + order["seconds"]
    half = time.monotonic() + order["seconds"] / 2
    skipped: dict[str, dict[str, str]] = {}
    imported: set[str] = set()
    modules = dict(sorted(found.modules.items(), key=lambda one: _turn(one[0])))
    modules = {name: path for name, path in modules.items() if not name.endswith("__main__")}
    attempts, is_complete = 0, False
    while not is_complete:
        attempts += 1
        attempt = _Attempt(found, modules, skipped)
        is_complete = attempt.run(order["module_seconds"], deadline)
        imported |= attempt.imported
        if is_complete:
            break
        if time.monotonic() > deadline:
            _read_only(found, modules, skipped)
            break
        if not attempt.culprit:
            sys.exit(f"nothing could be inspected: {attempt.blame['message']}")
        skipped[attempt.culprit] = attempt.blame
        if time.monotonic() > half:
            skipped.update((name, _LATE) for name in modules if name not in imported)
    return {
        "versions": found.versions, "absent": found.absent, "foreign": found.foreign,
        "modules": len(modules), "attempts": attempts, "complete": is_complete,
        "installed": layout.list_site_folders(),
    }  # fmt: skip


def _read_only(
    found: layout.Layout, modules: dict[str, str], skipped: dict[str, dict[str, str]]
) -> None:
    """Describe what the sources alone say; nothing more is imported."""
    late = {name: skipped.get(name, _LATE) for name in modules}
    found.scripts = []
    _Attempt(found, modules, late).run(_READING_SECONDS, time.monotonic() + _READING_SECONDS)


def _turn(name: str) -> tuple[bool, bool, int, str]:
    """Public before private, and tests last: if time runs out, it runs out for them."""
    parts = name.split(".")
    is_test = any(part in ("tests", "test", "conftest") or part[:5] == "test_" for part in parts)
    return is_test, any(part.startswith("_") for part in parts), len(parts), name


class _Attempt:
    """One pass in a process of its own."""

    def __init__(
        self, found: layout.Layout, modules: dict[str, str], skipped: dict[str, dict[str, str]]
    ) -> None:
        self._found, self._modules, self._skipped = found, modules, skipped
        self._step, self._described = "", False
        self.imported: set[str] = set()
        self.blame: dict[str, str] = {}

    @property
    def culprit(self) -> str:
        return self._step.partition(" ")[2]

    def run(self, patience: float, deadline: float) -> bool:
        """Return whether it came to the end, or at least to everything but the command lines."""
        reading, writing = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(reading)
            self._work(writing)
        _lead_a_group(process)
        os.close(writing)
        ended = self._listen(process, reading, patience, deadline)
        os.close(reading)
        if not ended:
            os.killpg(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        self.blame = _blame(ended, status, patience)
        return self._described

    def _work(self, writing: int) -> None:
        status = 1
        try:
            _lead_a_group(0)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)

            def report(step: str) -> None:
                os.write(writing, step.encode() + b"\n")

            with open("facts.jsonl", "w", encoding="utf-8") as out:
                collector = Collector(self._modules, report, out)
                collector.run(self._skipped, self._found.namespaces())
                out.flush()
                report("described")
                collector.emit_commands(self._found.scripts)
            report("done")
            status = 0
        finally:
            # Threads and exit handlers of the target's have no say in the matter.
            os._exit(status)

    def _listen(self, process: int, reading: int, patience: float, deadline: float) -> bool:
        """Follow the steps until the other end closes; False if one takes too long.

        Too long is measured in what the process does, not by the clock alone, because a busy
        machine makes everything slow: it did nothing, or computed, for all of its time.
        """
        rest, pulse = b"", _Pulse(process)
        while time.monotonic() < deadline:
            if not select.select([reading], [], [], patience / 8)[0]:
                if pulse.is_hung(patience):
                    return False
                continue
            data = os.read(reading, _BACKLOG)
            if not data:
                return True
            *steps, rest = (rest + data).split(b"\n")
            for step in steps:
                self._take(step.decode())
                pulse = _Pulse(process)
            if self._step == "done":
                return True
        return False

    def _take(self, step: str) -> None:
        if self._step.startswith("import "):
            self.imported.add(self.culprit)
        self._described = self._described or step == "described"
        self._step = step


def _lead_a_group(process: int) -> None:
    """Said by both sides, because either may come first; the second finds it done."""
    with contextlib.suppress(OSError):
        os.setpgid(process, process)


class _Pulse:
    """What a process has done since a step began."""

    def __init__(self, process: int) -> None:
        # The clock of another process's computing time, as clock_getcpuclockid(3) makes it.
        self._clock = (~process << 3) | 2
        self._start = self._computed = self._cpu_seconds()
        self._looked = self._active = time.monotonic()

    def _cpu_seconds(self) -> float:
        try:
            return time.clock_gettime(self._clock)
        except OSError:
            return 0.0

    def is_hung(self, patience: float) -> bool:
        now, used = time.monotonic(), self._cpu_seconds()
        if used - self._computed > _IDLE * (now - self._looked):
            self._active = now
        self._looked, self._computed = now, used
        return now - self._active >= patience or used - self._start >= patience


def _blame(ended: bool, status: int, patience: float) -> dict[str, str]:
    if not ended:
        return {"error": "Hung", "message": f"did not come back, {patience:g} s were given"}
    if os.WIFSIGNALED(status):
        return {"error": "Crashed", "message": f"ended by signal {os.WTERMSIG(status)}"}
    return {"error": "Exited", "message": f"ended the process, status {os.WEXITSTATUS(status)}"}


if __name__ == "__main__":
    main()
