"""Puts the reference's names where a problem's code looks for them, in the process that calls this.

Only the worker and a problem's own tests do. All modules are there before any problem is imported,
so that none is made a second time under its other name.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

from assay.submissions import reference

ALIAS = "slop_code"


def install() -> None:
    """Make `import slop_code…` give the modules of `assay.submissions.reference`."""
    sys.modules[ALIAS] = reference
    prefix = f"{reference.__name__}."
    for found in pkgutil.walk_packages(reference.__path__, prefix):
        name = f"{ALIAS}.{found.name.removeprefix(prefix)}"
        sys.modules[name] = importlib.import_module(found.name)


def module_names() -> list[str]:
    """The modules a problem can import, under the alias."""
    prefix = f"{reference.__name__}."
    found = pkgutil.walk_packages(reference.__path__, prefix)
    return [ALIAS, *(f"{ALIAS}.{each.name.removeprefix(prefix)}" for each in found)]
