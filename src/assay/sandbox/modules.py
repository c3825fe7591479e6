"""Which modules are the target's own: read from the installed files, nothing is imported."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from assay.sandbox.targets import Environment, Target

_NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")


def target_modules(target: Target, environment: Environment) -> tuple[str, ...]:
    """The roots of what the target brings, such as `google.adk`; empty for `current`.

    The environment Assay runs in has no requirement that would say what is meant.
    """
    if target.current:
        return ()
    found = [name for folder in environment.first for name in _roots_of_folder(folder)]
    names = {_normal(name[1]) for line in target.requirements if (name := _NAME.match(line))}
    for distribution in importlib.metadata.distributions(path=[str(_site(environment))]):
        if _normal(distribution.metadata["Name"]) in names:
            found += roots(str(file) for file in distribution.files or ())
    return tuple(sorted(set(found)))


def roots(files: Iterable[str]) -> list[str]:
    """The shallowest packages and modules among installed files; a namespace is no root."""
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
