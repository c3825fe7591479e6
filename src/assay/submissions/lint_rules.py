"""Lint rules for a problem and its code: defects that can be found without running anything."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from assay.documents import LARGEST_SOURCE, Place, UnreadableFileError, read_bytes
from assay.errors import nearest
from assay.findings import UNREADABLE, Finding, Findings
from assay.model import CaseResult
from assay.submissions.cases import APIResult, CLIResult
from assay.submissions.config import CheckpointConfig, ProblemConfig
from assay.submissions.declarative.reading import SUFFIXES, read_group
from assay.submissions.misspelling import (
    advise,
    misspelt_field,
    names_read,
    nearest_file,
    parse_code,
)
from assay.submissions.problems import examine_problem
from assay.submissions.problems.fields import (
    MISSING_FILE,
    RULES,
    UNKNOWN_KEY,
    UNKNOWN_NAME,
    WRONG_SIGNATURE,
)
from assay.submissions.problems.reading import CONFIG

__all__ = ["RULES", "lint_problems"]


def lint_problems(
    folders: Iterable[Path], *, ignore: Collection[str] = (), allow_outside: bool = False
) -> Findings:
    """Return all defects of problem folders: config, cases, signatures of their code."""
    RULES.load_plugins("submissions")
    RULES.check_codes(ignore)
    found = [
        finding
        for folder in folders
        for finding in (*_find(folder, allow_outside=allow_outside), *RULES.apply(folder))
    ]
    return Findings.of(found, RULES, ignore=ignore)


def _find(folder: Path, *, allow_outside: bool) -> Iterator[Finding]:
    problem, found = examine_problem(folder, allows_outside=allow_outside)
    yield from found
    if problem is not None:
        # As named by the user, so that places are shown in the same form.
        shown = _move(problem, folder)
        yield from _checkpoints(shown, folder)
        yield from _lint_code(shown) if shown.is_programmed else _lint_cases(shown)


def _move(problem: ProblemConfig, folder: Path) -> ProblemConfig:
    def move_path(path: Path) -> Path:
        return (
            folder / path.relative_to(problem.path) if path.is_relative_to(problem.path) else path
        )

    checkpoints = {
        name: one.model_copy(update={"path": move_path(one.path)})
        for name, one in problem.checkpoints.items()
    }
    return problem.model_copy(update={"path": folder, "checkpoints": checkpoints})


def _checkpoints(problem: ProblemConfig, folder: Path) -> Iterator[Finding]:
    for checkpoint in problem.checkpoints.values():
        place = Place(folder / CONFIG, 1)
        if not (checkpoint.path / checkpoint.specification).is_file():
            file = checkpoint.path / checkpoint.specification
            what = f"there is no {file}, which tells solvers what to write"
            yield Finding(MISSING_FILE, what, place, "write it", severity="warning")


def _lint_cases(problem: ProblemConfig) -> Iterator[Finding]:
    for checkpoint in problem.checkpoints.values():
        for group in checkpoint.groups.values():
            if group.original_checkpoint is None:
                yield from read_group(problem, checkpoint, group).findings
        yield from _orphans(checkpoint)


def _orphans(checkpoint: CheckpointConfig) -> Iterator[Finding]:
    """Files of cases that belong to no group."""
    if not checkpoint.path.is_dir():
        return
    for file in sorted(checkpoint.path.iterdir()):
        is_cases = file.suffix in SUFFIXES and file.is_file() and file.name != CONFIG
        if is_cases and file.stem not in checkpoint.groups:
            what = f"no group is called `{file.stem}`, so this file is not read"
            advice = nearest(file.stem, checkpoint.groups)
            yield Finding(UNKNOWN_NAME, what, Place(file, 1), advice, severity="warning")


def _lint_code(problem: ProblemConfig) -> Iterator[Finding]:
    yield from check_loader(problem.path / problem.loader_script, problem.loader_entrypoint)
    yield from check_verifier(problem.path / "verifier.py")
    yield from check_fields(problem.path)


_LOADER_INIT = ("problem", "checkpoint", "use_placeholders")
_LOADER_CALL = ("group", "store")
_RESULTS = {one.__name__: one for one in (CaseResult, CLIResult, APIResult)}
# What can be given to a result under another name than it has.
_ALSO = ("execution_time",)
_VERIFIER_CALL = ("group_name", "case_name", "actual", "expected")


def check_loader(file: Path, name: str) -> Iterator[Finding]:
    """Findings about the class that gives cases."""
    yield from _check_class(file, name, {"__init__": _LOADER_INIT, "__call__": _LOADER_CALL})


def check_verifier(file: Path) -> Iterator[Finding]:
    """Findings about the class that compares; its configuration is given by position."""
    yield from _check_class(file, "Verifier", {"__init__": 1, "__call__": _VERIFIER_CALL})


def check_fields(folder: Path) -> Iterator[Finding]:
    """Yield a finding for every result field that looks misspelled and that no code reads.

    A run refuses it too, but reports only the first, and only in a selected case.
    """
    read = names_read(folder)
    for file in sorted(folder.glob("*.py")):
        for call in ast.walk(parse_code(file)):
            kind = _RESULTS.get(_name_of_call(call)) if isinstance(call, ast.Call) else None
            if not isinstance(call, ast.Call) or kind is None:
                continue
            for keyword in call.keywords:
                near = misspelt_field(keyword.arg, kind) if keyword.arg else None
                known = keyword.arg in kind.model_fields or keyword.arg in _ALSO
                if keyword.arg and near and not known and keyword.arg not in read:
                    what = f"no result has a field `{keyword.arg}`, and no code reads it"
                    place = Place(file, keyword.value.lineno)
                    yield Finding(UNKNOWN_KEY, what, place, advise(keyword.arg, near))


def _name_of_call(call: ast.Call) -> str:
    """Return the last name of what is called: `CLIResult` of `cli.CLIResult(…)`."""
    called = call.func
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _check_class(
    file: Path, name: str, methods: dict[str, Sequence[str] | int]
) -> Iterator[Finding]:
    if not file.is_file():
        advice = f"write the class {name}; {nearest_file(file.parent, file.name)}"
        yield Finding(MISSING_FILE, "does not exist", Place(file, 1), advice)
        return
    try:
        tree = ast.parse(read_bytes(file, LARGEST_SOURCE))
    except UnreadableFileError as error:
        yield Finding(UNREADABLE, error.what, Place(file, error.line))
        return
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 1
        yield Finding(UNREADABLE, f"is not valid Python: {error}", Place(file, line))
        return
    defined = _find_definitions(tree)
    if name not in defined and "*" in defined:
        return
    if name not in defined:
        what, advice = f"defines no class {name}", nearest(name, defined)
        yield Finding(WRONG_SIGNATURE, what, Place(file, 1), advice)
        return
    found = defined[name]
    if isinstance(found, ast.ClassDef):
        yield from _check_methods(found, file, methods)


def _find_definitions(tree: ast.Module) -> dict[str, ast.stmt]:
    """Names a module defines or imports; with `*` among them it may have any."""
    names: dict[str, ast.stmt] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names[node.name] = node
        elif isinstance(node, ast.ImportFrom | ast.Import):
            for one in node.names:
                names[one.asname or one.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    names.setdefault(target.id, node)
    return names


def _check_methods(
    found: ast.ClassDef, file: Path, methods: dict[str, Sequence[str] | int]
) -> Iterator[Finding]:
    own = {
        node.name: node
        for node in found.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    for name, given in methods.items():
        method = own.get(name)
        if method is None:
            # With a base class the method may be inherited, which cannot be checked without running
            # it.
            if name == "__call__" and not found.bases:
                what = f"{found.name} has no {name}"
                advice = f"define it as: {_definition(name, given)}"
                yield Finding(WRONG_SIGNATURE, what, Place(file, found.lineno), advice)
            continue
        problem = _problem(method.args, given)
        if problem:
            what = f"{found.name}.{name} {problem}"
            advice = f"define it as: {_definition(name, given)}"
            yield Finding(WRONG_SIGNATURE, what, Place(file, method.lineno), advice)


def _definition(name: str, given: Sequence[str] | int) -> str:
    words = ["checkpoint_config"] if isinstance(given, int) else list(given)
    return f"def {name}({', '.join(['self', *words])})"


def _problem(arguments: ast.arguments, given: Sequence[str] | int) -> str:
    """Return why a call with these arguments would fail; empty if it works."""
    positional = [*arguments.posonlyargs, *arguments.args][1:]
    required = positional[: len(positional) - len(arguments.defaults)]
    keyword_only = [
        one.arg
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is None
    ]
    if isinstance(given, int):
        if len(positional) < given and arguments.vararg is None:
            return f"takes {len(positional)} arguments, and is given {given}"
        return _missing([one.arg for one in required[given:]] + keyword_only)
    by_name = {one.arg for one in [*arguments.args[1:], *arguments.kwonlyargs]}
    unknown = [name for name in given if name not in by_name]
    if unknown and arguments.kwarg is None:
        return f"does not take `{unknown[0]}`, which it is given by name"
    return _missing(
        [one.arg for one in required if one.arg not in given]
        + [name for name in keyword_only if name not in given]
    )


def _missing(names: Sequence[str]) -> str:
    return f"needs `{names[0]}`, which it is not given" if names else ""
