"""Values, annotations and signatures as text, whatever the target's own code does when asked."""

from __future__ import annotations

import inspect
import re
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LONGEST_VALUE = 200
_LONGEST_ANNOTATION = 300
_LONGEST_DOC = 6000
_LONGEST_SIGNATURE = 200


def format_value(thing: Any) -> str:
    """Return a repr that is the same in every process."""
    try:
        return _ADDRESS.sub("", repr(thing))[:_LONGEST_VALUE]
    except Exception:
        return f"<{type(thing).__name__}>"


def format_annotation(thing: Any) -> str:
    if thing is inspect.Parameter.empty or thing is None:
        return ""
    if isinstance(thing, str):
        return thing[:_LONGEST_ANNOTATION]
    try:
        shown = inspect.formatannotation(thing)
    except Exception:
        return type(thing).__name__
    return _ADDRESS.sub("", shown.replace("typing.", ""))[:_LONGEST_ANNOTATION]


def clean_doc(thing: Any) -> str:
    """Return the documentation, without the indentation of its place."""
    return inspect.cleandoc(thing)[:_LONGEST_DOC] if isinstance(thing, str) else ""


def read_signature(
    thing: Any, *, drop_first: bool = False
) -> tuple[list[dict[str, Any]] | None, str]:
    """Return the parameters, None if there is no telling, and what is returned."""
    try:
        found = inspect.signature(thing)
        listed = list(found.parameters.values())
        returned = format_annotation(found.return_annotation)
        shown = [_parameter(one) for one in listed[1 if drop_first else 0 :]]
    except Exception:
        return None, ""
    return shown[:_LONGEST_SIGNATURE], returned


def _parameter(parameter: inspect.Parameter) -> dict[str, Any]:
    has_default = parameter.default is not inspect.Parameter.empty
    return {
        "name": parameter.name,
        "kind": parameter.kind.name.lower(),
        "default": format_value(parameter.default) if has_default else None,
        "annotation": format_annotation(parameter.annotation),
    }


def full_name(thing: Any) -> str:
    """Return where a class or function says that it is defined."""
    module = getattr(thing, "__module__", None)
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", "")
    return f"{module}.{name}" if isinstance(module, str) and module != "builtins" else str(name)
