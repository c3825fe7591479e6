"""Starts a module of this folder: `python -I -S start.py MODULE ARGUMENTS`, in any Python >= 3.9.

The folder becomes a package under a name of its own and never enters the path, so that none of its
modules can hide one of a target's.
"""

import importlib.util
import os
import sys

PACKAGE = "assay_jail"


def load() -> None:
    """Make the modules of this folder importable as `assay_jail.…`."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    load()
    importlib.import_module(f"{PACKAGE}.{sys.argv[1]}").main(*sys.argv[2:])
