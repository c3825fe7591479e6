"""Detects which isolation levels this machine supports, and what would enable more."""

from __future__ import annotations

import functools
import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import InfrastructureError, InputError, nearest

LEVELS = ("namespaces", "landlock", "none")
CHOICES = ("auto", *LEVELS)
_START = Path(__file__).parent / "jail" / "start.py"
_SYSCTLS = (
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("user.max_user_namespaces", "0", "15000"),
)


@dataclass(frozen=True, slots=True)
class Layer:
    """A machine feature: whether it is available, what was seen, and what would enable it."""

    name: str
    available: bool
    seen: str
    advice: str | None = None


@functools.cache
def probe() -> tuple[Layer, ...]:
    """Try every layer once per process; nothing is assumed from versions or settings."""
    if sys.platform != "linux":
        return (Layer("Linux", False, f"this is {platform.system()}", "use Linux or a Linux VM"),)
    try:
        answer = subprocess.run(  # noqa: S603 - our own file, our own interpreter
            [sys.executable, "-I", "-S", str(_START), "probe"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={},
            cwd="/",
            timeout=60,
            check=True,
            start_new_session=True,
        )
        facts = json.loads(answer.stdout)
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        raise InfrastructureError(f"the sandbox could not be probed: {error}") from None
    return layers(facts, _settings())


def layers(facts: Mapping[str, tuple[bool, str]], settings: Mapping[str, str]) -> tuple[Layer, ...]:
    """Return the probe results, each with a hint on how to enable the layer."""
    kernel = Layer("kernel", True, f"Linux {platform.release()} on {platform.machine()}")
    found = [
        Layer(name, available, seen, None if available else _advice(name, seen, settings))
        for name, (available, seen) in facts.items()
    ]
    return (kernel, *found)


def _advice(name: str, seen: str, settings: Mapping[str, str]) -> str:
    if name in ("user namespaces", "level namespaces"):
        for setting, locked, free in _SYSCTLS:
            if settings.get(setting) == locked:
                return f"sudo sysctl -w {setting}={free}"
        if "container" in settings:
            return (
                "docker run --security-opt seccomp=unconfined "
                "--security-opt apparmor=unconfined --security-opt systempaths=unconfined …"
            )
        return "use a kernel of 5.12 or later with user namespaces, or run as root"
    if name in ("Landlock", "level landlock"):
        return "use a kernel of 5.13 or later, started with `landlock` in its `lsm=` list"
    if name == "control groups":
        return "systemd-run --user --scope -p Delegate=yes assay …"
    return f"none known: {seen}"


def _settings() -> dict[str, str]:
    settings = {}
    for name, _, _ in _SYSCTLS:
        path = Path("/proc/sys") / name.replace(".", "/")
        if path.exists():
            settings[name] = path.read_text().strip()
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        settings["container"] = "yes"
    return settings


def available_levels(found: tuple[Layer, ...]) -> list[str]:
    """Return the isolating levels that this machine supports, strongest first."""
    working = {layer.name for layer in found if layer.available}
    return [level for level in ("namespaces", "landlock") if f"level {level}" in working]


def choose(level: str = "auto") -> str:
    """Return the level to use, never a weaker one than requested; raise if there is none."""
    if level not in CHOICES:
        raise InputError(f"{level!r} is not a level of isolation", advice=nearest(level, CHOICES))
    if level == "none":
        return level
    found = probe()
    levels = available_levels(found)
    if level == "auto" and levels:
        return levels[0]
    if level in levels:
        return level
    wanted = (
        "nothing on this machine can isolate programs"
        if level == "auto"
        else (f"this machine cannot give the isolation level {level}")
    )
    raise InfrastructureError(f"{wanted}: {_missing(found, level)}", advice=_unlock(found, level))


def _relevant(found: tuple[Layer, ...], level: str) -> list[Layer]:
    names = {
        "namespaces": ("Linux", "user namespaces", "level namespaces"),
        "landlock": ("Linux", "Landlock", "seccomp", "level landlock"),
    }
    wanted = names.get(level, names["namespaces"] + names["landlock"])
    return [layer for layer in found if layer.name in wanted and not layer.available]


def _missing(found: tuple[Layer, ...], level: str) -> str:
    return "; ".join(f"{layer.name}: {layer.seen}" for layer in _relevant(found, level))


def _unlock(found: tuple[Layer, ...], level: str) -> str:
    lines = list(dict.fromkeys(layer.advice for layer in _relevant(found, level) if layer.advice))
    choice = "or accept the risk with `--isolation none`"
    return "\n  ".join([*(f"to unlock it: {line}" for line in lines), choice])
