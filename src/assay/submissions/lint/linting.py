"""All findings of a problem folder: its config, its cases, the signatures of its code."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from assay.documents import Place
from assay.errors import InputError, nearest
from assay.submissions.canonical.reading import SUFFIXES, read_group
from assay.submissions.config import CheckpointConfig, ProblemConfig
from assay.submissions.lint.rules import RULES
from assay.submissions.lint.signatures import check_fields, check_loader, check_verifier
from assay.submissions.problems import examine_problem
from assay.submissions.problems.findings import MISSING_FILE, UNKNOWN_NAME, Finding
from assay.submissions.problems.reading import CONFIG


def lint_problem(
    folder: Path, *, ignored: Collection[str] = (), allows_outside: bool = False
) -> list[Finding]:
    """Everything that can be found without running code, sorted by place."""
    for code in ignored:
        if code not in RULES:
            raise InputError(f"unknown lint code {code!r}", advice=nearest(code, RULES))
    problem, found = examine_problem(folder, allows_outside=allows_outside)
    if problem is not None:
        # As it was named, so that places are told as the user knows them.
        shown = _shown_as(problem, folder)
        found = [*found, *_checkpoints(shown, folder)]
        found += _programmed(shown) if shown.is_programmed else _canonical(shown)
    kept = {finding for finding in found if finding.code not in ignored}
    return sorted(
        kept, key=lambda one: (str(one.place.file), one.place.line, one.code, one.message)
    )


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
            yield Finding(MISSING_FILE, what, place, "write it", "warning")


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
            yield Finding(UNKNOWN_NAME, what, Place(file, 1), advice, "warning")


def _programmed(problem: ProblemConfig) -> Iterator[Finding]:
    yield from check_loader(problem.path / problem.loader_script, problem.loader_entrypoint)
    yield from check_verifier(problem.path / "verifier.py")
    yield from check_fields(problem.path)
