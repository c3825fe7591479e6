"""What a program under test may use, with defaults that suit a test and not a server farm."""

from __future__ import annotations

from dataclasses import dataclass, fields

from assay.errors import InputError

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """Times in seconds, sizes in bytes. A program that exceeds one is ended and says which."""

    wall_time: float = 60.0
    """From start to end, waiting included."""
    cpu_time: int = 60
    """Of one process; together with wall time it bounds them all."""
    memory: int = 2 * GIB
    """Of all processes together where the machine offers control groups, else of each."""
    processes: int = 64
    """Processes and threads at the same time."""
    open_files: int = 512
    """Of one process."""
    file_size: int = 256 * MIB
    """Of one file."""
    work_size: int = 512 * MIB
    """Of the work folder, /tmp and /dev/shm together."""
    output: int = MIB
    """Kept of standard output, and of standard error: the first half and the last half."""
    collected: int = 64 * MIB
    """Of all files brought back together."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise InputError(
                    f"the limit {field.name} is {value}", advice="limits are greater than zero"
                )
