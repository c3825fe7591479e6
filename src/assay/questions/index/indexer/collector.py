"""Imports the target's modules one by one and tells what is in them."""

from __future__ import annotations

import importlib
import json
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, TextIO

from . import classes, commands, text
from .source import read_source, static_facts, string

Report = Callable[[str], None]


class Collector:
    """One pass over a target: what was imported, what failed, and every object met on the way."""

    def __init__(self, files: dict[str, str], report: Report, out: TextIO) -> None:
        self._files = files
        self._report = report
        self._out = out
        self._sources = {name: read_source(name, path) for name, path in files.items()}
        # Keeps the objects themselves, so that no identity is given out twice.
        self._met: dict[int, Any] = {}
        self._paths: dict[int, list[str]] = {}
        self._foreign: dict[str, type] = {}
        # A constant does not know where it came from; the import statements do.
        self._importers: dict[str, list[str]] = {}
        for name, source in self._sources.items():
            for local, origin in source.imports.items():
                self._importers.setdefault(origin, []).append(f"{name}.{local}")

    def run(self, skipped: dict[str, dict[str, str]], namespaces: list[str]) -> None:
        """Import everything that is not known to do harm, then describe what is there."""
        failed = dict(skipped)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in self._files:
                if name not in failed:
                    self._report(f"import {name}")
                    failure = _import(name)
                    if failure:
                        failed[name] = failure
            for name in namespaces:
                self._emit({"path": name, "kind": "module", "module": name, "is_namespace": True})
            for name in self._files:
                self._report(f"describe {name}")
                if name in failed:
                    self._emit_failed(name, failed[name])
                else:
                    self._module(name)
            self._emit_objects()

    def emit_commands(self, scripts: list[tuple[str, str]]) -> None:
        """Return the command lines of console scripts."""
        for name, value in scripts:
            self._report(f"command {name}")
            for fact in commands.command_facts(name, value):
                self._emit(fact)
            # The next script may be the last that is started.
            self._out.flush()

    def _emit(self, fact: dict[str, Any]) -> None:
        kept = {key: value for key, value in fact.items() if value not in ("", None, [], {})}
        self._out.write(json.dumps(kept) + "\n")

    def _emit_failed(self, name: str, failure: dict[str, str]) -> None:
        tree = self._sources[name].tree
        doc = string(tree.body[0]) if tree is not None and tree.body else ""
        fact = {"path": name, "kind": "module", "module": name, "available": False, "doc": doc}
        self._emit({**fact, "failure": failure})
        for fact in static_facts(name, self._sources[name]):
            self._emit(fact)

    def _module(self, name: str) -> None:
        module, source = sys.modules.get(name), self._sources[name]
        exported = _read_exports(module)
        foreign: dict[str, str] = {}
        missing: dict[str, str] = {}
        constants = []
        for public, value in _read_names(module, exported, missing):
            try:
                origin = self._place(f"{name}.{public}", value, public in exported)
            except Exception:
                origin = None  # a lazy object that cannot be looked at is a value like any other
            if origin is None and self._is_constant(name, public, value, exported):
                constants.append((public, value))
            elif origin:
                foreign[public] = origin
        for public, origin in source.optional.items():
            if not hasattr(module, public):
                missing.setdefault(public, f"{origin} could not be imported")
        self._emit({
            "path": name, "kind": "module", "module": name, "doc": text.clean_doc(module.__doc__),
            "exports": exported, "foreign_names": foreign, "missing_names": missing,
            "is_dynamic": "__getattr__" in vars(module),
        })  # fmt: skip
        for public, value in constants:
            self._constant(name, public, value)

    def _place(self, path: str, value: Any, is_exported: bool) -> str | None:
        """Note where an object was met; for one that is not the target's, say what it is.

        What another distribution defines and this one lists in `__all__` it has made its own.
        """
        if isinstance(value, types.ModuleType):
            own = value.__name__ in self._files
            return "" if own else value.__name__
        if not _is_definition(value):
            return None
        module = getattr(value, "__module__", None)
        if module not in self._files and not is_exported:
            return text.full_name(value)
        self._met[id(value)] = value
        self._paths.setdefault(id(value), []).append(path)
        return ""

    def _is_constant(self, module: str, name: str, value: Any, exported: list[str]) -> bool:
        source = self._sources[module]
        if name.startswith("__"):
            return False
        if source.tree is None:
            return True
        # A decorator may have made anything at all of a function or a class.
        defined = name in source.assigned or name in source.functions or name in source.classes
        return defined or (name in exported and name not in source.imports)

    def _constant(self, module: str, name: str, value: Any) -> None:
        source, path = self._sources[module], f"{module}.{name}"
        self._emit({
            "path": path, "kind": "constant", "module": module,
            "paths": sorted({path, *self._importers.get(path, ())}),
            "default": text.format_value(value), "annotation": source.annotations.get(name, ""),
            "type": text.full_name(type(value)),
            "doc": text.clean_doc(source.docs.get(name) or _own_doc(value)),
        })  # fmt: skip

    def _emit_objects(self) -> None:
        for identity, thing in list(self._met.items()):
            path = self._find_home(thing, self._paths[identity])
            self._report(f"describe {self._module_of(path)}")
            self._definition_or_less(thing, path, sorted(set(self._paths[identity])), brief=False)
        for path, thing in sorted(self._foreign.items()):
            self._definition_or_less(thing, path, [path], brief=True)

    def _definition_or_less(self, thing: Any, path: str, paths: list[str], *, brief: bool) -> None:
        """Whatever goes wrong in describing one thing must not cost the others, nor its name.

        Of two facts on one path the first counts, so what was told before it went wrong stays.
        """
        try:
            self._definition(thing, path, paths, brief=brief)
        except Exception:
            kind = "class" if isinstance(thing, type) else "function"
            self._emit({
                "path": path, "kind": kind, "module": self._module_of(path), "paths": paths,
                "foreign": brief, "is_dynamic": True,
            })  # fmt: skip

    def _find_home(self, thing: Any, paths: list[str]) -> str:
        """Return where it is defined, if it can be reached there, else the plainest place."""
        said = text.full_name(thing)
        if said in paths:
            return said
        return min(paths, key=lambda path: (not path.startswith(thing.__module__), len(path), path))

    def _module_of(self, path: str) -> str:
        while path and path not in self._files:
            path = path.rpartition(".")[0]
        return path

    def _definition(self, thing: Any, path: str, paths: list[str], *, brief: bool) -> None:
        module = thing.__module__
        shared = {"module": module, "paths": paths, "foreign": brief}
        source = self._sources.get(module)
        if not isinstance(thing, type):
            decorated = source.functions.get(thing.__name__, []) if source else []
            fact = classes.function_fact(thing)
            self._emit(
                {"path": path, "kind": "function", "decorators": decorated, **fact, **shared}
            )
            return
        written = source.classes.get(thing.__qualname__) if source else None
        fact = classes.class_fact(thing, path, written)
        self._emit({**fact, **shared, **({"doc": ""} if brief else {})})
        for member in classes.member_facts(thing, path, written, brief=brief):
            self._emit({"owner": path, "module": module, "foreign": brief, **member})
        for name, inner in list(vars(thing).items()):
            if _is_nested(thing, name, inner):
                reached = [f"{one}.{name}" for one in paths]
                self._definition(inner, f"{path}.{name}", reached, brief=brief)
        if not brief:
            self._note_foreign(thing)

    def _note_foreign(self, thing: type) -> None:
        for base in thing.__mro__[1:-1]:
            if id(base) not in self._met:
                self._foreign[text.full_name(base)] = base


