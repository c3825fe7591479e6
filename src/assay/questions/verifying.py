"""Verifies the questions of a suite: examined blind, judged against the key, kept as records."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from assay.errors import BudgetExceeded
from assay.model import CaseRecord, Outcome, values
from assay.questions.api_understanding import api_record
from assay.questions.examining import Bench, Examination, examine, repeat
from assay.questions.fix_error import fix_record
from assay.questions.laboratories import Laboratories, Laboratory
from assay.questions.model import ApiQuestion, Entry, Question
from assay.questions.proofs.store import ProofStore
from assay.questions.reporting.records import SUBJECT, obstructed_record, question_record
from assay.questions.verdict.exceptions import ExceptionMatch
from assay.questions.verdict.findings import Finding
from assay.questions.verdict.stems import classify
from assay.questions.verdict.verdict import Judgement, accuses, answers_of, judge
from assay.runs import Parts, Unit
from assay.sandbox import Target
from assay.tracebacks import format_exception


@dataclass(frozen=True)
class Work:
    """One question of a run: its target, where its proofs are, and how exceptions match."""

    entry: Entry
    identifier: str
    target: Target
    store: ProofStore
    exception_match: ExceptionMatch = ExceptionMatch.CLOSEST
    obstacle: str | None = None


class Procedure(Protocol):
    """Verifies one question and gives its record."""

    async def __call__(
        self, work: Work, laboratories: Laboratories, *, writes: bool = True
    ) -> CaseRecord: ...


@dataclass(frozen=True)
class QuestionWorker:
    """Verifies single questions; with `writes` it stores the proofs that provers found."""

    laboratories: Laboratories
    verify: Procedure
    writes: bool = True

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord:
        """Return the record of one question."""
        try:
            return await self.verify(unit.payload, self.laboratories, writes=self.writes)
        except BudgetExceeded:
            raise
        except Exception as error:
            # Whatever goes wrong with one question is its error and not the end of the others.
            return error_record(unit.payload, format_exception(error))


def list_units(work: Iterable[Work]) -> Iterator[Unit]:
    """List questions as the cases of a run; a changed key or rule is a changed input."""
    for place, one in enumerate(work):
        yield Unit(one.identifier, place, fingerprint(one), one)


def fingerprint(work: Work) -> str:
    entry = work.entry
    key = None if entry.key is None else entry.key.answer
    return values.fingerprint(entry.question.fingerprint(), key, work.exception_match.value)


def error_record(work: Work, reason: str) -> CaseRecord:
    """The record of a question about which nothing could be found out."""
    return CaseRecord(
        id=work.identifier,
        subject=SUBJECT,
        outcome=Outcome.ERROR,
        reason=reason,
        code="error",
        fingerprint=fingerprint(work),
    )


async def verify_one(work: Work, laboratories: Laboratories, *, writes: bool = True) -> CaseRecord:
    """The record of one question."""
    clock = time.perf_counter()
    question = work.entry.question
    laboratory = laboratories.of(work.target)
    if work.obstacle is not None:
        record = obstructed_record(work.identifier, work.entry, work.obstacle)
    elif isinstance(question, Question):
        record = await _verify_choice(work, question, laboratory, writes)
    elif isinstance(question, ApiQuestion):
        record = await api_record(work.identifier, work.entry, question, laboratory)
    else:
        record = await fix_record(work.identifier, work.entry, question, laboratory)
    spent = {"fingerprint": fingerprint(work), "duration": time.perf_counter() - clock}
    return record.model_copy(update=spent)


async def _verify_choice(
    work: Work, question: Question, laboratory: Laboratory, writes: bool
) -> CaseRecord:
    examination = await examined(work, question, laboratory, writes=writes)
    return await synthesized(work, question, examination, laboratory)


async def examined(
    work: Work, question: Question, laboratory: Laboratory, *, writes: bool
) -> Examination:
    """What the stored proofs and the provers say; nobody in here has seen the key."""
    bench = laboratory.bench(work.exception_match)
    examination = await examine(question, work.store.load(question), bench)
    if writes and examination.new:
        work.store.save(question, examination.new, laboratory.environment.lock)
    return examination


async def synthesized(
    work: Work, question: Question, examination: Examination, laboratory: Laboratory
) -> CaseRecord:
    """The verdict as a record: here the key is known, and nothing is proven, only repeated."""
    assert work.entry.key is not None
    examination, findings, judgement = await _judged(
        question, work.entry.key.answer, examination, laboratory.bench(work.exception_match)
    )
    return question_record(work.identifier, work.entry, question, examination, findings, judgement)


async def _judged(
    question: Question, key: str, examination: Examination, bench: Bench
) -> tuple[Examination, dict[str, Finding], Judgement]:
    """The verdict; an accusation only if a new interpreter says the same."""
    stem = classify(question.text)
    judgement = judge(question, stem, examination.findings, key)
    if accuses(judgement):
        unstable = await repeat(examination, judgement.rests_on, bench)
        if unstable:
            # What is left may accuse on other grounds, which must be repeated in their turn.
            return await _judged(question, key, examination.without(unstable, _UNSTABLE), bench)
    return examination, answers_of(question, stem, examination.findings), judgement


_UNSTABLE = "unstable: a new interpreter with another hash seed gave another outcome"
