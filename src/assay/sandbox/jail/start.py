"""Starts a module of this folder: `python -I -S start.py MODULE DESCRIPTOR`, in any Python >= 3.9.

The folder becomes a package under its own name and never enters the path, so that none of its
modules can hide one of a target's. `main` of the module gets its channel to Assay, if it has one.
"""

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

PACKAGE = "assay_jail"
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_CHANNEL = os.path.join(_FOLDER, "..", "..", "processes", "channel.py")


def load() -> None:
    """Make the modules of this folder importable as `assay_jail.…`."""
    sys.path[:] = [entry for entry in sys.path if entry != _FOLDER]
    _load(PACKAGE, os.path.join(_FOLDER, "__init__.py"), [_FOLDER])


def _load(name: str, file: str, folders: "list[str] | None" = None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    load()
    # As for a folder that is run: multiprocessing would otherwise import a file that is not visible
    # in the jail.
    __spec__ = ModuleSpec("__main__", None)
    main = importlib.import_module(f"{PACKAGE}.{sys.argv[1]}").main
    if len(sys.argv) > 2:
        main(_load(f"{PACKAGE}.channel", _CHANNEL).Channel(int(sys.argv[2])))
    else:
        main()
