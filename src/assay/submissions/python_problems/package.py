"""Loads a problem folder as a package named after it, and the two classes it must define.

Runs where the problem's code runs. A mistake in the folder is an InputError with the file's name.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import types
from collections.abc import Callable
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any

from assay.errors import InputError, nearest
from assay.extras import how_to_install
from assay.submissions.config import ProblemConfig
from assay.submissions.misspelling import nearest_file
from assay.submissions.slopcode import ALIAS, module_names
from assay.tracebacks import format_exception

VERIFIER_SCRIPT = "verifier.py"
VERIFIER_CLASS = "Verifier"


def import_folder(folder: Path) -> str:
    """Make the folder importable as a package and return its name."""
    name = _free_name(folder.name)
    start = folder / "__init__.py"
    loader = SourceFileLoader(name, str(start)) if start.is_file() else None
    spec = ModuleSpec(name, loader, origin=str(start) if loader else None, is_package=True)
    spec.submodule_search_locations = [str(folder)]
    sys.modules[name] = package = importlib.util.module_from_spec(spec)
    if loader is not None:
        with_blame(start, lambda: loader.exec_module(package))
    return name


def _free_name(name: str) -> str:
    """Return the folder's name, unless it is the name of another importable module."""
    top = name.partition(".")[0]
    if "." in name or top in sys.stdlib_module_names or top in sys.modules or _is_installed(top):
        return f"problem_{name.replace('.', '_')}"
    return name


def _is_installed(name: str) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    # A folder without `__init__.py` on the path is a namespace, perhaps this very problem.
    return spec is not None and spec.origin is not None


def load_loader(problem: ProblemConfig, package: str) -> type[Any]:
    """Return the problem's loader class, checked for the calls Assay makes."""
    file = problem.path / problem.loader_script
    loader = _load_class(package, problem.path, file, problem.loader_entrypoint)
    _accepts(file, loader, "a loader is made with", problem=0, checkpoint=0, use_placeholders=0)
    _accepts_call(file, loader, "a loader is called with", group=0, store=0)
    return loader


def load_verifier(problem: ProblemConfig, package: str) -> type[Any]:
    """Return the problem's verifier class, checked for the calls Assay makes."""
    file = problem.path / VERIFIER_SCRIPT
    verifier = _load_class(package, problem.path, file, VERIFIER_CLASS)
    _accepts(file, verifier, "a verifier is made with", 0)
    keywords = {"group_name": 0, "case_name": 0, "actual": 0, "expected": 0}
    _accepts_call(file, verifier, "a verifier is called with", **keywords)
    return verifier


def _load_class(package: str, folder: Path, file: Path, name: str) -> type[Any]:
    module = _import_file(package, folder, file)
    found = getattr(module, name, None)
    if found is None:
        classes = [each for each, value in vars(module).items() if inspect.isclass(value)]
        raise InputError(
            f"it defines no class {name!r}", where=str(file), advice=nearest(name, classes)
        )
    if not inspect.isclass(found):
        raise InputError(
            f"{name!r} is {type(found).__name__}, not a class",
            where=str(file),
            advice=f"write `class {name}:`",
        )
    return found


def _import_file(package: str, folder: Path, file: Path) -> types.ModuleType:
    if not file.is_file():
        advice = f"{nearest_file(folder, file.name)} (see docs/verifiers.md)"
        raise InputError("the file is missing", where=str(file), advice=advice)
    parts = file.relative_to(folder).with_suffix("").parts
    name = ".".join((package, *parts))
    module: types.ModuleType = with_blame(file, lambda: importlib.import_module(name))
    return module


def with_blame(file: Path, action: Callable[[], Any]) -> Any:
    """Run code of a problem's file; report its exceptions as mistakes in the file."""
    try:
        return action()
    except ModuleNotFoundError as error:
        raise missing_module(error, file) from None
    except (Exception, SystemExit) as error:
        raise InputError(
            f"it cannot be imported: {format_exception(error)}", where=str(file)
        ) from None


def missing_module(error: ModuleNotFoundError, file: Path) -> InputError:
    """Return what to install, or the reference's name, for an import that fails."""
    name = error.name or str(error)
    if name.partition(".")[0] == ALIAS:
        advice = nearest(name, module_names())
    else:
        advice = (
            f"for what problems of the reference use, {how_to_install('problems')}; "
            "install any other module beside Assay, by its own name"
        )
    return InputError(
        f"it imports {name!r}, which is not installed", where=str(file), advice=advice
    )


def _accepts(file: Path, made: Any, words: str, *positional: Any, **keywords: Any) -> None:
    try:
        signature = inspect.signature(made)
    except (ValueError, TypeError):
        # A class written in C has no signature; errors show when it is called.
        return
    _bind(file, signature, words, positional, keywords)


def _accepts_call(file: Path, owner: type[Any], words: str, **keywords: Any) -> None:
    call = next(
        (vars(base)["__call__"] for base in owner.__mro__ if "__call__" in vars(base)), None
    )
    if call is None:
        raise InputError(
            f"the class {owner.__name__!r} has no method __call__",
            where=str(file),
            advice=f"{words} {_list_names(keywords)}",
        )
    if inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call):
        raise InputError(
            f"{owner.__name__}.__call__ is async, and nothing awaits it",
            where=f"{file}:{call.__code__.co_firstlineno}",
            advice="write `def __call__`; asyncio.run(…) inside it runs what is async",
        )
    _bind(file, inspect.signature(call), words, (None,), keywords)


def _bind(
    file: Path,
    signature: inspect.Signature,
    words: str,
    positional: tuple[Any, ...],
    keywords: dict[str, Any],
) -> None:
    try:
        signature.bind(*positional, **keywords)
    except TypeError as error:
        raise InputError(
            f"a signature is wrong: {error}",
            where=str(file),
            advice=f"{words} {_list_names(keywords)}",
        ) from None


def _list_names(keywords: dict[str, Any]) -> str:
    return ", ".join(f"{name}=…" for name in keywords) if keywords else "the checkpoint's config"
