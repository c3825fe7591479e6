"""The viewer: a local web application over the folders of runs, and the same as static files.

It reads runs and writes nothing into them. What it derives from them is in the user's cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.view.bundle import write_bundle
    from assay.view.server import serve

__all__ = ["serve", "write_bundle"]

# The command line asks for its help without any of the rest.
_LATE = {"serve": "server", "write_bundle": "bundle"}

if not TYPE_CHECKING:  # mypy would take every name for one of these

    def __getattr__(name: str) -> Any:
        if name not in _LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
