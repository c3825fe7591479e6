"""Runs hostile programs for the tests, and finds out whether anything is left of them."""

from __future__ import annotations

import base64
import contextlib
import errno
import functools
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from assay.sandbox.isolation import available_levels, probe
from tests.waiting import PATIENCE

# A user for each test process: without namespaces the kernel counts processes by user, and tests
# that run side by side must not count each other's.
ORDINARY_USER = 54_000 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
SECRET = f"canary-{secrets.token_hex(8)}"
SOURCE = Path(__file__).parents[3] / "src" / "assay"
SMALL = {
    "wall_time": 10.0,
    "cpu_time": 10,
    "memory": 256 << 20,
    "processes": 24,
    "open_files": 64,
    "file_size": 8 << 20,
    "work_size": 16 << 20,
    "output": 64 << 10,
    "collected": 1 << 20,
}
# How the kernel, or a failed look-up of a name, says no.
KERNEL_ERRORS = {*errno.errorcode.values(), "gaierror"} - {"EFAULT", "EINVAL"}
# Every hostile program starts with this: it tries something and says how that went.
PRELUDE = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    result = libc.syscall(number, *[ctypes.c_long(item) if isinstance(item, int) else item
                                    for item in arguments])
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def attempt(name, action):
    try:
        print(name, "ALLOWED", repr(action())[:300], flush=True)
    except BaseException as error:
        code = getattr(error, "errno", None)
        print(name, "refused", errno.errorcode.get(code, type(error).__name__), flush=True)
"""
# Enters a jail as a runner does; what follows in the worker is what the import of a target can do.
ENTER = """
import importlib, json, os, sys
sys.path.insert(0, sys.argv[1])
import start
start.load()
jail = importlib.import_module("assay_jail.jail")
limits = {"cpu_time": 5, "memory": 1 << 28, "processes": 8, "open_files": 64,
          "file_size": 1 << 20, "work_size": 1 << 20}
spec = {"level": "namespaces", "binds": json.loads(sys.argv[2]), "limits": limits}
"""


@dataclass
class Outcome:
    """What the driver said about one program."""

    exit_status: int = 0
    stdout: bytes = b""
    stderr: bytes = b""
    wall_time: float = 0.0
    cpu_time: float = 0.0
    peak_memory: int = 0
    limit: str | None = None
    timed_out: bool = False
    cut: dict[str, int] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    left: dict[str, str] = field(default_factory=dict)
    isolation: str = ""
    error: str | None = None
    text: str = ""

    @property
    def lines(self) -> list[str]:
        return self.stdout.decode("utf-8", "replace").splitlines()

    def refused(self, *also: str) -> None:
        """Every attempt was refused, and there was at least one; `also`: other errors that do."""
        assert self.lines, self
        assert self.stderr == b"", self
        # By the kernel, that is: a slip of the hostile program itself must not look like safety.
        codes = [line.rpartition(" refused ")[2] for line in self.lines]
        wrong = [code for code in codes if code not in {*KERNEL_ERRORS, *also}]
        assert not wrong, self


def _others_may(path: Path) -> bool:
    """Whether a user who owns nothing here could read a file or enter a folder."""
    reachable = all(parent.stat().st_mode & 0o001 for parent in path.parents)
    return reachable and path.exists() and bool(path.stat().st_mode & 0o004)


@functools.cache
def reachable_python() -> Path:
    """An interpreter that any user can start: hostile programs and the ordinary user need it."""
    known = ("/usr/bin/python3", "/usr/local/bin/python3")
    candidates = [Path(sys.executable).resolve(), *map(Path, known)]
    for candidate in candidates:
        if candidate.exists() and _others_may(candidate.resolve()):
            return candidate.resolve()
    pytest.skip("no interpreter on this machine can be started by every user")


@functools.cache
def python_folders() -> tuple[str, ...]:
    """What that interpreter needs beside /usr."""
    code = "import sys; print(sys.base_prefix)"
    prefix = subprocess.run(
        [reachable_python(), "-I", "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    return () if prefix.startswith("/usr") else (prefix,)


def landlock_version() -> int:
    """Of this kernel; 0 if there is none."""
    seen = [layer.seen for layer in probe() if layer.name == "Landlock" and layer.available]
    return int(seen[0].rpartition(" ")[2]) if seen else 0


class Sandbox:
    """One level and one user: runs programs, and can tell whether anything is left of them."""

    def __init__(self, level: str, user: str, place: Path) -> None:
        self.level, self.user = level, user
        self.marker = f"hostile-{secrets.token_hex(8)}"
        self.place = place
        self.home = place / "home"  # what the program must never see
        self.target = place / "target"  # what it may read but not change
        self._prepare()
        self._driver = self._start()

    def _prepare(self) -> None:
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SOURCE, self.place / "copy" / "assay", ignore=unwanted)
        shutil.copy(Path(__file__).parent / "driver.py", self.place / "copy" / "driver.py")
        for folder in (self.home, self.target, self.place / "scratch"):
            folder.mkdir()
        (self.home / "secret.txt").write_text(SECRET)
        (self.target / "module.py").write_text("VALUE = 1\n")
        for path in [self.place, *self.place.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
            if self.other_user:
                os.chown(path, ORDINARY_USER, ORDINARY_USER)

    def can_signal_its_own(self) -> bool:
        """Older kernels cannot tell a program's own processes from the user's others."""
        restricted = self.level == "landlock" and self.user == "user"
        return not restricted or landlock_version() >= 6

    @property
    def other_user(self) -> bool:
        return self.user == "user" and os.geteuid() == 0

    def _start(self) -> subprocess.Popen[str]:
        options: dict[str, Any] = {}
        if self.other_user:
            options = {"user": ORDINARY_USER, "group": ORDINARY_USER, "extra_groups": []}
        with (self.home / "secret.txt").open() as held:
            os.set_inheritable(held.fileno(), True)
            return subprocess.Popen(
                [reachable_python(), "-B", self.place / "copy" / "driver.py"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=self.home,
                env={
                    "PYTHONPATH": str(self.place / "copy"),
                    "TMPDIR": str(self.place / "scratch"),
                    "HOME": str(self.home),
                    "API_KEY": SECRET,
                },
                pass_fds=[held.fileno()],
                start_new_session=True,
                **options,
            )

    @property
    def driver(self) -> int:
        return self._driver.pid

    def python(self, source: str, *arguments: str, **options: Any) -> Outcome:
        """Run a hostile Python program."""
        command = [str(reachable_python()), "-I", "-c", PRELUDE + source, *arguments, self.marker]
        return self.run(command, **options)

    def run(
        self,
        command: list[str],
        *,
        limits: dict[str, float] | None = None,
        files: dict[str, bytes] | None = None,
        stdin: bytes = b"",
        collect: tuple[str, ...] = (),
        environment: dict[str, str] | None = None,
        network: bool = False,
        readable: tuple[str, ...] = (),
    ) -> Outcome:
        seen = (*python_folders(), str(self.target), *readable)
        jail: dict[str, Any] = {
            "isolation": self.level,
            "limits": {**SMALL, **(limits or {})},
            "binds": [[path, path, False] for path in seen],
            "network": network,
        }
        program = {
            "command": command,
            "stdin": base64.b64encode(stdin).decode(),
            "files": {
                name: base64.b64encode(content).decode() for name, content in (files or {}).items()
            },
            "collect": list(collect),
            "environment": environment or {},
        }
        start = time.monotonic()
        outcome = _outcome(self._ask({"jail": jail, "program": program}))
        allowed = jail["limits"]["wall_time"] + PATIENCE
        assert time.monotonic() - start < allowed, outcome
        return outcome

    def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.write(json.dumps(message) + "\n")
        self._driver.stdin.flush()
        answer: dict[str, Any] = json.loads(self._driver.stdout.readline())
        return answer

    def left_running(self) -> list[str]:
        """Command lines of hostile programs that are still there."""
        return command_lines(self.marker)

    def close(self) -> list[int]:
        """End the driver; the process ids of the supervisors it had."""
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.close()
        supervisors: list[int] = json.loads(self._driver.stdout.readline())
        self._driver.stdout.close()
        assert self._driver.wait(PATIENCE) == 0
        return supervisors

    def workers(self) -> list[str]:
        """Command lines of everything that was started from this sandbox's copy of the source."""
        return command_lines(str(self.place / "copy" / "assay"))


