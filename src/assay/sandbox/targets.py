"""Targets: what proofs run against, and the clean environment that is built once for each."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path, PurePosixPath
from typing import Any

from assay.documents import LARGEST_RECORD, read_text
from assay.errors import InputError, nearest
from assay.sandbox.cache import (
    build_once,
    cache_folder,
    check_unchanged,
    exclusive,
    find_changes,
    list_keys,
    read_facts,
    remove,
    write_whole,
)
from assay.sandbox.installer import (
    SourceFolder,
    compile_bytecode,
    copy_source,
    install_wheels,
    install_with_builds,
    make_venv,
    read_source,
    resolve_with_builds,
)
from assay.sandbox.uv import (
    Interpreter,
    Progress,
    describe,
    find_interpreter,
    install_kit,
    kit_version,
    read_pins,
    run_uv,
)

_KIND = "environments"
# How many files of an environment are compared with their digests whenever it is used.
_SAMPLE = 32
_NAMED = re.compile(
    r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?\s*(?:\[[^\]/:@]*\])?\s*\(?[^/:@;]*\)?\s*(?:;.*)?"
)
# The name at the start of a requirement: what follows is extras, a version, a marker or an address.
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?(?=\s*(?:$|[\[(<>=!~;,@]))")


@dataclass(frozen=True)
class Target:
    """What proofs run against: requirements, source folders, or Assay's own environment."""

    requirements: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    current: bool = False
    python: str | None = None
    about: tuple[str, ...] = ()
    """Of `current`: the distributions that are meant; without them users of it must guess."""

    def __post_init__(self) -> None:
        if self.current and (self.requirements or self.sources or self.python):
            raise InputError(
                "`current` cannot be combined with other requirements",
                advice="give requirements and folders without it, or `current` alone",
            )
        if not (self.current or self.requirements or self.sources):
            raise InputError(
                "the target is empty", advice="name a requirement, for example pydantic==2.9"
            )

    def __str__(self) -> str:
        own = f"current:{','.join(self.about)}" if self.about else "current"
        named = [own] if self.current else [*self.requirements, *map(str, self.sources)]
        return ", ".join(named) + (f" on Python {self.python}" if self.python else "")


@dataclass(frozen=True)
class Environment:
    """A built target: its interpreter, what comes first on its path, and what it may read."""

    key: str
    interpreter: Path
    """What is started: it belongs to the machine, never to the target."""
    python: Path
    """What is the interpreter inside the sandbox: that of the target's virtual environment."""
    first: tuple[Path, ...]
    kit: Path | None
    reads: tuple[Path, ...]
    lock: str
    described: str
    is_locked: bool = True
    """Whether the lock says all: what is installed from a folder changes without it."""
    distributions: tuple[str, ...] = ()
    """Those that were asked for by name or as a folder, without what they depend on."""


@dataclass(frozen=True)
class BuiltTarget:
    """One finished environment of the cache, as `assay targets list` shows it."""

    key: str
    described: str
    python: str
    packages: int
    bytes: int


