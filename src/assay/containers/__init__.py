"""Programs and servers in containers of podman or docker, with the results of the sandbox."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.containers.container import Container, ContainerSpec, User
    from assay.containers.doctor import describe_engines
    from assay.containers.engine import CHOICES, Engine, EngineError, find_engine, try_engine
    from assay.containers.images import (
        KeptImage,
        build_image,
        commit_layer,
        find_image,
        layer_tag,
        list_images,
        load_image,
        pull_image,
        remove_image,
        require_image,
    )
    from assay.containers.owners import sweep
    from assay.containers.processes import run_in_container
    from assay.containers.programs import ContainerPrograms
    from assay.containers.servers import serve_in_container
    from assay.containers.settings import EngineSettings, find_settings

_HOMES = {
    "container": "Container ContainerSpec User",
    "doctor": "describe_engines",
    "engine": "CHOICES Engine EngineError find_engine try_engine",
    "images": "KeptImage build_image commit_layer find_image layer_tag list_images load_image "
    "pull_image remove_image require_image",
    "owners": "sweep",
    "processes": "run_in_container",
    "programs": "ContainerPrograms",
    "servers": "serve_in_container",
    "settings": "EngineSettings find_settings",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "CHOICES",
    "Container",
    "ContainerPrograms",
    "ContainerSpec",
    "Engine",
    "EngineError",
    "EngineSettings",
    "KeptImage",
    "User",
    "build_image",
    "commit_layer",
    "describe_engines",
    "find_engine",
    "find_image",
    "find_settings",
    "layer_tag",
    "list_images",
    "load_image",
    "pull_image",
    "remove_image",
    "require_image",
    "run_in_container",
    "serve_in_container",
    "sweep",
    "try_engine",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
