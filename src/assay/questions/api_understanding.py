"""API questions: whether the accepted answers exist, by execution in the target.

Every full name is looked up, and the answer in what it leads to: as the class itself, or as a
member, a parameter or a field of it. An answer that none of its classes has makes the question
Incorrect, if no other accepted answer holds. That an answer exists does not make it the answer to
what is asked, so without a model the best verdict is Unproven.
"""

from __future__ import annotations

import asyncio
import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.machinery import ModuleSpec
from importlib.metadata import packages_distributions
from typing import Any

from assay.errors import InfrastructureError, InputError
from assay.model import CaseRecord
from assay.questions.api_proofs import (
    is_call,
    is_part_of,
    prove_existence,
    prove_member,
    prove_possible_existence,
    prove_possible_member,
    read_answer,
    read_path,
)
from assay.questions.index import SymbolIndex, build_index
from assay.questions.model import ApiAnswer, ApiQuestion, SuiteEntry
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.claims import Proof
from assay.questions.proofs.proving import Trial, is_repeated, try_proof
from assay.questions.records import proof_values, simple_record
from assay.questions.verdict.option_findings import Truth
from assay.questions.verdict.verdict import Verdict

DEAD_NAME = "dead-name"
DEAD_ANSWER = "dead-answer"
_CLASSES = ("class", "exception")
# A method is not given as a keyword, whatever keywords its class accepts.
_ASKS_FOR_METHOD = re.compile(
    r"(?!.*\b(?:parameter|argument|keyword|setting|field|attribute)s?\b)"
    r".*\b(?:which|what)\s+(?:\w+\s+){0,3}(?:method|property)\b.*",
    re.IGNORECASE | re.DOTALL,
)


class AnswerState(StrEnum):
    """What is known of an accepted answer in one of its classes."""

    HOLDS = "holds"  # the class is there and is the answer, or has it
    LACKS = "lacks"  # the class is there and cannot have the answer
    GONE = "gone"  # the class itself is not there
    OPEN = "open"


@dataclass(frozen=True)
class Lookup:
    """An accepted answer looked up in one full name: what came of it, and by which proofs."""

    name: str
    state: AnswerState
    reason: str = ""
    trials: tuple[Trial, ...] = ()
    nearest: tuple[str, ...] = ()

    @property
    def is_refuted(self) -> bool:
        return self.state in (AnswerState.LACKS, AnswerState.GONE)


@dataclass(frozen=True)
class AnswerFinding:
    """An accepted answer with a lookup per full name."""

    text: str
    lookups: tuple[Lookup, ...]

    @property
    def state(self) -> AnswerState:
        """Return HOLDS if one of its names has it, LACKS if none can, else OPEN."""
        found = {one.state for one in self.lookups}
        if AnswerState.HOLDS in found:
            return AnswerState.HOLDS
        is_refuted = bool(found) and all(one.is_refuted for one in self.lookups)
        return AnswerState.LACKS if is_refuted else AnswerState.OPEN


def judge_answers(
    answers: Sequence[AnswerFinding], target: str
) -> tuple[Verdict, str, tuple[str, ...]]:
    """Return the verdict on an API question, the reason, and notes on what is dead beside it."""
    dead = [one for one in answers if one.state is AnswerState.LACKS]
    if answers and len(dead) == len(answers):
        return Verdict.INCORRECT, "; ".join(_describe(one, target) for one in answers), ()
    gone = {
        f"{DEAD_NAME}: {one.name}{_suggest(one.nearest)}": None
        for answer in answers
        for one in answer.lookups
        if one.state is AnswerState.GONE
    }
    notes = (*(f"{DEAD_ANSWER}: {_describe(one, target)}" for one in dead), *gone)
    held = [
        (answer, one)
        for answer in answers
        for one in answer.lookups
        if one.state is AnswerState.HOLDS
    ]
    beside = [_describe(one, target) for one in dead] or [
        f"dead beside it: {', '.join(note.removeprefix(f'{DEAD_NAME}: ') for note in gone)}"
    ] * bool(gone)
    if held:
        answer, one = held[0]
        reason = (
            f"the answer exists (`{answer.text}`: {one.name}); whether it is what is asked takes "
            "a model or a person"
        )
        return Verdict.UNPROVEN, "; ".join([reason, *beside]), notes
    why = next((one.reason for each in answers for one in each.lookups if one.reason), "")
    reason = f"whether the accepted answers exist could not be settled{f': {why}' if why else ''}"
    return Verdict.UNPROVEN, "; ".join([reason, *beside]), notes


def _describe(answer: AnswerFinding, target: str) -> str:
    """Return why an accepted answer does not hold: what is gone, or who lacks it."""
    lacking = [one for one in answer.lookups if one.state is AnswerState.LACKS]
    if lacking:
        near = tuple(dict.fromkeys(name for one in lacking for name in one.nearest))[:3]
        owners = ", ".join(one.name for one in lacking)
        return f"{owners} has no `{answer.text}` in {target}{_suggest(near)}"
    near = tuple(dict.fromkeys(name for one in answer.lookups for name in one.nearest))[:3]
    names = ", ".join(one.name for one in answer.lookups)
    verb = "do" if len(answer.lookups) > 1 else "does"
    return f"{names} {verb} not exist in {target}{_suggest(near)}"


