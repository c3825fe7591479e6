"""The fields of classes that describe data: pydantic models, dataclasses, attrs, typed tuples."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from . import showing

Fields = dict[str, dict[str, Any]]


@functools.lru_cache(maxsize=None)
def fields_of(kind: type) -> Fields:
    """Every field by name, inherited ones included; empty for an ordinary class."""
    for reader in (_pydantic, _old_pydantic, _dataclass, _attrs, _typed_dict, _named_tuple):
        try:
            found = reader(kind)
        except Exception:
            found = None
        if found is not None:
            return found
    return {}


def own_fields(kind: type) -> Fields:
    """The fields that the class adds, or that mean something else than in its bases."""
    inherited: Fields = {}
    for base in reversed(kind.__mro__[1:]):
        if base is not object:
            inherited.update(fields_of(base))
    annotated = kind.__dict__.get("__annotations__", {})
    return {
        name: field
        for name, field in fields_of(kind).items()
        if name in annotated or inherited.get(name) != field
    }


def policy(kind: type) -> dict[str, Any]:
    """What a pydantic model does with input it has no field for."""
    config = getattr(kind, "model_config", None)
    if isinstance(config, dict) and hasattr(kind, "__pydantic_fields__"):
        return {"extra": str(config.get("extra") or "ignore")}
    old = getattr(kind, "__config__", None)
    if old is not None and hasattr(kind, "__fields__"):
        return {"extra": getattr(getattr(old, "extra", None), "value", "ignore")}
    return {}


def _pydantic(kind: type) -> Fields | None:
    if not isinstance(kind.__dict__.get("__pydantic_fields__"), dict):
        return None
    config: dict[str, Any] = getattr(kind, "model_config", {})
    by_name = bool(config.get("populate_by_name") or config.get("validate_by_name"))
    listed: dict[str, Any] = kind.model_fields  # type: ignore[attr-defined]
    return {name: _pydantic_field(name, field, by_name) for name, field in listed.items()}


def _pydantic_field(name: str, field: Any, by_name: bool) -> dict[str, Any]:
    factory = field.default_factory
    required = bool(field.is_required())
    default = f"{getattr(factory, '__qualname__', factory)}()" if factory else None
    deprecated = getattr(field, "deprecated", None)
    accepted = _aliases(field.validation_alias, field.alias)
    return {
        "annotation": showing.annotation(field.annotation),
        "required": required,
        "default": default or (None if required else showing.value(field.default)),
        "doc": showing.doc(field.description),
        "aliases": [alias for alias in accepted if alias != name],
        "by_name": by_name or not accepted or name in accepted,
        "serialized_as": field.serialization_alias or "",
        "deprecated": str(deprecated) if deprecated else "",
    }


def _aliases(*given: Any) -> list[str]:
    """Names under which input is accepted; of a path into nested data, its first step."""
    names: list[str] = []
    for alias in given:
        for choice in getattr(alias, "choices", [alias]):
            first = next(iter(getattr(choice, "path", [choice])), None)
            if isinstance(first, str) and first not in names:
                names.append(first)
    return names


def _old_pydantic(kind: type) -> Fields | None:
    listed = kind.__dict__.get("__fields__")
    if not isinstance(listed, dict) or not hasattr(kind, "__config__"):
        return None
    return {
        name: {
            "annotation": showing.annotation(field.outer_type_),
            "required": bool(field.required),
            "default": None if field.required else showing.value(field.default),
            "doc": showing.doc(field.field_info.description),
            "aliases": [field.alias] if field.alias != name else [],
            "by_name": field.alias == name
            or bool(getattr(kind.__config__, "allow_population_by_field_name", False)),
        }
        for name, field in listed.items()
    }


def _dataclass(kind: type) -> Fields | None:
    if not dataclasses.is_dataclass(kind):
        return None
    listed = {}
    for field in dataclasses.fields(kind):
        has_default = field.default is not dataclasses.MISSING
        has_factory = field.default_factory is not dataclasses.MISSING
        default = showing.value(field.default) if has_default else None
        if has_factory:
            default = f"{getattr(field.default_factory, '__qualname__', 'factory')}()"
        listed[field.name] = {
            "annotation": showing.annotation(field.type),
            "required": field.init and not has_default and not has_factory,
            "default": default,
            "doc": showing.doc(field.metadata.get("description") or getattr(field, "doc", None)),
        }
    return listed


def _attrs(kind: type) -> Fields | None:
    listed = getattr(kind, "__attrs_attrs__", None)
    if listed is None:
        return None
    found = {}
    for field in listed:
        required = getattr(field.default, "name", "") == "NOTHING"
        alias = getattr(field, "alias", None)
        found[field.name] = {
            "annotation": showing.annotation(field.type),
            "required": bool(field.init and required),
            "default": None if required else showing.value(field.default),
            "aliases": [alias] if alias and alias != field.name else [],
            "by_name": not alias or alias == field.name,
        }
    return found


def _typed_dict(kind: type) -> Fields | None:
    required = getattr(kind, "__required_keys__", None)
    if not isinstance(required, frozenset):
        return None
    return {
        name: {"annotation": showing.annotation(given), "required": name in required}
        for name, given in kind.__annotations__.items()
    }


def _named_tuple(kind: type) -> Fields | None:
    names = kind.__dict__.get("_fields")
    if not (issubclass(kind, tuple) and isinstance(names, tuple)):
        return None
    defaults = getattr(kind, "_field_defaults", {})
    given = getattr(kind, "__annotations__", {})
    return {
        name: {
            "annotation": showing.annotation(given.get(name)),
            "required": name not in defaults,
            "default": showing.value(defaults[name]) if name in defaults else None,
        }
        for name in names
    }
