"""Plugins: extensions from installed packages, found through entry points.

A package registers an object under one of the groups in `KINDS`. It is imported when its name is
requested, so an unused plugin costs nothing, and a broken one affects only the requests for it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from assay.errors import InputError, nearest
from assay.tracebacks import describe

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

logger = logging.getLogger("assay")

KINDS = {
    "checks": "functions (actual, expected, *, options) that return a VerificationResult",
    "reports": "functions (run) that yield the text of a report, or assay.reports.Format objects",
    "rules": "assay.findings.Rule objects, named SUBJECT.CODE",
    "connections": "assay.agents.connections.Kind objects",
    "adapters": "assay.submissions.adapters.AdapterType objects",
    "environments": "assay.submissions.environments.EnvironmentType objects",
    "provers": "functions without arguments that return a prover",
    "engines": "functions (plan, folder, progress) that run the cases of a plan",
}
T = TypeVar("T")
_unusable: set[str] = set()


@dataclass(frozen=True)
class Plugin:
    """An extension from an installed package: its kind, its name, and its origin."""

    kind: str
    name: str
    entry: EntryPoint

    @property
    def package(self) -> str:
        """Return the name and version of the package."""
        found = self.entry.dist
        return "" if found is None else f"{found.name} {found.version}"

    @property
    def place(self) -> str:
        """Return the module and the name of the object in it."""
        return self.entry.value

    def load(self) -> Any:
        """Import the object; raise an InputError that names the package if that fails."""
        try:
            return self.entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise InputError(
                f"the {self.kind[:-1]} {self.name!r} cannot be imported: {describe(error)}",
                where=f"{self.package} ({self.place})",
                advice="repair or uninstall the package; `assay plugins` lists what is installed",
            ) from error


def list_installed(kind: str | None = None) -> list[Plugin]:
    """Return the plugins of a kind, or of all kinds, without importing any."""
    # Not at the top: it takes longer to import than most commands take to print their help.
    from importlib.metadata import entry_points

    kinds = KINDS if kind is None else (kind,)
    found = [
        Plugin(one, entry.name, entry)
        for one in kinds
        for entry in entry_points(group=f"assay.{one}")
    ]
    return sorted(found, key=lambda plugin: (plugin.kind, plugin.name, plugin.package))


def find(kind: str, name: str) -> Any:
    """Return the object that a plugin registers under a name, or None."""
    matching = [plugin for plugin in list_installed(kind) if plugin.name == name]
    if len(matching) > 1:
        packages = ", ".join(plugin.package for plugin in matching)
        raise InputError(
            f"several packages add a {kind[:-1]} {name!r}: {packages}",
            advice="uninstall all but one",
        )
    return matching[0].load() if matching else None


def get(kind: str, name: str, built_in: Mapping[str, T], type_: type[T]) -> T:
    """Return an object by name: built in, or from an installed package.

    Raise an InputError with the nearest name and all installed ones if there is none.
    """
    found = built_in.get(name) or find(kind, name)
    if found is None:
        known = sorted({*built_in, *(plugin.name for plugin in list_installed(kind))})
        raise InputError(
            f"there is no {kind[:-1]} {name!r}",
            advice=f"{nearest(name, known)} (installed: {', '.join(known)})",
        )
    if not isinstance(found, type_):
        raise InputError(f"the {kind[:-1]} {name!r} of a plugin is not an {type_.__name__} object")
    return found


def load_all(kind: str) -> dict[str, Any]:
    """Return the objects of all plugins of a kind; warn once about one that cannot be imported."""
    found = {}
    for plugin in list_installed(kind):
        try:
            found[plugin.name] = plugin.load()
        except InputError as error:
            if plugin.place not in _unusable:
                _unusable.add(plugin.place)
                logger.warning("%s", error)
    return found