def _suggest(nearest: Sequence[str]) -> str:
    return f"; nearest: {', '.join(nearest)}" if nearest else ""


# --- Looking up ----------------------------------------------------------------------------------


async def api_record(
    identifier: str, entry: SuiteEntry, question: ApiQuestion, runner: TargetRunner
) -> CaseRecord:
    """Return the record of an API question."""
    reader = _Reader(runner, asks_for_method=_ASKS_FOR_METHOD.fullmatch(question.text) is not None)
    findings = [await reader.look_up(answer) for answer in question.answers]
    target = _describe_target(runner)
    verdict, reason, notes = judge_answers(findings, target)
    if verdict is Verdict.INCORRECT:
        findings = [await reader.repeat(one) for one in findings]
        verdict, reason, notes = judge_answers(findings, target)
    detail = {
        "type": "api_understanding",
        "question": question.text,
        "notes": list(notes),
        "names": _names_values(findings),
        "accepted": [
            {
                "answer": one.text,
                "state": one.state.value,
                "names": {each.name: each.state.value for each in one.lookups},
            }
            for one in findings
        ],
    }
    return simple_record(identifier, entry, verdict, reason, detail)


def _names_values(findings: Sequence[AnswerFinding]) -> dict[str, dict[str, Any]]:
    """Return each full name with its truth and all proofs about it."""
    truths = {
        AnswerState.HOLDS: Truth.TRUE,
        AnswerState.LACKS: Truth.TRUE,
        AnswerState.GONE: Truth.FALSE,
        AnswerState.OPEN: Truth.OPEN,
    }
    found: dict[str, dict[str, Any]] = {}
    for one in (lookup for answer in findings for lookup in answer.lookups):
        truth = truths[one.state]
        if one.state is AnswerState.OPEN and one.trials:
            truth = one.trials[0].settled.truth
        proofs = {each.proof.file: proof_values(each) for each in one.trials}
        before = found.setdefault(one.name, {"truth": truth.value, "proofs": []})
        before["proofs"] += proofs.values()
    return found


def _describe_target(runner: TargetRunner) -> str:
    environment = runner.environment
    if environment is None:
        return "the target"
    if environment.described != "current":
        return environment.described
    pinned = [
        line
        for line in environment.lock.splitlines()
        if line.partition("==")[0].lower() in environment.distributions
    ]
    return ", ".join(pinned) or "the current environment"


