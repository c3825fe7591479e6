"""The releases of a package that the package client offers, oldest first."""

from __future__ import annotations

import json

from packaging.version import InvalidVersion, Version

from assay.errors import InfrastructureError
from assay.sandbox.cache import cache_folder
from assay.sandbox.uv import run_uv

# The first one that answers in JSON; uv itself cannot list releases.
_PIP = "pip>=25.1"


def list_releases(package: str) -> list[str]:
    """Every release that is no pre-release and was not withdrawn."""
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
