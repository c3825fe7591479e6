"""The names that problem folders written for SlopCodeBench import, with the same meanings.

Only a problem's own code sees them as `slop_code…`, where `install` has added them: in a problem's
worker and in its own tests.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

ALIAS = "slop_code"
# The modules of the reference, and where the names are that each of them has.
_MODULES: dict[str, tuple[str, ...]] = {
    "": (),
    ".logging": ("loaders",),
    ".execution": (),
    ".execution.file_ops": ("models",),
    ".evaluation": ("models",),
    ".evaluation.config": ("models",),
    ".evaluation.adapters": ("models",),
    ".evaluation.adapters.models": ("models",),
    ".evaluation.adapters.cli": ("models",),
    ".evaluation.adapters.api": ("models",),
    ".evaluation.loaders": ("loaders",),
    ".evaluation.loaders.loader_protocol": ("loaders",),
    ".evaluation.loaders.helpers": ("loaders",),
    ".evaluation.verifiers": ("models", "verifiers"),
    ".evaluation.verifiers.errors": ("models",),
    ".evaluation.verifiers.models": ("models",),
    ".evaluation.verifiers.parsers": ("parsers",),
    ".evaluation.verifiers.format_validators": ("verifiers",),
    ".evaluation.verifiers.verifiers": ("verifiers",),
}


def install() -> None:
    """Make `import slop_code…` give these modules, in the process that calls this."""
    for name, sources in _MODULES.items():
        module = importlib.util.module_from_spec(ModuleSpec(ALIAS + name, None, is_package=True))
        module.__dict__.update(_public_names(sources))
        sys.modules[ALIAS + name] = module
        parent, _, last = (ALIAS + name).rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)


def _public_names(sources: Iterable[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for source in sources:
        module: ModuleType = importlib.import_module(f"{__name__}.{source}")
        names = getattr(module, "__all__", [one for one in vars(module) if one[0] != "_"])
        found |= {name: getattr(module, name) for name in names}
    return found


def module_names() -> list[str]:
    """Return the modules that a problem can import."""
    return [ALIAS + name for name in _MODULES]