def _own_doc(value: Any) -> str:
    """Return what an object says of itself, as opposed to what its class says."""
    try:
        said = value.__doc__
    except Exception:
        return ""
    return said if isinstance(said, str) and said != type(value).__doc__ else ""


def _is_nested(outer: type, name: str, inner: Any) -> bool:
    return isinstance(inner, type) and inner.__qualname__ == f"{outer.__qualname__}.{name}"


def _import(name: str) -> dict[str, str] | None:
    try:
        importlib.import_module(name)
    except BaseException as error:  # a module may well call sys.exit
        return _read_failure(error)
    return None


def _read_failure(error: BaseException) -> dict[str, str]:
    """Return what happened and, where a module was missing at the bottom of it, its name."""
    cause: BaseException | None = error
    missing = ""
    for _ in range(20):
        if cause is None:
            break
        if isinstance(cause, ModuleNotFoundError) and cause.name:
            missing = cause.name
        cause = cause.__cause__ or cause.__context__
    message = " ".join(str(error).split())[:300]
    return {"error": type(error).__name__, "message": message, "missing": missing}


def _read_exports(module: Any) -> list[str]:
    listed = getattr(module, "__all__", None)
    if not isinstance(listed, (list, tuple)):
        return []
    return [name for name in listed if isinstance(name, str)]


def _read_names(
    module: Any, exported: list[str], missing: dict[str, str]
) -> Iterator[tuple[str, Any]]:
    """Yield the names of a module with their values; one that cannot be had is noted as missing."""
    names = dict.fromkeys([*vars(module), *exported])
    if "__getattr__" in vars(module):
        names.update(dict.fromkeys(name for name in dir(module) if isinstance(name, str)))
    for name in sorted(names):
        if not name.isidentifier() or (name.startswith("__") and name not in exported):
            continue
        try:
            value = getattr(module, name)
        except BaseException as error:
            missing[name] = f"{type(error).__name__}: {error}"[:300]
            continue
        yield name, value


def _is_definition(value: Any) -> bool:
    if isinstance(value, type):
        return not isinstance(value, types.GenericAlias)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return True
    return callable(value) and isinstance(getattr(value, "__wrapped__", None), types.FunctionType)