def environment(
    target: Target,
    *,
    allow_build: bool = False,
    allow_direct: bool = False,
    progress: Progress | None = None,
) -> Environment:
    """Return the environment of a target, building it if it does not exist yet."""
    if target.current:
        return _current(target.about, progress)
    check_requirements(target.requirements, allow_direct)
    root = cache_folder()
    with exclusive("root"):
        root.mkdir(parents=True, exist_ok=True)
    interpreter = find_interpreter(target.python, root)
    sources = [read_source(folder) for folder in target.sources]
    for source in sources:
        # A third-party folder has no more rights than a suite.
        with _locate_errors(source):
            check_requirements(source.requirements, allow_direct)
    request = _request(target, sources, interpreter, allow_build)
    lock = _lock(request, sources, interpreter, allow_build, progress)
    lock_hash = _hash(lock)
    key = _hash(request, lock_hash, kit_version(), *(source.digest for source in sources))[:24]

    def build(folder: Path) -> dict[str, Any]:
        _install(folder, lock, interpreter, sources, allow_build, allow_direct, progress)
        return {
            "target": str(target),
            "python": interpreter.minor,
            "packages": _count(lock),
            "lock": lock_hash,
            "sources": len(sources),
        }

    folder, facts = build_once(_KIND, key, build, lambda: _say(progress, "another process builds"))
    check_unchanged(_KIND, key, sample=_SAMPLE)
    first = tuple(folder / f"source-{position}" for position in range(facts["sources"]))
    kit_folder = install_kit(interpreter, progress)
    return Environment(
        key=key,
        interpreter=interpreter.executable,
        python=folder / "venv" / "bin" / "python",
        first=first,
        kit=kit_folder,
        reads=(interpreter.base, folder, kit_folder),
        lock=_describe_lock(lock, interpreter),
        is_locked=not sources,
        described=str(target),
        distributions=requirement_names(target.requirements, sources),
    )


@contextmanager
def _locate_errors(source: SourceFolder) -> Iterator[None]:
    """Add the position to errors in the requirements of a source folder."""
    try:
        yield
    except InputError as error:
        raise InputError(error.what, where=str(source.folder), advice=error.advice) from None


def check_requirements(requirements: Iterable[str], allow_direct: bool = False) -> None:
    """Refuse options always, and addresses and paths unless they are allowed."""
    for requirement in requirements:
        text = requirement.strip()
        if not text or text.startswith("-") or "\n" in text:
            raise InputError(
                f"{requirement!r} is not a requirement", advice="write it as name==version"
            )
        if not allow_direct and not _NAMED.fullmatch(text):
            raise InputError(
                f"{requirement!r} points to an address or a path, not to a released package",
                advice="name a package and a version, or permit it with --allow-direct",
            )


def requirement_names(
    requirements: Iterable[str], sources: Iterable[SourceFolder]
) -> tuple[str, ...]:
    """Return the names in requirements; an address without a name before it has none."""
    named = [
        found[0]
        for text in requirements
        if (found := _NAME.match(text.strip())) and "://" not in found[0]
    ]
    return tuple(dict.fromkeys([*named, *(source.name for source in sources)]))


def _request(
    target: Target, sources: list[SourceFolder], interpreter: Interpreter, allow_build: bool
) -> str:
    """Return the inputs of a resolution as text: equal requests share one lock."""
    return json.dumps(
        {
            "requirements": sorted({line.strip() for line in target.requirements}),
            "sources": [[source.name, sorted(source.requirements)] for source in sources],
            "python": interpreter.build,
            "build": allow_build,
        }
    )


def _lock(
    request: str,
    sources: list[SourceFolder],
    interpreter: Interpreter,
    allow_build: bool,
    progress: Progress | None,
) -> str:
    path = cache_folder() / "locks" / f"{_hash(request)[:24]}.txt"
    with exclusive(f"lock-{path.stem}", lambda: _say(progress, "another process resolves")):
        if path.is_file():
            return read_text(path, LARGEST_RECORD)
        _say(progress, "resolving")
        lock = _resolve(request, sources, interpreter, allow_build)
        write_whole(path, lock)
    return lock


def _resolve(
    request: str, sources: list[SourceFolder], interpreter: Interpreter, allow_build: bool
) -> str:
    asked = json.loads(request)
    lines = [*asked["requirements"], *(line for _, group in asked["sources"] for line in group)]
    dynamic = [str(source.folder / "pyproject.toml") for source in sources if source.needs_build]
    if dynamic and not allow_build:
        raise InputError(
            "the dependencies of this project are only known once it is built",
            where=dynamic[0],
            advice="permit that with --allow-build, or name the requirements yourself",
        )
    if not lines and not dynamic:
        return ""
    if allow_build:
        projects = [source for source in sources if source.needs_build]
        return resolve_with_builds(lines, projects, interpreter)
    return run_uv(
        ["pip", "compile", "--quiet", "--python", str(interpreter.executable), "--generate-hashes",
         "--no-header", "--no-annotate", "--no-build", "-"],
        folder=cache_folder(),
        stdin="\n".join(lines) + "\n",
    )  # fmt: skip


