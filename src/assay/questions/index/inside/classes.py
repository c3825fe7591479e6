"""A class and its members as facts."""

from __future__ import annotations

import enum
import functools
import inspect
import types
from collections.abc import Iterator
from typing import Any

from . import showing
from .fields import own_fields, policy
from .reading import ClassSource

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
    """The class itself."""
    parameters, _ = showing.signature(thing)
    own_doc = thing.__dict__.get("__doc__")
    if isinstance(own_doc, str) and own_doc.startswith(f"{thing.__name__}("):
        own_doc = ""  # written by dataclass, says what the signature says
    return {
        "path": path,
        "kind": kind_of(thing),
        "doc": showing.doc(own_doc),
        "bases": [showing.dotted(base) for base in thing.__mro__[1:-1]],
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
    """Whether it makes attributes up when asked, so that absence cannot be read off it."""
    listed: list[type] = [*thing.__mro__[:-1], *type.mro(type(thing))]
    return any(
        "__getattr__" in vars(one) and "pydantic" not in str(getattr(one, "__module__", ""))
        for one in listed
        if one not in (object, type)
    )


def members(
    thing: type, path: str, source: ClassSource | None, *, brief: bool
) -> Iterator[dict[str, Any]]:
    """What the class itself adds; `brief` for foreign classes, whose documentation is not kept."""
    written = source or ClassSource()
    own = own_fields(thing)
    seen = set(own)
    for name, field in own.items():
        annotation = written.annotations.get(name) or field.get("annotation", "")
        doc = field.get("doc") or showing.doc(written.docs.get(name))
        fact = {**field, "kind": "field", "annotation": annotation, "doc": doc}
        yield {"path": f"{path}.{name}", **_shortened(fact, brief)}
    for name, raw in list(vars(thing).items()):
        if name in seen or _is_plumbing(name, written):
            continue
        seen.add(name)
        member = _member_or_less(thing, name, raw, written)
        if member is not None:
            yield {"path": f"{path}.{name}", **_shortened(member, brief)}
    for name in sorted({*written.annotations, *written.instance} - seen):
        yield _unset(path, name, written)


def _shortened(fact: dict[str, Any], brief: bool) -> dict[str, Any]:
    return {**fact, "doc": "", "decorators": []} if brief else fact


def _is_plumbing(name: str, written: ClassSource) -> bool:
    if name in _PLUMBING or name.startswith(_MACHINERY):
        return True
    # Names like `_missing_` and `__len__` are the class's own only where it writes them itself.
    return name.startswith("_") and name.endswith("_") and name not in written.methods


def _unset(path: str, name: str, written: ClassSource) -> dict[str, Any]:
    """An attribute that only instances have."""
    return {
        "kind": "attribute", "path": f"{path}.{name}", "on_instance": True,
        "annotation": written.annotations.get(name) or written.instance.get(name, ""),
        "doc": showing.doc(written.docs.get(name)),
    }  # fmt: skip


def _member_or_less(
    thing: type, name: str, raw: Any, written: ClassSource
) -> dict[str, Any] | None:
    """A lazy object may raise anything when it is looked at; it is a member all the same."""
    try:
        return _member(thing, name, raw, written)
    except Exception:
        return {"kind": "attribute", "annotation": written.annotations.get(name, "")}


def _member(thing: type, name: str, raw: Any, written: ClassSource) -> dict[str, Any] | None:
    if isinstance(raw, type):
        return None  # a nested class is described as a class
    shared = {"decorators": written.methods.get(name, [])}
    if isinstance(raw, (staticmethod, classmethod)):
        return {**shared, **_function(raw.__func__, drop_first=isinstance(raw, classmethod))}
    accessor = _accessor(raw)
    if accessor is not None:
        return {**shared, **_property(raw, accessor)}
    if issubclass(thing, enum.Enum) and name in thing.__members__:
        return {
            "kind": "enum member", "default": showing.value(thing.__members__[name].value),
            "doc": showing.doc(written.docs.get(name)),
        }  # fmt: skip
    if _is_function(raw):
        return {**shared, **_function(raw, drop_first=True)}
    return {
        "kind": "attribute", "default": showing.value(raw),
        "annotation": written.annotations.get(name, ""), "doc": showing.doc(written.docs.get(name)),
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


def _function(raw: Any, *, drop_first: bool) -> dict[str, Any]:
    return {"kind": "method", **function_fact(raw, drop_first=drop_first)}


def function_fact(raw: Any, *, drop_first: bool = False) -> dict[str, Any]:
    """What a function says of itself."""
    parameters, returned = showing.signature(raw, drop_first=drop_first)
    plain = inspect.unwrap(raw) if hasattr(raw, "__wrapped__") else raw
    return {
        "doc": showing.doc(getattr(raw, "__doc__", None)),
        "parameters": parameters,
        "returns": returned,
        "is_async": inspect.iscoroutinefunction(plain) or inspect.isasyncgenfunction(plain),
        "is_abstract": bool(getattr(raw, "__isabstractmethod__", False)),
        "deprecated": deprecation(getattr(raw, "__deprecated__", None)),
    }


def _property(raw: Any, accessor: Any) -> dict[str, Any]:
    _, returned = showing.signature(accessor)
    return {
        "kind": "property",
        "doc": showing.doc(getattr(raw, "__doc__", None) or getattr(accessor, "__doc__", None)),
        "annotation": returned,
        "is_abstract": bool(getattr(raw, "__isabstractmethod__", False)),
        "deprecated": deprecation(getattr(accessor, "__deprecated__", None)),
    }
