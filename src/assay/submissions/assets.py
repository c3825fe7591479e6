"""Names of static assets, `{{static:<name>}}`, in what is written, and the paths they stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from assay.errors import InputError, nearest

Model = TypeVar("Model", bound=BaseModel)
_NAME = re.compile(r"\{\{\s*static:\s*([^{}]+?)\s*\}\}")


def asset_names(value: Any) -> Iterator[str]:
    """The names of assets that a text or structure uses, in its keys too."""
    if isinstance(value, str):
        yield from _NAME.findall(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from asset_names(key)
            yield from asset_names(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from asset_names(item)


def replace_assets(value: Any, paths: Mapping[str, str]) -> Any:
    """The value with every `{{static:<name>}}` in texts and keys replaced by the asset's path."""
    if isinstance(value, str):
        return _NAME.sub(lambda found: _path(found[1], paths), value) if "{{" in value else value
    if isinstance(value, list | tuple):
        return type(value)(replace_assets(item, paths) for item in value)
    if isinstance(value, dict):
        return {
            replace_assets(key, paths): replace_assets(item, paths) for key, item in value.items()
        }
    return value


def _path(name: str, paths: Mapping[str, str]) -> str:
    if name not in paths:
        raise InputError(f"there is no static asset {name!r}", advice=nearest(name, paths))
    return paths[name]


def with_assets(case: Model, paths: Mapping[str, str]) -> Model:
    """The case as it is run; the same object if it names no asset."""
    given = {**case.__dict__, **(case.__pydantic_extra__ or {})}
    changed = {}
    for name, value in given.items():
        new = _in_models(value, paths)
        if new != value:
            changed[name] = new
    return case.model_copy(update=changed) if changed else case


def _in_models(value: Any, paths: Mapping[str, str]) -> Any:
    if isinstance(value, BaseModel):
        return with_assets(value, paths)
    if isinstance(value, list):
        return [_in_models(item, paths) for item in value]
    return replace_assets(value, paths)