def start_worker(
    script: str, place: Path, user: str, binds: dict[Path, Path]
) -> subprocess.Popen[bytes]:
    """Start code as the import of a target runs: in a worker, with these folders bound read-only.

    `script` begins outside, with `jail` and `spec`; it has to enter. Every user must be able to
    reach `place`; for "user" the folders that are bound belong to that user.
    """
    if "namespaces" not in available_levels(probe()):
        pytest.skip("this machine has no namespaces")
    if user == "root" and os.geteuid() != 0:
        pytest.skip("these tests do not run as root")
    inside = place / "inside"
    shutil.copytree(SOURCE / "sandbox" / "jail", inside)
    for path in (inside, *inside.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    options: dict[str, Any] = {}
    if user == "user" and os.geteuid() == 0:
        for folder in binds:
            os.chown(folder, ORDINARY_USER, ORDINARY_USER)
        options = {"user": ORDINARY_USER, "group": ORDINARY_USER, "extra_groups": []}
    seen = [[str(host), str(path), False] for host, path in binds.items()]
    seen += [[folder, folder, False] for folder in python_folders()]
    code = ENTER + PRELUDE + script
    arguments = [str(inside), json.dumps(seen), *map(str, binds.values())]
    return subprocess.Popen(
        [reachable_python(), "-B", "-I", "-S", "-c", code, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={}, **options,
    )  # fmt: skip


def run_in_worker(script: str, place: Path, user: str, binds: dict[Path, Path]) -> Outcome:
    """Run such code to its end."""
    with start_worker(script, place, user, binds) as process:
        stdout, stderr = process.communicate(timeout=PATIENCE)
    return Outcome(process.returncode, stdout, stderr)


def command_lines(part: str) -> list[str]:
    """Everything that runs on this machine with this text in its command line."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                line = (entry / "cmdline").read_bytes().decode("utf-8", "replace")
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
                if part in line and state != "Z":
                    found.append(f"{entry.name}: {line[-200:]!r}")
    return found


def _outcome(answer: dict[str, Any]) -> Outcome:
    for name in ("stdout", "stderr"):
        if name in answer:
            answer[name] = base64.b64decode(answer[name])
    if "files" in answer:
        answer["files"] = {
            name: base64.b64decode(content) for name, content in answer["files"].items()
        }
    return Outcome(**answer)


def mounts() -> set[str]:
    """The mounts, as this process sees them, in the places where a jail mounts something."""
    points = ("/", "/tmp", "/mnt", "/usr", "/proc", "/assay-work", "/dev/shm")
    places = (*(f" {point} " for point in points), tempfile.gettempdir())
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {line for line in lines if any(place in line for place in places)}


def groups(supervisors: list[int]) -> list[Path]:
    """Control groups that belong to these supervisors."""
    starts = tuple(f"assay-{supervisor}-" for supervisor in supervisors)
    return [
        Path(place, name)
        # Groups of others come and go meanwhile; os.walk passes over one that is gone.
        for place, names, _ in os.walk("/sys/fs/cgroup")
        for name in names
        if name.startswith(starts)
    ]