def _install(
    folder: Path,
    lock: str,
    interpreter: Interpreter,
    sources: list[SourceFolder],
    allow_build: bool,
    allow_direct: bool,
    progress: Progress | None,
) -> None:
    for position, source in enumerate(sources):
        copy_source(source, folder / f"source-{position}")
    (folder / "lock.txt").write_text(lock, "utf-8")
    if not lock:
        make_venv(folder, interpreter)
        return
    _say(progress, f"installing {_count(lock)} packages")
    install = install_with_builds if allow_build else install_wheels
    # A folder or a repository has no hash to require; those of the index are still verified.
    install(folder, folder / "lock.txt", interpreter, requires_hashes=not allow_direct)
    _say(progress, "compiling")
    compile_bytecode(folder, interpreter)


def _current(about: tuple[str, ...], progress: Progress | None) -> Environment:
    """Return the environment Assay runs in, read-only, with its own pytest if it has one."""
    for name in about:
        _check_installed(name)
    packages = sorted(map(_pin, importlib.metadata.distributions()))
    interpreter = describe(Path(sys.executable))
    own = {line.split("==")[0].lower().replace("_", "-") for line in packages}
    kit_folder = None if {"pytest", "pytest-asyncio"} <= own else install_kit(interpreter, progress)
    lock_hash = _hash(*packages)
    # Not the current directory: its content is not part of the environment and may include a suite
    # with its keys.
    paths = [Path(entry).absolute() for entry in sys.path if entry]
    paths = [path for path in paths if path != Path.cwd()]
    reads = [interpreter.base, Path(sys.prefix), *(path for path in paths if path.is_dir())]
    return Environment(
        key=_hash("current", interpreter.build, lock_hash, *map(str, paths))[:24],
        interpreter=Path(getattr(sys, "_base_executable", None) or sys.executable),
        python=Path(sys.executable),
        first=(),
        kit=kit_folder,
        reads=tuple(dict.fromkeys([*reads, *([kit_folder] if kit_folder else [])])),
        lock=_describe_lock("".join(f"{line}\n" for line in packages), interpreter),
        is_locked=not any(map(_is_folder, about or own)),
        described="current",
        distributions=about,
    )


def _describe_lock(lock: str, interpreter: Interpreter) -> str:
    """Return a lock with the Python that its packages are installed in."""
    return f"# Python {interpreter.minor}\n{lock}"


def _pin(found: importlib.metadata.Distribution) -> str:
    """Return name and version, without parsing the long descriptions of packages."""
    text = found.read_text("METADATA") or found.read_text("PKG-INFO") or ""
    about = message_from_string(text.partition("\n\n")[0])
    return f"{about['Name']}=={about['Version']}"


def _is_folder(name: str) -> bool:
    """Return whether a distribution was installed from a folder, such as one that is edited."""
    try:
        origin = importlib.metadata.distribution(name).read_text("direct_url.json")
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return False
    return origin is not None and "dir_info" in origin


def _check_installed(name: str) -> None:
    try:
        importlib.metadata.distribution(name)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        names = (str(found.metadata["Name"]) for found in importlib.metadata.distributions())
        raise InputError(
            f"{name!r} is not installed in the current environment", advice=nearest(name, names)
        ) from None


def list_targets() -> list[BuiltTarget]:
    """Return every finished environment of the cache, with its size."""
    listed = []
    for key in list_keys(_KIND):
        facts = read_facts(_KIND, key)
        if facts is not None:
            listed.append(
                BuiltTarget(
                    key, facts["target"], facts["python"], facts["packages"], facts["bytes"]
                )
            )
    return listed


