"""Packages that only some features need, and the extras of Assay that install them."""

from __future__ import annotations

import shlex
from importlib.metadata import requires
from importlib.util import find_spec

from assay.errors import InfrastructureError

# The modules of each extra that Assay imports; pyproject.toml has the packages.
EXTRAS = {
    "model": ("google.adk", "litellm", "mcp"),
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "parquet": ("pyarrow",),
    "problems": ("deepdiff", "numpy", "pandas", "structlog", "tomli"),
    "ray": ("ray",),
    "stats": ("pandas", "pyarrow"),
}


def require_extra(extra: str, feature: str) -> None:
    """Raise an InfrastructureError that names the extra if a module of it is not installed.

    Nothing is imported. A missing package is never the subject's fault, so it is no InputError.
    """
    missing = _find_missing(extra)
    if missing is not None:
        raise InfrastructureError(
            f"{feature} needs {missing}, which is not installed", advice=how_to_install(extra)
        )


def has_extra(extra: str) -> bool:
    """Return whether all modules of an extra are installed."""
    return _find_missing(extra) is None


def how_to_install(extra: str) -> str:
    """Return the advice that names an extra, and the command that installs its packages."""
    wanted = shlex.join(sorted(_requirements(extra)))
    return f"install the extra assaykit[{extra}], or just its packages: pip install {wanted}"


def _requirements(extra: str) -> list[str]:
    """Return the requirements of an extra, as the installed Assay declares them."""
    found = []
    for text in requires("assaykit") or ():
        requirement, _, marker = text.partition(";")
        if marker.strip() == f"extra == '{extra}'":
            found.append(requirement.strip())
    return found


def _find_missing(extra: str) -> str | None:
    return next((name for name in EXTRAS[extra] if not _is_installed(name)), None)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
