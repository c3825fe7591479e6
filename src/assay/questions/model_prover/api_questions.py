"""API questions with a model: the accepted answer among other names of the library, blind.

Execution alone shows that an answer exists. Here it becomes one of several options, of which no
prover knows which one is accepted, and is verified as a multiple-choice question is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from assay.model import CaseRecord
from assay.questions.authorship import Source, option_sources, verdict_source
from assay.questions.claims import Library
from assay.questions.examination import examine
from assay.questions.index import Symbol
from assay.questions.model import ApiAnswer, ApiQuestion, Question
from assay.questions.model_prover.review import Reviewer
from assay.questions.proof_runners import TargetRunner
from assay.questions.records import proof_values, simple_record
from assay.questions.verdict.verdict import Verdict
from assay.questions.verification import Judging, Work, limit_model

_RIVALS = 3
_LETTERS = "ABCD"
_OWN = ("version", "place", "verdict", "reason", "grounds", "author", "advice")


async def ask_about_answer(
    work: Work,
    question: ApiQuestion,
    record: CaseRecord,
    runner: TargetRunner,
    reviewer: Reviewer,
    *,
    is_correction: bool = False,
) -> CaseRecord:
    """Return the record of an API question whose answer exists, with what a model finds."""
    detail: dict[str, Any] = dict(record.detail or {})
    library = reviewer.tools.library
    held = [one["answer"] for one in detail["accepted"] if one["state"] == "holds"]
    answer = next((one for one in question.answers if one.text in held), None)
    if detail["verdict"] != Verdict.UNPROVEN or answer is None or isinstance(library, str):
        # What is not there, or cannot be looked up, no model can make the answer.
        return record
    choice, key = make_choice(question, answer, library)
    if len(choice.options) < 2:
        return record
    examination = await examine(choice, (), runner, is_enough=limit_model(choice, key))
    case = Judging(choice, key, runner, reviewer, is_correction)
    examination, findings, judgement = await case.judge(examination)
    sources = option_sources(findings, examination.trials, judgement)
    kept = {name: value for name, value in detail.items() if name not in _OWN}
    kept["candidates"] = {
        letter: {
            "name": text,
            "state": findings[letter].state.value,
            "reason": findings[letter].reason,
            "proofs": [proof_values(one) for one in examination.trials.get(letter, ())],
        }
        for letter, text in choice.options.items()
    }
    others = [answer.text for answer in question.answers if answer.text in held][1:]
    verdict, reason = judgement.verdict, judgement.reason
    if verdict is Verdict.INCORRECT and others:
        verdict = Verdict.UNPROVEN
        reason = f"{reason}; whether {', '.join(others)} is what is asked was not looked at"
    named = "; ".join(f"{letter}: {text}" for letter, text in choice.options.items())
    source = verdict_source(judgement, sources, examination.whole)
    return simple_record(
        work.identifier,
        work.entry,
        verdict,
        f"{reason} ({named})",
        kept,
        source if verdict is not Verdict.UNPROVEN else Source(),
    )


def make_choice(question: ApiQuestion, answer: ApiAnswer, library: Library) -> tuple[Question, str]:
    """Return an answer among rivals as a multiple-choice question, and its letter."""
    own = _full_name(answer)
    texts = [own, *_find_rivals(question, own, library)][: 1 + _RIVALS]
    random.Random(question.fingerprint()).shuffle(texts)  # noqa: S311 - not for secrets
    options = dict(zip(_LETTERS, (f"`{one}`" for one in texts), strict=False))
    letter = next(one for one, text in options.items() if text == f"`{own}`")
    return Question(question.id, question.text, options), letter


def _full_name(answer: ApiAnswer) -> str:
    path, last = answer.names[0], answer.text.strip("`").removesuffix("()").rpartition(".")[2]
    return path if path.rpartition(".")[2] == last else f"{path}.{last}"


def _find_rivals(question: ApiQuestion, own: str, library: Library) -> Iterator[str]:
    """Yield names of the same sort that are near to the question and are not accepted."""
    symbol = library.index.resolve(own)
    accepted = {_full_name(one) for one in question.answers}
    accepted |= {name for one in question.answers for name in one.names}
    known = {
        path
        for name in accepted
        if (found := library.index.resolve(name))
        for path in _paths(found)
    }
    for one in _candidates(question, own, symbol, library):
        if not known & _paths(one) and not one.foreign and not one.is_private:
            known |= _paths(one)
            yield one.import_path


def _candidates(
    question: ApiQuestion, own: str, symbol: Symbol | None, library: Library
) -> Iterator[Symbol]:
    owner = library.index.resolve(own.rpartition(".")[0])
    is_member = symbol is not None and symbol.owner
    if is_member and owner is not None:
        words = set(question.text.lower().split())
        members = library.members(owner).values()
        yield from sorted(
            (one for one in members if symbol is not None and one.kind == symbol.kind),
            key=lambda one: (-len(words & set(one.doc.lower().split())), one.name),
        )
        return
    for hit in library.index.search(question.text, 12):
        if symbol is None or hit.symbol.kind == symbol.kind:
            yield hit.symbol


def _paths(symbol: Symbol) -> set[str]:
    return {symbol.path, symbol.import_path, *symbol.paths}
