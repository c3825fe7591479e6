"""Loads the evaluation named by `FILE.py:NAME`; the file is the user's own code."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.errors import InputError, nearest
from assay.evaluation import Evaluation, EvaluationPlan
from assay.tracebacks import format_exception


def plan_file(asked: dict[str, Any], *, title: str = "", jobs: int | None = None) -> EvaluationPlan:
    """Return the plan of an evaluation in a file; options override the file."""
    known = {"evaluation", "time_limit", "ratio", "jobs"}
    if not known <= asked.keys() or not isinstance(asked["evaluation"], str):
        raise InputError("run.json does not contain the request", advice="start a new run")
    evaluation = load_evaluation(asked["evaluation"])
    given = {name: asked[name] for name in ("time_limit", "ratio") if asked[name] is not None}
    evaluation = replace(evaluation, **given)
    return EvaluationPlan(
        evaluation,
        jobs=jobs or asked["jobs"],
        # Runs that were made before there was such an option did without it.
        uses_threads=bool(asked.get("threads")),
        title=title,
        asked=asked,
    )


def load_evaluation(text: str) -> Evaluation:
    """Return the evaluation named by FILE.py:NAME, or the only one in FILE.py."""
    file, _, name = text.partition(":")
    path = Path(file)
    if path.is_dir():
        raise InputError("is a folder, not a Python file", where=file)
    if not path.is_file():
        siblings = [str(each) for each in path.parent.glob("*.py")] if path.parent.is_dir() else []
        advice = nearest(file, siblings) if siblings else "name a Python file that defines one"
        raise InputError("there is no such file", where=file, advice=advice)
    module = _load(path)
    found = getattr(module, name, None) if name else _only_one(module, path)
    if found is None:
        raise InputError(f"defines no {name!r}", where=file, advice=nearest(name, _names(module)))
    return _as_evaluation(found, f"{file}:{name}")


def _load(path: Path) -> ModuleType:
    # The file's own folder comes first on the path, as if it had been started with python.
    folder = str(path.parent.absolute())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    # Under a name that cannot be taken for another module's, such as that of `types.py`.
    spec = importlib.util.spec_from_file_location(f"assay_evaluation_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError("is not a Python file", where=str(path))
    module = importlib.util.module_from_spec(spec)
    # Known by its name, so that what it defines can cross to a worker.
    sys.modules[module.__name__] = module
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"cannot be loaded: {format_exception(error)}", where=str(path)) from error
    return module


def _names(module: ModuleType) -> list[str]:
    found = {
        id(value): name for name, value in vars(module).items() if isinstance(value, Evaluation)
    }
    return list(found.values())


def _only_one(module: ModuleType, path: Path) -> Any:
    names = _names(module)
    if len(names) != 1:
        advice = (
            f"write {path}:NAME with one of: {', '.join(names)}"
            if names
            else ("define one: evaluation = assay.Evaluation(cases, task, verifier)")
        )
        raise InputError(f"defines {len(names)} evaluations", where=str(path), advice=advice)
    return getattr(module, names[0])


def _makes_one(found: Any) -> bool:
    """Return whether it is a function without required arguments that returns an evaluation."""
    try:
        inspect.signature(found).bind()
    except (TypeError, ValueError):
        return False
    return True


def _as_evaluation(found: Any, where: str) -> Evaluation:
    if _makes_one(found):
        try:
            found = found()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise InputError(f"raised {format_exception(error)}", where=where) from error
    if not isinstance(found, Evaluation):
        raise InputError(
            f"is {type(found).__name__}, not an assay.Evaluation",
            where=where,
            advice="define it as assay.Evaluation(cases, task, verifier)",
        )
    return found
