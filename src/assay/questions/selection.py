"""Selects the questions of a run from suites, filters and targets."""

from __future__ import annotations

import contextlib
import fnmatch
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from assay.errors import InputError, nearest
from assay.questions.lint_rules import find_contradictions
from assay.questions.model import ApiQuestion, FixQuestion, Question, SuiteEntry
from assay.questions.proof_runners import ProofRunners
from assay.questions.proofs.store import ProofStore
from assay.questions.provers import load_provers
from assay.questions.suite.suite import Suite, find_in_suite, load_suites
from assay.questions.suite.targets import resolve_target
from assay.questions.verdict.exceptions import ExceptionMatch
from assay.questions.verification import Work
from assay.sandbox import Environment, Target, environment

TYPES = {
    "multiple_choice": Question,
    "api_understanding": ApiQuestion,
    "fix_error": FixQuestion,
}
# A runner learns from a few proofs what to import before it forks; more teach it little.
_SAMPLES = 12


@dataclass(frozen=True)
class Selection:
    """The request as stored in a run to be resumed; paths are absolute."""

    suites: tuple[str, ...]
    folder: str
    targets: tuple[str, ...] = ()
    proofs: str | None = None
    cases: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    exception_match: str | None = None


def select(selection: Selection) -> list[Work]:
    """Return the selected questions; raise InputError if there are none."""
    suites = load_suites(_as_seen_from_here(path) for path in selection.suites)
    work = _note_contradictions([one for suite in suites for one in _work(suite, selection)])
    chosen = [one for one in work if _is_chosen(one, selection)]
    if not chosen:
        wanted = selection.cases[0] if selection.cases else ""
        raise InputError(
            "no question was selected",
            where=", ".join(selection.cases or selection.types) or None,
            advice=nearest(wanted, (one.entry.id for one in work)),
        )
    return chosen


def _note_contradictions(work: list[Work]) -> list[Work]:
    """Return the questions, each with a note on those that ask the same and key something else."""
    notes: dict[int, list[str]] = {}
    for entry, letter, other in find_contradictions(one.entry for one in work):
        note = f"contradiction: {other.id} ({other.place('correct_answer')}) asks the same and "
        notes.setdefault(id(entry), []).append(f"{note}keys what is {letter} here")
    return [replace(one, notes=tuple(notes.get(id(one.entry), ()))) for one in work]


def _work(suite: Suite, selection: Selection) -> Iterable[Work]:
    return (work_of(suite, entry, selection) for entry in suite.entries)


def _as_seen_from_here(path: str) -> str:
    """Return a path relative to the current directory, if it is below it."""
    seen = os.path.relpath(path)
    return path if seen.startswith("..") else seen


def work_of(suite: Suite, entry: SuiteEntry, selection: Selection) -> Work:
    """Return one question of a suite with everything needed to verify it."""
    name = os.path.relpath(suite.path.absolute(), selection.folder)
    obstacle = suite.obstacle(entry)
    given = selection.exception_match
    return Work(
        entry=entry,
        identifier=f"{Path(name).as_posix()}::{entry.id}",
        target=resolve_target(suite, selection.targets),
        store=ProofStore(suite.path, Path(selection.proofs) if selection.proofs else None),
        exception_match=ExceptionMatch(given) if given else suite.policy(entry),
        obstacle=None if obstacle is None else obstacle.message,
        claims=suite.claims.get(entry.id, {}),
    )


def _is_chosen(work: Work, selection: Selection) -> bool:
    named = not selection.cases or any(
        fnmatch.fnmatchcase(work.entry.id, pattern) for pattern in selection.cases
    )
    kinds = tuple(TYPES[name] for name in selection.types)
    return named and (not kinds or isinstance(work.entry.question, kinds))


def build_environments(
    work: Iterable[Work], say: Callable[[str], None] | None = None
) -> dict[Target, Environment]:
    """Return every environment the questions need, before the first of them is looked at."""
    work = list(work)
    targets = dict.fromkeys(one.target for one in work)
    environments = {target: environment(target, progress=say) for target in targets}
    for one in work:
        _keep_blind(one.entry.file.absolute(), one.target, environments[one.target])
    return environments


def _keep_blind(suite: Path, target: Target, built: Environment) -> None:
    """Refuse a suite that proofs could read together with its keys."""
    copied = [
        copy / suite.relative_to(root)
        for source, copy in zip(target.sources, built.first, strict=False)
        for root in (source.absolute(), source.absolute() / "src")
        if suite.is_relative_to(root)
    ]
    if any(suite.is_relative_to(path) for path in built.reads) or any(
        path.exists() for path in copied
    ):
        raise InputError(
            "the suite lies inside its own target, where proofs could read the keys",
            where=str(suite),
            advice="keep suites outside of the folders that are installed or given as target",
        )


def samples(work: Iterable[Work]) -> Mapping[Target, list[str]]:
    """Return a few stored proofs per target, one of each kind, for its runner to learn from."""
    found: dict[Target, dict[str, str]] = {}
    for one in work:
        taken = found.setdefault(one.target, {})
        if len(taken) < _SAMPLES and isinstance(one.entry.question, Question):
            # An unreadable folder affects only its own question, later.
            with contextlib.suppress(InputError):
                for each in one.store.load(one.entry.question):
                    claim = each.proof.claim
                    if not claim.fresh and len(taken) < _SAMPLES:
                        taken.setdefault(claim.kind, each.proof.source)
    return {target: list(taken.values()) for target, taken in found.items()}


def open_question(
    address: str,
    targets: tuple[str, ...] = (),
    proofs: Path | None = None,
    *,
    isolation: str = "auto",
    say: Callable[[str], None] | None = None,
) -> tuple[Work, ProofRunners]:
    """Return the question at `FILE::CASE` and the runners of its target."""
    suite, entry = find_in_suite(address)
    folder = str(proofs) if proofs else None
    selection = Selection((str(suite.path),), str(Path.cwd()), targets, folder)
    work = replace(work_of(suite, entry, selection), identifier=address)
    environments = build_environments([work], say)
    return work, ProofRunners(environments, provers=load_provers(), jobs=2, isolation=isolation)


def open_questions(
    address: str,
    targets: tuple[str, ...] = (),
    proofs: Path | None = None,
    *,
    isolation: str = "auto",
    say: Callable[[str], None] | None = None,
) -> tuple[list[Work], ProofRunners]:
    """Return the question at `FILE::CASE`, or all of `FILE`, and the runners of their targets."""
    if "::" in address:
        work, runners = open_question(address, targets, proofs, isolation=isolation, say=say)
        return [work], runners
    folder = str(proofs) if proofs else None
    found = select(Selection((address,), str(Path.cwd()), targets, folder))
    return found, ProofRunners(build_environments(found, say), jobs=2, isolation=isolation)
