"""The report of `assay doctor`: the isolation layers of this machine, and whether they work."""

from __future__ import annotations

import asyncio
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import AssayError
from assay.sandbox.isolation import available_levels, probe
from assay.sandbox.programs import ProgramResult, Programs
from assay.sandbox.workers import Limits

# Reads its input, tries to read a file of this machine, leaves a file, ends with 3.
_SCRIPT = 'cat; cat "$0" 2>/dev/null; echo made > made.txt; exit 3'
_SECRET = b"not for programs under test"


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """Lines to print, and whether programs can be run isolated here."""

    lines: tuple[str, ...]
    healthy: bool
    values: dict[str, Any]
    """The same as JSON has it."""


def doctor_report() -> DoctorReport:
    """Probe every layer, then run programs at every level that this machine supports."""
    found = probe()
    width = max(len(layer.name) for layer in found)
    lines = []
    for layer in found:
        word = "yes" if layer.available else "no "
        lines.append(f"{layer.name:<{width}}  {word}  {layer.seen}")
        if layer.advice:
            lines.append(f"{'':<{width}}       to unlock it: {layer.advice}")
    levels = available_levels(found)
    checks = [(level, *asyncio.run(_check(level))) for level in levels]
    for level, problem, seconds in checks:
        verdict = problem or f"passed in {seconds * 1000:.0f} ms"
        lines.append(f"self-check at level {level}: {verdict}")
    lines.append(f"level in use: {levels[0]}" if levels else "level in use: none can be had")
    healthy = bool(levels) and not any(problem for _, problem, _ in checks)
    tried = [
        {"level": level, "problem": problem, "seconds": seconds}
        for level, problem, seconds in checks
    ]
    layers = [
        {"name": one.name, "available": one.available, "seen": one.seen, "advice": one.advice}
        for one in found
    ]
    in_use = levels[0] if levels else None
    values = {"healthy": healthy, "level": in_use, "layers": layers, "self_checks": tried}
    return DoctorReport(tuple(lines), healthy, values)


async def _check(level: str) -> tuple[str | None, float]:
    """Return what is wrong with a level, if anything, and how long the check took."""
    start = time.monotonic()
    limits = Limits(wall_time=5.0, cpu_time=5)
    try:
        with tempfile.NamedTemporaryFile() as secret:
            secret.write(_SECRET)
            secret.flush()
            Path(secret.name).chmod(0o644)
            async with Programs(isolation=level, limits=limits) as programs:
                result = await programs.run(
                    ["sh", "-c", _SCRIPT, secret.name], stdin=b"given", collect=["*.txt"]
                )
            short = Limits(wall_time=0.2)
            async with Programs(isolation=level, limits=short) as programs:
                late = await programs.run(["sleep", "5"])
    except AssayError as error:
        return error.what, time.monotonic() - start
    return _problem(result, late), time.monotonic() - start


def _problem(result: ProgramResult, late: ProgramResult) -> str | None:
    if _SECRET in result.stdout:
        return "a program could read a file of this machine"
    if result.exit_status != 3 or result.stdout != b"given":
        return f"a program ended with {result.exit_status} and wrote {result.stdout!r}"
    if result.files != {"made.txt": b"made\n"}:
        return f"a program's file did not come back: {result.files} {result.left}"
    if late.limit != "wall_time":
        return "a program was not ended when its time was over"
    return None
