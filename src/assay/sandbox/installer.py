"""Installs the packages of a target. No code of a package runs outside the sandbox.

A package can run code when an interpreter starts in its environment: through a `.pth` file,
`sitecustomize`, or a script or data file that replaces the interpreter or its settings. Therefore
uv only inspects the interpreter of a new, empty environment; an environment with installed packages
is never started outside the sandbox, and its bytecode is compiled inside. If building is allowed,
all of it happens inside, with network access.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from assay.documents import LARGEST_RECORD, LARGEST_SETTINGS, open_regular, read_text, read_toml
from assay.errors import AssayError, InfrastructureError, InputError
from assay.sandbox import isolation
from assay.sandbox.jail.root import WORK
from assay.sandbox.overlay_base import Base, hand_over, new_base
from assay.sandbox.programs import ProgramResult, Programs, run_to_end
from assay.sandbox.uv import Interpreter, find_uv, make_error, run_uv
from assay.sandbox.workers import Limits

_LIMITS = Limits(
    wall_time=1800,
    cpu_time=1800,
    memory=8 << 30,
    processes=512,
    open_files=4096,
    file_size=1 << 30,
    work_size=8 << 30,
)
_SETTINGS = {"LANG": "C.UTF-8", "PYTHONHASHSEED": "0"}
# What uv needs to reach the index that the user has chosen; nothing else of the environment.
_OF_THE_INDEX = (
    *("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"),
    *("UV_INDEX_STRATEGY", "UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)
# A query may be a token as well.
_PASSWORD = re.compile(r"://[^/\s@]*@|://\S*\?\S")
_LOCAL_PATH = re.compile(r"(?:^|file://)(/[^\s#;]+)")


def make_venv(folder: Path, interpreter: Interpreter) -> Path:
    """Create an empty virtual environment in a folder, replacing an existing one."""
    venv = folder / "venv"
    shutil.rmtree(venv, ignore_errors=True)
    run_uv(
        ["venv", "--quiet", "--relocatable", "--no-project", "--python",
         str(interpreter.executable), str(venv)],
        folder=folder,
    )  # fmt: skip
    return venv


def install_wheels(
    folder: Path,
    lock: Path,
    interpreter: Interpreter,
    *,
    requires_hashes: bool,
) -> None:
    """Install the wheels of a lock into a new virtual environment in a folder."""
    hashes = ["--require-hashes"] if requires_hashes else []

    def sync(*more: str) -> None:
        # A new one for every attempt: packages installed by an earlier attempt must not be started.
        python = make_venv(folder, interpreter) / "bin" / "python"
        run_uv(
            ["pip", "sync", "--quiet", "--python", str(python), "--no-build", *hashes, *more,
             str(lock)],
            folder=folder,
        )  # fmt: skip

    try:
        # The lock names everything exactly: with uv's cache filled, no network is needed or asked.
        sync("--offline")
    except AssayError:
        sync()


def compile_bytecode(folder: Path, interpreter: Interpreter, level: str = "auto") -> None:
    """Compile the modules in a folder inside the sandbox; without one, leave them uncompiled.

    The sandbox sees them read-only and writes elsewhere, because uv's cache may share the files.
    """
    try:
        level = isolation.choose(level)
    except InfrastructureError:
        return
    with new_base(level) as base:
        sandbox = _BuildSandbox(base, level, interpreter, binds=(folder,))
        prefix = f"pycache_prefix={sandbox.inside}"
        # Modules that do not compile only matter to code that imports them.
        sandbox.run(
            [str(interpreter.executable), "-I", "-S", "-X", prefix, "-m", "compileall", "-q",
             "-j", str(os.cpu_count() or 1), str(folder)],
        )  # fmt: skip
        _take_over(base.path, folder)


def _take_over(compiled: Path, folder: Path) -> None:
    """Move compiled modules beside their sources, and nothing else."""
    root = compiled / str(folder.absolute()).lstrip("/")
    for place, _, names in os.walk(root):
        sources = folder / Path(place).relative_to(root)
        for name in names:
            path = Path(place, name)
            source = sources / f"{name.split('.', 1)[0]}.py"
            if name.endswith(".pyc") and path.is_file() and not path.is_symlink():
                if not source.is_file() or source.is_symlink():
                    continue
                cache = sources / "__pycache__"
                cache.mkdir(exist_ok=True)
                (cache / name).unlink(missing_ok=True)
                shutil.copyfile(path, cache / name)


def resolve_with_builds(
    lines: Sequence[str], projects: Sequence[SourceFolder], interpreter: Interpreter
) -> str:
    """Return a lock; packages are built for their metadata, inside the sandbox."""
    with _open_build_sandbox(interpreter, lines) as sandbox:
        names = [f"project-{position}" for position in range(len(projects))]
        for name, source in zip(names, projects, strict=True):
            copy_files(source.folder, sandbox.base.path / name)
        return sandbox.run_uv(
            ["pip", "compile", "--quiet", "--python", str(interpreter.executable),
             "--generate-hashes", "--no-header", "--no-annotate", "-",
             *(f"{name}/pyproject.toml" for name in names)],
            stdin="\n".join(lines) + "\n",
        )  # fmt: skip


def install_with_builds(
    folder: Path, lock: Path, interpreter: Interpreter, *, requires_hashes: bool
) -> None:
    """Build and install the packages of a lock inside the sandbox; keep the environment."""
    lines = read_text(lock, LARGEST_RECORD).splitlines()
    with _open_build_sandbox(interpreter, lines) as sandbox:
        shutil.copyfile(lock, sandbox.base.path / "lock.txt")
        sandbox.run_uv(["venv", "--quiet", "--relocatable", "--no-project", "--python",
                        str(interpreter.executable), "venv"])  # fmt: skip
        sandbox.run_uv(["pip", "sync", "--quiet", "--python", "venv/bin/python", "lock.txt",
                        *(["--require-hashes"] if requires_hashes else [])])  # fmt: skip
        # Links are kept as links: only the sandbox follows them.
        try:
            shutil.copytree(sandbox.base.path / "venv", folder / "venv", symlinks=True)
        except shutil.Error as error:
            raise InputError(f"what was built cannot be copied: {error.args[0][0][2]}") from None


class _BuildSandbox:
    """A folder in the sandbox in which programs work on the packages of a target."""

    def __init__(
        self,
        base: Base,
        level: str,
        interpreter: Interpreter,
        *,
        binds: Sequence[Path] = (),
        network: bool = False,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.base = base
        # With namespaces the work folder has its own name.
        self.inside = WORK if level == "namespaces" else str(base.path)
        self._variables = {**_SETTINGS, **(variables or {})}
        self._programs = Programs(
            isolation=level,
            limits=_LIMITS,
            binds=[(str(path), str(path), False) for path in (interpreter.base, *binds)],
            network=network,
            base=base,
            work="base",
        )

    def run(self, command: Sequence[str], stdin: str = "") -> ProgramResult:
        async def run() -> ProgramResult:
            async with self._programs as programs:
                return await programs.run(
                    command, stdin=stdin.encode(), environment=self._variables
                )

        hand_over(self.base)
        return run_to_end(run())

    def run_uv(self, arguments: Sequence[str], stdin: str = "") -> str:
        """Run uv and return its standard output; an error carries uv's own message."""
        result = self.run(["./uv", "--no-progress", "--color", "never", *arguments], stdin)
        if result.limit:
            raise InputError(
                f"building exceeded its limit {result.limit}", advice="name packages with wheels"
            )
        if result.exit_status != 0:
            raise make_error(result.stderr.decode("utf-8", "replace"))
        return result.stdout.decode("utf-8", "replace")


