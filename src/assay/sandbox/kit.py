"""The kit: the pytest that runs proofs, pinned, installed once per Python beside every target."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from assay.sandbox.cache import build_once, check_unchanged
from assay.sandbox.uv import Interpreter, Progress, run_uv

_LOCK = Path(__file__).with_name("kit.lock")


def kit_version() -> str:
    """A short hash of the kit's lock: part of the key of every environment."""
    return hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:12]


def pinned() -> dict[str, str]:
    """The version of every package of the kit."""
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", _LOCK.read_text("utf-8"), re.MULTILINE))


def kit(interpreter: Interpreter, progress: Progress | None = None) -> Path:
    """The folder of the kit for an interpreter; goes at the end of the path, never before."""

    def install(folder: Path) -> dict[str, Any]:
        if progress:
            progress("installing the kit (pytest)")
        run_uv(
            ["pip", "install", "--quiet", "--python", str(interpreter.executable), "--no-deps",
             "--no-build", "--require-hashes", "--compile-bytecode",
             "--target", str(folder), "--requirements", str(_LOCK)],
            folder=folder,
        )  # fmt: skip
        return {"python": interpreter.build, "packages": pinned()}

    key = hashlib.sha256(f"{kit_version()} {interpreter.build}".encode()).hexdigest()[:24]
    folder, _ = build_once("kits", key, install)
    # It is small, and judges every target: all of it, every time.
    check_unchanged("kits", key)
    return folder