class _Reader:
    """Looks accepted answers up in one target; a proof is tried once."""

    def __init__(self, runner: TargetRunner, *, asks_for_method: bool = False) -> None:
        self._runner = runner
        self._asks_for_method = asks_for_method
        self._tried: dict[str, Trial] = {}
        self._index: SymbolIndex | None = None

    async def look_up(self, answer: ApiAnswer) -> AnswerFinding:
        names = dict.fromkeys(answer.names)
        found = await asyncio.gather(*(self._look_up(answer, name) for name in names))
        return AnswerFinding(answer.text, tuple(found))

    async def _look_up(self, answer: ApiAnswer, name: str) -> Lookup:
        path = read_path(name)
        if path is None:
            return Lookup(name, AnswerState.OPEN, f"{name!r} is not a dotted name")
        dotted = ".".join(path)
        root, is_own = self._find_root(path)
        place = _place(dotted)
        exists = await self._try(prove_existence(place, dotted, root))
        if exists.settled.truth is Truth.FALSE and is_own:
            return await self._look_for_gone(dotted, root, exists)
        if exists.settled.truth is not Truth.TRUE:
            reason = exists.settled.reason or f"{dotted} is not a name of the target"
            return Lookup(dotted, AnswerState.OPEN, reason, (exists,))
        said = read_answer(answer.text)
        if said is not None and is_part_of(said, path):
            return Lookup(dotted, AnswerState.HOLDS, "", (exists,))
        if said is None:
            reason = f"`{answer.text}` is not a name that could be looked up"
            return Lookup(dotted, AnswerState.OPEN, reason, (exists,))
        is_keyword = not (self._asks_for_method or is_call(answer.text))
        return await self._look_inside(path, said, exists, root if is_own else None, is_keyword)

    async def _look_for_gone(self, dotted: str, root: str, exists: Trial) -> Lookup:
        gone = await self._try(prove_possible_existence(_place(dotted), dotted, root))
        trials = (exists, gone)
        if gone.settled.truth is not Truth.FALSE:
            reason = f"{dotted} is not there, but may be in other circumstances"
            return Lookup(dotted, AnswerState.OPEN, reason, trials)
        index = await self._load_index(dotted)
        if index is not None and (obstacle := _find_obstacle(index, dotted)):
            return Lookup(dotted, AnswerState.OPEN, obstacle, trials)
        near = tuple(index.nearest(dotted)) if index is not None else ()
        return Lookup(dotted, AnswerState.GONE, "", trials, near)

    async def _look_inside(
        self,
        path: tuple[str, ...],
        said: tuple[str, ...],
        exists: Trial,
        root: str | None,
        is_keyword: bool,
    ) -> Lookup:
        dotted, name = ".".join(path), said[-1]
        place = f"{_place(dotted)}_{name}"
        member = await self._try(prove_member(place, dotted, name))
        trials: tuple[Trial, ...] = (exists, member)
        if member.settled.truth is Truth.TRUE:
            # `Other.name` is not said of this class, but `instance.name` may well be.
            is_same = len(said) == 1 or said[-2] in path or not said[-2][:1].isupper()
            state = AnswerState.HOLDS if is_same else AnswerState.OPEN
            return Lookup(dotted, state, "" if is_same else f"{said[-2]} is not listed", trials)
        if member.settled.truth is not Truth.FALSE or root is None:
            return Lookup(dotted, AnswerState.OPEN, member.settled.reason, trials)
        proof = prove_possible_member(place, dotted, name, root, is_keyword=is_keyword)
        lacks = await self._try(proof)
        trials = (*trials, lacks)
        if lacks.settled.truth is not Truth.FALSE:
            reason = f"{dotted} has no `{name}`, but may get or accept it"
            return Lookup(dotted, AnswerState.OPEN, reason, trials)
        index = await self._load_index(dotted)
        if index is None or (elsewhere := _find_elsewhere(index, dotted, name)):
            reason = f"{dotted} has no `{name}`" + (f", but {elsewhere}" if index else "")
            return Lookup(dotted, AnswerState.OPEN, reason, trials)
        near = tuple(index.nearest(f"{dotted}.{name}")) or tuple(index.nearest(name))
        return Lookup(dotted, AnswerState.LACKS, "", trials, near)

    async def repeat(self, answer: AnswerFinding) -> AnswerFinding:
        """Return the finding without the refutations that a new interpreter does not confirm."""
        lookups = [await self._repeat(one) for one in answer.lookups]
        return replace(answer, lookups=tuple(lookups))

    async def _repeat(self, lookup: Lookup) -> Lookup:
        if not lookup.is_refuted:
            return lookup
        runner = self._runner
        for trial in lookup.trials:
            if not await is_repeated(trial, runner.proof_runner, modules=runner.modules):
                reason = "unstable: a new interpreter with another hash seed found it after all"
                return replace(lookup, state=AnswerState.OPEN, reason=reason)
        return lookup

    async def _try(self, proof: Proof) -> Trial:
        if proof.source not in self._tried:
            runner = self._runner
            self._tried[proof.source] = await try_proof(
                proof, runner.proof_runner, modules=runner.modules
            )
        return self._tried[proof.source]

    def _find_root(self, path: tuple[str, ...]) -> tuple[str, bool]:
        """Return the module that must be there in any case, and whether it is the target's."""
        modules = self._runner.modules
        dotted = ".".join(path)
        own = [one for one in modules if f"{dotted}.".startswith(f"{one}.")]
        if modules:
            return (max(own, key=len), True) if own else (path[0], False)
        for length in range(1, len(path)):
            root = ".".join(path[:length])
            spec = _find_spec(root)
            if spec is None:
                return path[0], False
            if spec.has_location:
                return root, True
        return path[0], False

    async def _load_index(self, dotted: str) -> SymbolIndex | None:
        environment = self._runner.environment
        if self._index is None and environment is not None:
            named = environment.distributions or packages_distributions().get(
                dotted.partition(".")[0], ()
            )
            try:
                self._index = await asyncio.to_thread(
                    build_index, environment, distributions=tuple(named)
                )
            except (InputError, InfrastructureError):
                return None
        return self._index


def _place(dotted: str) -> str:
    return dotted.replace(".", "_")


def _find_spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


def _find_obstacle(index: SymbolIndex, dotted: str) -> str:
    """Return why a path may fail here without being gone: something is not installed."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        found = index.resolve(".".join(parts[:length]))
        if found is None:
            continue
        if found.failure is not None or not found.available:
            return f"{found.path} cannot be imported here"
        return found.missing_names.get(parts[length], "") if length < len(parts) else ""
    return ""


def _find_elsewhere(index: SymbolIndex, dotted: str, name: str) -> str:
    """Return where a name is after all that may be meant: in a subclass, or as a class itself."""
    owner = index.resolve(dotted)
    names: set[str] = {dotted} if owner is None else {owner.path, *owner.paths}
    for one in index.find(name):
        if one.kind in (*_CLASSES, "function") and not one.owner and not one.foreign:
            return f"the target has {one.import_path}"
        holder = index.resolve(one.owner) if one.owner else None
        while holder is not None and holder.kind not in _CLASSES:
            holder = index.resolve(holder.owner) if holder.owner else None
        if holder is not None and names & set(holder.bases):
            return f"{holder.import_path}, which inherits from it, has"
    return ""
