"""Classes as facts: their members, and the fields of those that describe data."""

from __future__ import annotations

import dataclasses
import enum
import functools
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any

from . import text
from .source import ClassSource

Fields = dict[str, dict[str, Any]]


@functools.cache
def fields_of(kind: type) -> Fields:
    """Return every field by name, inherited ones included; empty for an ordinary class."""
    for reader in (
        _read_pydantic,
        _read_old_pydantic,
        _read_dataclass,
        _read_attrs,
        _read_typed_dict,
        _read_named_tuple,
    ):
        try:
            found = reader(kind)
        except Exception:
            found = None
        if found is not None:
            return found
    return {}


def own_fields(kind: type) -> Fields:
    """Return the fields that the class adds, or that mean something else than in its bases."""
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
    """Return what a pydantic model does with input it has no field for."""
    config = getattr(kind, "model_config", None)
    if isinstance(config, dict) and hasattr(kind, "__pydantic_fields__"):
        return {"extra": str(config.get("extra") or "ignore")}
    old = getattr(kind, "__config__", None)
    if old is not None and hasattr(kind, "__fields__"):
        return {"extra": getattr(getattr(old, "extra", None), "value", "ignore")}
    return {}


def _read_pydantic(kind: type) -> Fields | None:
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
        "annotation": text.format_annotation(field.annotation),
        "required": required,
        "default": default or (None if required else text.format_value(field.default)),
        "doc": text.clean_doc(field.description),
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


def _read_old_pydantic(kind: type) -> Fields | None:
    listed = kind.__dict__.get("__fields__")
    if not isinstance(listed, dict) or not hasattr(kind, "__config__"):
        return None
    return {
        name: {
            "annotation": text.format_annotation(field.outer_type_),
            "required": bool(field.required),
            "default": None if field.required else text.format_value(field.default),
            "doc": text.clean_doc(field.field_info.description),
            "aliases": [field.alias] if field.alias != name else [],
            "by_name": field.alias == name
            or bool(getattr(kind.__config__, "allow_population_by_field_name", False)),
        }
        for name, field in listed.items()
    }


def _read_dataclass(kind: type) -> Fields | None:
    if not dataclasses.is_dataclass(kind):
        return None
    listed = {}
    for field in dataclasses.fields(kind):
        has_default = field.default is not dataclasses.MISSING
        has_factory = field.default_factory is not dataclasses.MISSING
        default = text.format_value(field.default) if has_default else None
        if has_factory:
            default = f"{getattr(field.default_factory, '__qualname__', 'factory')}()"
        listed[field.name] = {
            "annotation": text.format_annotation(field.type),
            "required": field.init and not has_default and not has_factory,
            "default": default,
            "doc": text.clean_doc(field.metadata.get("description") or getattr(field, "doc", None)),
        }
    return listed


def _read_attrs(kind: type) -> Fields | None:
    listed = getattr(kind, "__attrs_attrs__", None)
    if listed is None:
        return None
    found = {}
    for field in listed:
        required = getattr(field.default, "name", "") == "NOTHING"
        alias = getattr(field, "alias", None)
        found[field.name] = {
            "annotation": text.format_annotation(field.type),
            "required": bool(field.init and required),
            "default": None if required else text.format_value(field.default),
            "aliases": [alias] if alias and alias != field.name else [],
            "by_name": not alias or alias == field.name,
        }
    return found


def _read_typed_dict(kind: type) -> Fields | None:
    required = getattr(kind, "__required_keys__", None)
    if not isinstance(required, frozenset):
        return None
    return {
        name: {"annotation": text.format_annotation(given), "required": name in required}
        for name, given in kind.__annotations__.items()
    }


def _read_named_tuple(kind: type) -> Fields | None:
    names = kind.__dict__.get("_fields")
    if not (issubclass(kind, tuple) and isinstance(names, tuple)):
        return None
    defaults = getattr(kind, "_field_defaults", {})
    given = getattr(kind, "__annotations__", {})
    return {
        name: {
            "annotation": text.format_annotation(given.get(name)),
            "required": name not in defaults,
            "default": text.format_value(defaults[name]) if name in defaults else None,
        }
        for name in names
    }