@contextmanager
def _open_build_sandbox(interpreter: Interpreter, lines: Sequence[str]) -> Iterator[_BuildSandbox]:
    """Open a sandbox with uv, the network, and the folders that requirements point to."""
    level = isolation.choose("auto")
    variables = _index_variables(os.environ)
    paths = [unquote(found[1]) for line in lines for found in _LOCAL_PATH.finditer(line)]
    paths += [variables.get(name, "") for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")]
    with new_base(level) as base:
        shutil.copy(find_uv(), base.path / "uv")
        inside = WORK if level == "namespaces" else str(base.path)
        variables |= {
            "UV_CACHE_DIR": f"{inside}/cache",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_LINK_MODE": "copy",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
        }
        binds = [Path(path) for path in paths if path and Path(path).exists()]
        yield _BuildSandbox(
            base, level, interpreter, binds=binds, network=True, variables=variables
        )


def _index_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the user's settings of the index; raise an InputError if one holds a password."""
    variables = {name: environment[name] for name in _OF_THE_INDEX if environment.get(name)}
    for name, value in variables.items():
        if _PASSWORD.search(value):
            raise InputError(
                f"{name} holds a password, and code of a package that is built would see it",
                advice="name packages that have wheels, or unset the variable for this command",
            )
    return variables


# Neither part of a package nor anything a proof should see: history, environments, caches, secrets.
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".venv", "venv", ".env", ".tox", ".nox", "node_modules", "__pycache__",
     ".mypy_cache", ".pytest_cache", ".ruff_cache", ".assay", "build", "dist"}
)  # fmt: skip


