"""Lint: what is wrong with a problem that can be seen without running anything of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from assay.documents import Place
from assay.errors import nearest
from assay.findings import Finding, Findings
from assay.submissions.config import CheckpointConfig, ProblemConfig
from assay.submissions.declarative.reading import SUFFIXES, read_group
from assay.submissions.lint_rules.signatures import check_fields, check_loader, check_verifier
from assay.submissions.problems import examine_problem
from assay.submissions.problems.reading import CONFIG
from assay.submissions.problems.rules import MISSING_FILE, RULES, UNKNOWN_NAME

__all__ = ["RULES", "lint_problems"]


def lint_problems(
    folders: Iterable[Path], *, ignore: Collection[str] = (), allow_outside: bool = False
) -> Findings:
    """Return everything wrong with problem folders: config, cases, signatures of their code."""
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
        # As it was named, so that places are shown as the user knows them.
        shown = _shown_as(problem, folder)
        yield from _checkpoints(shown, folder)
        yield from _programmed(shown) if shown.is_programmed else _canonical(shown)


def _shown_as(problem: ProblemConfig, folder: Path) -> ProblemConfig:
    def moved(path: Path) -> Path:
        return (
            folder / path.relative_to(problem.path) if path.is_relative_to(problem.path) else path
        )

    checkpoints = {
        name: one.model_copy(update={"path": moved(one.path)})
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


def _canonical(problem: ProblemConfig) -> Iterator[Finding]:
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
            what = f"no group is called `{file.stem}`, so nobody reads this file"
            advice = nearest(file.stem, checkpoint.groups)
            yield Finding(UNKNOWN_NAME, what, Place(file, 1), advice, severity="warning")


def _programmed(problem: ProblemConfig) -> Iterator[Finding]:
    yield from check_loader(problem.path / problem.loader_script, problem.loader_entrypoint)
    yield from check_verifier(problem.path / "verifier.py")
    yield from check_fields(problem.path)
