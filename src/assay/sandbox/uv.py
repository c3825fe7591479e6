"""All calls to uv: for interpreters, the kit that runs proofs, and releases."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from assay.errors import AssayError, InfrastructureError, InputError
from assay.sandbox.cache import build_once, cache_folder, check_unchanged

Progress = Callable[[str], None]

# What uv says when it could not reach an index, as opposed to when the index answered "no".
_NETWORK = re.compile(
    r"error sending request|failed to (?:fetch|download)|dns error|tcp connect|tls|certificate"
    r"|connection (?:refused|reset|closed)|timed? ?out|network (?:was|is|connectivity)"
    r"|status (?:server|client) error|request failed after",
    re.IGNORECASE,
)
_QUERY = re.compile(r"(https?://[^\s?#)\"'`]*\?)[^\s)\"'`]+")

_DESCRIBE = (
    "import json, platform, sys, sysconfig; print(json.dumps({"
    "'executable': sys.executable, 'version': sys.version, "
    "'minor': '%d.%d' % sys.version_info[:2], 'base': sys.base_prefix, "
    "'tag': sys.implementation.cache_tag, 'platform': sysconfig.get_platform(), "
    "'libc': platform.libc_ver()}))"
)


@dataclass(frozen=True)
class Interpreter:
    """A Python that environments are built for: which build it is and where it lives."""

    executable: Path
    minor: str
    base: Path
    build: str


def find_uv() -> str:
    """Return the uv beside this interpreter, or the one of the `uv` package."""
    beside = Path(sys.executable).with_name("uv")
    if beside.is_file():
        return str(beside)
    try:
        from uv import find_uv_bin

        return str(find_uv_bin())
    except (ImportError, FileNotFoundError):
        raise InfrastructureError(
            "uv is not installed beside Assay",
            advice="install it into the same environment: python -m pip install uv",
        ) from None


def run_uv(
    arguments: Sequence[str],
    *,
    folder: Path,
    stdin: str = "",
    progress: Progress | None = None,
) -> str:
    """Run uv and return its standard output; an error carries uv's own message.

    It runs in `folder`, so that settings of the project in the current directory have no effect.
    """
    process = subprocess.Popen(  # noqa: S603 - uv itself, with arguments made here
        [find_uv(), "--no-progress", "--color", "never", *arguments],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "VIRTUAL_ENV": ""},
    )
    try:
        output, messages = process.communicate(stdin)
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.returncode != 0:
        raise make_error(messages)
    if progress:
        for line in messages.splitlines():
            if line.strip() and not line.lstrip().startswith(("+", "-", "~")):
                progress(line.strip())
    return output


def make_error(messages: str) -> AssayError:
    """Return the error for what uv wrote: the machine's if the network failed, or the user's."""
    text = "\n".join(line.rstrip() for line in messages.strip().splitlines()) or "uv failed"
    # Addresses of indexes come from the user's settings and may hold a token; uv hides passwords.
    text = _QUERY.sub(r"\1…", text)
    if _NETWORK.search(text):
        return InfrastructureError(
            text, advice="check the network; what was built before is still usable offline"
        )
    return InputError(text, advice="correct the requirement; uv's message above names it")


def find_interpreter(version: str | None, folder: Path) -> Interpreter:
    """Return the Python of that version or path; by default the one Assay runs on."""
    if version is None:
        executable = getattr(sys, "_base_executable", None) or sys.executable
    else:
        executable = _locate(version, folder)
    return describe(Path(executable))


def _locate(version: str, folder: Path) -> str:
    find = ["python", "find", "--no-project", "--system", "--resolve-links"]
    try:
        return run_uv([*find, "--no-python-downloads", version], folder=folder).strip()
    except InputError:
        try:
            run_uv(["python", "install", version], folder=folder)
        except InfrastructureError as error:
            raise InfrastructureError(
                f"Python {version} is not on this machine and could not be downloaded",
                where=error.what.splitlines()[-1].strip(),
                advice="install it, or give the path of its executable",
            ) from None
        return run_uv([*find, version], folder=folder).strip()


def describe(executable: Path) -> Interpreter:
    """Ask an interpreter what it is; two that answer alike can share an environment."""
    try:
        answer = subprocess.run(  # noqa: S603 - the interpreter the user named
            [executable, "-I", "-S", "-c", _DESCRIBE],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        facts: dict[str, Any] = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise InfrastructureError(f"the interpreter {executable} does not run: {error}") from None
    build = " ".join(
        [facts["tag"], facts["version"], facts["platform"], *facts["libc"], facts["base"]]
    )
    return Interpreter(Path(facts["executable"]), facts["minor"], Path(facts["base"]), build)


_LOCK = Path(__file__).with_name("kit.lock")


def kit_version() -> str:
    """Return a short hash of the kit's lock: part of the key of every environment."""
    return hashlib.sha256(_LOCK.read_bytes()).hexdigest()[:12]


def read_pins() -> dict[str, str]:
    """Return the version of every package of the kit."""
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", _LOCK.read_text("utf-8"), re.MULTILINE))


def install_kit(interpreter: Interpreter, progress: Progress | None = None) -> Path:
    """Return the folder of the kit for an interpreter, which goes at the end of the path."""

    def install(folder: Path) -> dict[str, Any]:
        if progress:
            progress("installing the kit (pytest)")
        run_uv(
            ["pip", "install", "--quiet", "--python", str(interpreter.executable), "--no-deps",
             "--no-build", "--require-hashes", "--compile-bytecode",
             "--target", str(folder), "--requirements", str(_LOCK)],
            folder=folder,
        )  # fmt: skip
        return {"python": interpreter.build, "packages": read_pins()}

    key = hashlib.sha256(f"{kit_version()} {interpreter.build}".encode()).hexdigest()[:24]
    folder, _ = build_once("kits", key, install)
    # It is small and judges every target, so all of it is checked every time.
    check_unchanged("kits", key)
    return folder


# The first one that answers in JSON; uv itself cannot list releases.
_PIP = "pip>=25.1"


def list_releases(package: str) -> list[str]:
    """Return every release of a package, oldest first, without pre-releases and withdrawn ones."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    answer = run_uv(
        ["tool", "run", "--from", _PIP, "pip", "index", "versions", "--json", package],
        folder=folder,
    )
    try:
        found = [str(version) for version in json.loads(answer)["versions"]]
        return sorted(found, key=Version)
    except (ValueError, KeyError, TypeError, InvalidVersion) as error:
        raise InfrastructureError(
            f"the package client did not list the releases of {package}: {error}"
        ) from None
