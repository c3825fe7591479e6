"""Start of a runner: loads this folder as a package of its own name and serves the given socket.

The folder leaves the path again before anything of the target is imported, so that no module of
the target can be hidden by one of these, and none of these is found by accident.
"""

import importlib.util
import sys
from pathlib import Path

PACKAGE = "assay_jail"


def _load() -> None:
    folder = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != folder]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _load()
    importlib.import_module(f"{PACKAGE}.server").serve(int(sys.argv[1]))