# What Python, abc and pydantic put into every class is nobody's public name.
_MACHINERY = ("__pydantic_", "_abc_", "__dataclass_", "__attrs_")
_PLUMBING = {
    "__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__qualname__",
    "__slots__", "__abstractmethods__", "__parameters__", "__orig_bases__", "__signature__",
    "__class_vars__", "__private_attributes__", "__hash__", "__match_args__",
    "__static_attributes__", "__firstlineno__", "__annotate__", "__annotations_cache__",
    "__annotate_func__", "__fields__", "__fields_set__", "__new__", "__getstate__",
    "__replace__", "__protocol_attrs__", "__non_callable_proto_members__", "_is_protocol",
    "_is_runtime_protocol",
}  # fmt: skip


def kind_of(thing: type) -> str:
    return "exception" if issubclass(thing, BaseException) else "class"


def class_fact(thing: type, path: str, source: ClassSource | None) -> dict[str, Any]:
    """Return the class itself."""
    parameters, _ = text.read_signature(thing)
    own_doc = thing.__dict__.get("__doc__")
    if isinstance(own_doc, str) and own_doc.startswith(f"{thing.__name__}("):
        own_doc = ""  # written by dataclass, says what the signature says
    return {
        "path": path,
        "kind": kind_of(thing),
        "doc": text.clean_doc(own_doc),
        "bases": [text.full_name(base) for base in thing.__mro__[1:-1]],
        "parameters": parameters,
        "is_abstract": inspect.isabstract(thing),
        "is_enum": issubclass(thing, enum.Enum),
        "decorators": source.decorators if source else [],
        "deprecated": deprecation(thing.__dict__.get("__deprecated__")),
        "is_dynamic": _is_dynamic(thing),
        **policy(thing),
    }


def deprecation(mark: Any) -> str:
    return mark if isinstance(mark, str) else ""


def _is_dynamic(thing: type) -> bool:
    """Return whether it makes attributes up when asked, so that absence cannot be read off it.

    Models and enumerations have a `__getattr__` that gives nothing but what is listed.
    """
    listed: list[type] = [*thing.__mro__[:-1], *type.mro(type(thing))]
    return any(
        "__getattr__" in vars(one)
        and not re.match("enum$|pydantic", str(getattr(one, "__module__", "")))
        for one in listed
        if one not in (object, type)
    )


def member_facts(
    thing: type, path: str, source: ClassSource | None, *, brief: bool
) -> Iterator[dict[str, Any]]:
    """Yield what the class itself adds; `brief` leaves documentation out, for foreign ones."""
    written = source or ClassSource()
    own = own_fields(thing)
    seen = set(own)
    for name, field in own.items():
        annotation = written.annotations.get(name) or field.get("annotation", "")
        doc = field.get("doc") or text.clean_doc(written.docs.get(name))
        fact = {**field, "kind": "field", "annotation": annotation, "doc": doc}
        yield {"path": f"{path}.{name}", **_shorten(fact, brief)}
    for name, raw in list(vars(thing).items()):
        if name in seen or _is_plumbing(name, written):
            continue
        seen.add(name)
        member = _try_member(thing, name, raw, written)
        if member is not None:
            yield {"path": f"{path}.{name}", **_shorten(member, brief)}
    for name in sorted({*written.annotations, *written.instance} - seen):
        yield _unset_fact(path, name, written)


def _shorten(fact: dict[str, Any], brief: bool) -> dict[str, Any]:
    return {**fact, "doc": "", "decorators": []} if brief else fact


def _is_plumbing(name: str, written: ClassSource) -> bool:
    if name in _PLUMBING or name.startswith(_MACHINERY):
        return True
    # Names like `_missing_` and `__len__` are the class's own only where it writes them itself.
    return name.startswith("_") and name.endswith("_") and name not in written.methods


