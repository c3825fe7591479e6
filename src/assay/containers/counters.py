"""The control group of a container: its processes, and what its limits have refused."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_ROOT = Path("/sys/fs/cgroup")
_SETTLE = 5.0
_PAUSE = 0.002


class Counters(NamedTuple):
    """What a control group has counted."""

    killed_for_memory: int
    refused_processes: int
    cpu_time: float
    peak_memory: int


@dataclass(frozen=True)
class GroupOfContainer:
    """The folders of a container's control group, by controller."""

    folders: dict[str, Path]
    keepers: frozenset[int] = frozenset()
    """The container's first processes, which are never ended from here."""

    @classmethod
    def of(cls, pid: int) -> GroupOfContainer | None:
        """Return the control group of a process; None if it cannot be seen from here.

        The processes that are in it now are its keepers.
        """
        folders: dict[str, Path] = {}
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            for name in names.split(",") if names else ("", "unified"):
                folder = _ROOT / name / path.lstrip("/")
                if folder.is_dir():
                    folders.setdefault(name.removeprefix("name="), folder)
        keepers = frozenset(cls(folders).list_processes())
        return cls(folders, keepers) if pid in keepers else None

    def folder(self, controller: str) -> Path | None:
        """Return the folder of a controller: its own, or the one of all."""
        return self.folders.get(controller) or self.folders.get("")

    def list_processes(self) -> list[int]:
        """Return all its processes, those of groups below it too."""
        folder = self.folder("pids")
        if folder is None:
            return []
        found: list[int] = []
        for place, _, _ in os.walk(folder):
            with contextlib.suppress(OSError):
                found += map(int, (Path(place) / "cgroup.procs").read_text().split())
        return found

    def end_others(self) -> bool:
        """Kill everything but the keepers; return whether nothing else is left."""
        deadline = time.monotonic() + _SETTLE
        while others := [one for one in self.list_processes() if one not in self.keepers]:
            if time.monotonic() > deadline:
                return False
            # Frozen, so that nothing can fork while the others are killed.
            self._freeze(True)
            try:
                for one in self.list_processes() if len(others) > 1 else others:
                    if one not in self.keepers:
                        with contextlib.suppress(ProcessLookupError):
                            os.kill(one, signal.SIGKILL)
            finally:
                self._freeze(False)
            time.sleep(_PAUSE)
        return True

    def _freeze(self, is_frozen: bool) -> None:
        old, new = self.folders.get("freezer"), self.folders.get("")
        with contextlib.suppress(OSError):
            if old is not None:
                (old / "freezer.state").write_text("FROZEN" if is_frozen else "THAWED")
            elif new is not None:
                (new / "cgroup.freeze").write_text("1" if is_frozen else "0")

    def read(self) -> Counters:
        """Return the counters as they are now; 0 where there is none."""
        return Counters(
            self._count("memory", ("memory.oom_control", "memory.events"), "oom_kill"),
            self._count("pids", ("pids.events",), "max"),
            self._cpu_time(),
            self._number("memory", ("memory.max_usage_in_bytes", "memory.peak")),
        )

    def _cpu_time(self) -> float:
        old = self._number("cpuacct", ("cpuacct.usage",))
        return old / 1e9 if old else self._count("cpu", ("cpu.stat",), "usage_usec") / 1e6

    def _text(self, controller: str, names: tuple[str, ...]) -> str:
        folder = self.folder(controller)
        for name in names if folder is not None else ():
            assert folder is not None
            with contextlib.suppress(OSError):
                return (folder / name).read_text()
        return ""

    def _count(self, controller: str, names: tuple[str, ...], key: str) -> int:
        for line in self._text(controller, names).splitlines():
            name, _, value = line.partition(" ")
            if name == key and value.isdigit():
                return int(value)
        return 0

    def _number(self, controller: str, names: tuple[str, ...]) -> int:
        text = self._text(controller, names).strip()
        return int(text) if text.isdigit() else 0