def installed_paths(built: Environment) -> list[Path]:
    """Return the folders that a built environment imports packages from, in their order."""
    if built.described == "current":
        return [Path(entry) for entry in sys.path if entry]
    return [*built.first, _site(built)]


def find_installed(target: Target) -> list[Path] | None:
    """Return the folders a target's packages are in, without building; None if it is not built."""
    if target.current:
        return [Path(entry) for entry in sys.path if entry]
    sources = [path for folder in target.sources for path in (folder / "src", folder)]
    if not target.requirements:
        return sources
    for key in list_keys(_KIND):
        facts = read_facts(_KIND, key)
        if facts is not None and facts["target"] == str(target):
            folder = cache_folder() / _KIND / key / "venv" / "lib"
            return [*sources, *folder.glob("python*/site-packages")]
    return None


def verify_targets() -> dict[str, list[str] | None]:
    """Compare every file of all environments and kits with the digest of its build.

    Returns the changed files of each, None for what was built before digests were recorded.
    """
    return {
        f"{kind}/{key}": find_changes(kind, key)
        for kind in (_KIND, "kits")
        for key in list_keys(kind)
    }


def remove_target(key: str) -> int:
    """Remove an environment by a prefix of its key, not its lock; return the bytes freed."""
    known = list_keys(_KIND)
    matching = [name for name in known if key and name.startswith(key)]
    if len(matching) != 1:
        what = "is the start of several keys" if matching else "is not a built target"
        raise InputError(f"{key!r} {what}", advice=nearest(key, matching or known))
    return remove(_KIND, matching[0])


def pytest_of_kit() -> str:
    """Return the pytest version pinned by the kit; only this one uses the fast path."""
    return read_pins()["pytest"]


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _count(lock: str) -> int:
    """Count the packages of a lock: every line that is not the continuation of one."""
    return sum(bool(line) and not line.startswith((" ", "#")) for line in lock.splitlines())


def _say(progress: Progress | None, text: str) -> None:
    if progress:
        progress(text)


def first_imports(target: Target, environment: Environment) -> tuple[str, ...]:
    """Return what to import once, before the proofs: the target, or what `current:…` names."""
    if not target.current:
        return target_modules(target, environment)
    files = (importlib.metadata.files(name) or () for name in target.about)
    return tuple(sorted({root for found in files for root in roots(map(str, found))}))


def target_modules(target: Target, environment: Environment) -> tuple[str, ...]:
    """Return the root modules of the target, such as `google.adk`; none for `current`.

    The environment Assay runs in has no requirement that would say what is meant.
    """
    if target.current:
        return ()
    found = [name for folder in environment.first for name in _roots_of_folder(folder)]
    names = {_normal(name) for name in requirement_names(target.requirements, ())}
    for distribution in importlib.metadata.distributions(path=[str(_site(environment))]):
        if _normal(distribution.metadata["Name"]) in names:
            found += roots(str(file) for file in distribution.files or ())
    return tuple(sorted(set(found)))


def roots(files: Iterable[str]) -> list[str]:
    """Return the shallowest packages and modules among installed files, no namespaces."""
    paths = [PurePosixPath(file) for file in files if file.endswith((".py", ".so", ".pyd"))]
    packages = {path.parent for path in paths if path.name == "__init__.py"}
    tops = {
        package
        for package in packages
        if not any(above in packages for above in package.parents) and _is_dotted(package.parts)
    }
    singles = {
        path.parent / path.name.partition(".")[0]
        for path in paths
        if path.name != "__init__.py" and path.parent == PurePosixPath()
    }
    return sorted(".".join(path.parts) for path in tops | singles)


def _is_dotted(parts: Sequence[str]) -> bool:
    return bool(parts) and all(part.isidentifier() for part in parts)


def _roots_of_folder(folder: Path) -> list[str]:
    return roots(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))


def _site(environment: Environment) -> Path:
    return next((environment.python.parent.parent / "lib").glob("python*/site-packages"))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