def _unset_fact(path: str, name: str, written: ClassSource) -> dict[str, Any]:
    """Return an attribute that only instances have."""
    return {
        "kind": "attribute", "path": f"{path}.{name}", "on_instance": True,
        "annotation": written.annotations.get(name) or written.instance.get(name, ""),
        "doc": text.clean_doc(written.docs.get(name)),
    }  # fmt: skip


def _try_member(thing: type, name: str, raw: Any, written: ClassSource) -> dict[str, Any] | None:
    """Return a lazy object may raise anything when it is looked at; it is a member all the same."""
    try:
        return _member_fact(thing, name, raw, written)
    except Exception:
        return {"kind": "attribute", "annotation": written.annotations.get(name, "")}


def _member_fact(thing: type, name: str, raw: Any, written: ClassSource) -> dict[str, Any] | None:
    if isinstance(raw, type):
        return None  # a nested class is described as a class
    shared = {"decorators": written.methods.get(name, [])}
    if isinstance(raw, (staticmethod, classmethod)):
        return {**shared, **_method(raw.__func__, name, drop_first=isinstance(raw, classmethod))}
    accessor = _accessor(raw)
    if accessor is not None:
        return {**shared, **_property(raw, accessor)}
    if issubclass(thing, enum.Enum) and name in thing.__members__:
        return {
            "kind": "enum member", "default": text.format_value(thing.__members__[name].value),
            "doc": text.clean_doc(written.docs.get(name)),
        }  # fmt: skip
    if _is_function(raw):
        return {**shared, **_method(raw, name, drop_first=True)}
    return {
        "kind": "attribute", "default": text.format_value(raw),
        "annotation": written.annotations.get(name, ""),
        "doc": text.clean_doc(written.docs.get(name)),
    }  # fmt: skip


def _accessor(raw: Any) -> Any:
    if isinstance(raw, property):
        return raw.fget
    if isinstance(raw, functools.cached_property):
        return raw.func
    # A decorator's stand-in for a property, such as pydantic's computed_field.
    wrapped = getattr(raw, "wrapped", None)
    return wrapped.fget if isinstance(wrapped, property) else None


def _is_function(raw: Any) -> bool:
    return isinstance(raw, types.FunctionType) or (
        callable(raw) and hasattr(raw, "__name__") and not isinstance(raw, type)
    )


def _method(raw: Any, name: str, *, drop_first: bool) -> dict[str, Any]:
    fact = {"kind": "method", **function_fact(raw, drop_first=drop_first)}
    is_renamed = isinstance(raw, types.FunctionType) and raw.__name__ != name
    return {**fact, "calls": raw.__name__} if is_renamed else fact


def function_fact(raw: Any, *, drop_first: bool = False) -> dict[str, Any]:
    """Return what a function says of itself."""
    parameters, returned = text.read_signature(raw, drop_first=drop_first)
    plain = inspect.unwrap(raw) if hasattr(raw, "__wrapped__") else raw
    return {
        "doc": text.clean_doc(getattr(raw, "__doc__", None)),
        "parameters": parameters,
        "returns": returned,
        "is_async": inspect.iscoroutinefunction(plain) or inspect.isasyncgenfunction(plain),
        "is_abstract": bool(getattr(raw, "__isabstractmethod__", False)),
        "deprecated": deprecation(getattr(raw, "__deprecated__", None)),
        "calls": _only_name(raw),
    }


def _only_name(raw: Any) -> str:
    """Return the only name that the code of a function uses, such as `parse` or `self.parse`."""
    names: tuple[str, ...] = getattr(getattr(raw, "__code__", None), "co_names", ())
    return names[0] if len(names) == 1 else ""


def _property(raw: Any, accessor: Any) -> dict[str, Any]:
    _, returned = text.read_signature(accessor)
    return {
        "kind": "property",
        "doc": text.clean_doc(getattr(raw, "__doc__", None) or getattr(accessor, "__doc__", None)),
        "annotation": returned,
        "is_abstract": bool(getattr(raw, "__isabstractmethod__", False)),
        "deprecated": deprecation(getattr(accessor, "__deprecated__", None)),
    }
