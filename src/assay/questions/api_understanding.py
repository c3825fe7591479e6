"""API questions: checks whether the accepted names exist.

A name that exists is not necessarily the answer, so without a model the best verdict is Unproven;
if none of the accepted names exists, the question is Incorrect.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from assay.model import CaseRecord
from assay.questions.model import ApiQuestion, SuiteEntry
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.claims import prove_dotted_name
from assay.questions.proofs.proving import Trial, is_repeated, try_proof
from assay.questions.records import proof_values, simple_record
from assay.questions.verdict.option_findings import Truth
from assay.questions.verdict.verdict import Verdict

DEAD_NAME = "dead-name"


async def api_record(
    identifier: str, entry: SuiteEntry, question: ApiQuestion, runner: TargetRunner
) -> CaseRecord:
    """Return the record of an API question."""
    names = [name for answer in question.answers for name in answer.names]
    trials = await _try(names, runner)
    verdict, reason = judge_names(names, [trial.settled.truth for trial in trials])
    if verdict is Verdict.INCORRECT:
        repeated = [
            await is_repeated(trial, runner.proof_runner, modules=runner.modules)
            for trial in trials
        ]
        if not all(repeated):
            verdict, reason = Verdict.UNPROVEN, "unstable: a new interpreter found a name after all"
    dead = [
        name
        for name, trial in zip(names, trials, strict=True)
        if trial.settled.truth is Truth.FALSE
    ]
    notes = [f"{DEAD_NAME}: {name}" for name in dead] if verdict is Verdict.UNPROVEN else []
    detail = {
        "type": "api_understanding",
        "question": question.text,
        "notes": notes,
        "names": {
            name: {"truth": trial.settled.truth.value, "proofs": [proof_values(trial)]}
            for name, trial in zip(names, trials, strict=True)
        },
    }
    return simple_record(identifier, entry, verdict, reason, detail)


async def _try(names: Sequence[str], runner: TargetRunner) -> list[Trial]:
    proofs = [prove_dotted_name(str(place), name) for place, name in enumerate(names, 1)]
    return list(
        await asyncio.gather(
            *(try_proof(proof, runner.proof_runner, modules=runner.modules) for proof in proofs)
        )
    )


def judge_names(names: Sequence[str], truths: Sequence[Truth]) -> tuple[Verdict, str]:
    """Return the verdict on an API question from the facts about its accepted names."""
    dead = [name for name, truth in zip(names, truths, strict=True) if truth is Truth.FALSE]
    live = [name for name, truth in zip(names, truths, strict=True) if truth is Truth.TRUE]
    if live:
        beside = f"; dead beside it: {', '.join(dead)}" if dead else ""
        return Verdict.UNPROVEN, f"the answer exists ({live[0]}){beside}"
    if names and len(dead) == len(names):
        return Verdict.INCORRECT, f"no accepted answer exists: {', '.join(dead)}"
    return Verdict.UNPROVEN, "whether the accepted names exist could not be settled"