@dataclass(frozen=True)
class SourceFolder:
    """A snapshot of a folder: its requirements and a hash of every file that will be copied."""

    folder: Path
    name: str
    version: str
    requirements: tuple[str, ...]
    digest: str
    needs_build: bool

    @property
    def root(self) -> Path:
        """The part that goes on the path: `src/` where the folder has that layout."""
        inner = self.folder / "src"
        flat = (self.folder / self.name.replace("-", "_")).is_dir()
        return inner if inner.is_dir() and not flat else self.folder


def read_source(folder: Path) -> SourceFolder:
    """Read a source folder; it must exist but need not be a package."""
    folder = folder.absolute()
    if not folder.is_dir():
        raise InputError(
            "the source folder does not exist", where=str(folder), advice="check the path"
        )
    project = _project(folder)
    dynamic = "dependencies" in project.get("dynamic", ())
    requirements = project.get("dependencies", ())
    if not project and (folder / "requirements.txt").is_file():
        requirements = _plain_lines(folder / "requirements.txt")
    return SourceFolder(
        folder=folder,
        name=str(project.get("name", folder.name)),
        version=str(project.get("version", "0")),
        requirements=tuple(str(line) for line in requirements),
        digest=digest(folder),
        needs_build=dynamic,
    )


def _project(folder: Path) -> dict[str, Any]:
    path = folder / "pyproject.toml"
    if not path.is_file():
        return {}
    project = read_toml(path).get("project", {})
    return project if isinstance(project, dict) else {}


def _plain_lines(path: Path) -> list[str]:
    lines = (line.split(" #")[0].strip() for line in read_text(path, LARGEST_SETTINGS).splitlines())
    return [line for line in lines if line and not line.startswith("#")]


# Far more than any package has; a parent folder is not meant as a package.
_MOST_FILES = 50_000
_MOST_BYTES = 2 << 30


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files that belong to a source; raise InputError for an unsuitable folder."""
    count = size = 0
    for path in _all_files(folder):
        count, size = count + 1, size + path.lstat().st_size
        if count > _MOST_FILES or size > _MOST_BYTES:
            raise InputError(
                f"has more than {_MOST_FILES:,} files or {_MOST_BYTES:,} bytes",
                where=str(folder),
                advice="name the folder of one package",
            )
        yield path


def _all_files(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in sorted(names):
            path = Path(place, name)
            # A link could point at anything of the user's; what it points at is not the source.
            if name not in _LEFT_OUT and path.is_file() and not path.is_symlink():
                yield path


def digest(folder: Path) -> str:
    """Return a hash of the names and contents of all files that belong to the source."""
    total = hashlib.sha256()
    for path in _files(folder):
        with open_regular(path, follow=False) as file:
            content = hashlib.file_digest(file, "sha256").digest()
        total.update(os.fsencode(path.relative_to(folder)) + b"\0" + content)
    return total.hexdigest()


def copy_files(folder: Path, place: Path) -> None:
    """Copy all files that belong to the source in a folder."""
    for path in _files(folder):
        copy = place / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def copy_source(source: SourceFolder, place: Path) -> None:
    """Copy the importable files, with just enough metadata for the package version."""
    copy_files(source.root, place)
    information = place / f"{source.name.replace('-', '_')}-{source.version}.dist-info"
    if not information.exists():
        information.mkdir(parents=True)
        text = f"Metadata-Version: 2.1\nName: {source.name}\nVersion: {source.version}\n"
        (information / "METADATA").write_text(text, "utf-8")
