"""Verifies questions: examines them without the key, judges them against it, and records them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from assay.errors import BudgetExceeded, InputError
from assay.model import WRONG_INPUT, CaseRecord, Outcome, compute_fingerprint
from assay.questions.api_understanding import api_record
from assay.questions.broken_snippets import describe_broken, list_snippets
from assay.questions.claims.kinds import TypedClaim
from assay.questions.examination import Examination, examine, repeat
from assay.questions.fix_error import fix_record
from assay.questions.model import ApiQuestion, Question, SuiteEntry
from assay.questions.person import PersonProver, find_library
from assay.questions.proof_runners import ProofRunners, TargetRunner
from assay.questions.proofs.store import NoProofs, ProofStore
from assay.questions.records import SUBJECT, obstacle_record, question_record
from assay.questions.second_opinions import Doubts, Review, review_stored
from assay.questions.verdict.exceptions import ExceptionMatch
from assay.questions.verdict.option_findings import OptionFinding
from assay.questions.verdict.verdict import (
    Judgement,
    Verdict,
    accuses,
    answers_of,
    can_be_decided,
    judge,
)
from assay.runs import Parts, Unit
from assay.sandbox import Target
from assay.tracebacks import format_exception


@dataclass(frozen=True)
class Work:
    """One question of a run: its target, where its proofs are, and how exceptions match."""

    entry: SuiteEntry
    identifier: str
    target: Target
    store: ProofStore
    exception_match: ExceptionMatch = ExceptionMatch.CLOSEST
    obstacle: str | None = None
    notes: tuple[str, ...] = ()
    """What is known of it from the other questions of the run."""
    claims: Mapping[str, Sequence[TypedClaim]] = field(default_factory=dict)
    """Those of a person, by option."""

    def revise(self, entry: SuiteEntry) -> Work:
        """Return the same for another wording, without stored proofs.

        Of the claims those stay that are about an option that reads as before.
        """
        old, new = self.entry.question, entry.question
        if not isinstance(old, Question) or not isinstance(new, Question):
            return replace(self, entry=entry)
        claims = {
            option: given
            for option, given in self.claims.items()
            if option in new.options
            and old.option_fingerprint(option) == new.option_fingerprint(option)
        }
        return replace(self, entry=entry, store=NoProofs(self.entry.file), claims=claims)


class Procedure(Protocol):
    """Verifies one question and returns its record."""

    async def __call__(
        self, work: Work, runners: ProofRunners, *, writes: bool = True
    ) -> CaseRecord: ...


@dataclass(frozen=True)
class QuestionWorker:
    """Verifies single questions; with `writes` it stores the proofs that provers found."""

    runners: ProofRunners
    verify: Procedure
    writes: bool = True

    async def run(self, unit: Unit, parts: Parts) -> CaseRecord:
        """Return the record of one question."""
        try:
            record = await self.verify(unit.payload, self.runners, writes=self.writes)
            broken = await _note_broken_imports(unit.payload, self.runners)
            return _add_notes(record, (*unit.payload.notes, *broken))
        except BudgetExceeded:
            raise
        except Exception as error:
            # An error in one question is recorded for it and does not stop the others.
            return error_record(unit.payload, error)


async def _note_broken_imports(work: Work, runners: ProofRunners) -> tuple[str, ...]:
    question = work.entry.question
    if not isinstance(question, Question) or not list_snippets(question):
        return ()
    library = await find_library(question, runners.of(work.target))
    return () if isinstance(library, str) else describe_broken(question, library)


def _add_notes(record: CaseRecord, notes: Sequence[str]) -> CaseRecord:
    if not notes or not isinstance(record.detail, dict):
        return record
    detail = {**record.detail, "notes": [*record.detail.get("notes", ()), *notes]}
    return record.model_copy(update={"detail": detail})


def list_units(work: Iterable[Work]) -> Iterator[Unit]:
    """List questions as the cases of a run; a changed key, rule or claim is a changed input."""
    for place, one in enumerate(work):
        yield Unit(one.identifier, place, fingerprint(one), one)


def fingerprint(work: Work) -> str:
    entry = work.entry
    key = None if entry.key is None else entry.key.answer
    claims = [
        [option, *(one.model_dump(mode="json") for one in given)]
        for option, given in sorted(work.claims.items())
    ]
    return compute_fingerprint(
        entry.question.fingerprint(), key, work.exception_match.value, *([claims] if claims else [])
    )


def error_record(work: Work, error: Exception) -> CaseRecord:
    """Return the record of a question that could not be verified."""
    is_input = isinstance(error, InputError)
    return CaseRecord(
        id=work.identifier,
        subject=SUBJECT,
        outcome=Outcome.ERROR,
        reason=str(error) if is_input else format_exception(error),
        code=WRONG_INPUT if is_input else "error",
        fingerprint=fingerprint(work),
    )


async def verify_one(work: Work, runners: ProofRunners, *, writes: bool = True) -> CaseRecord:
    """Verify one question and return its record."""
    clock = time.perf_counter()
    question = work.entry.question
    runner = runners.of(work.target)
    if work.obstacle is not None:
        record = obstacle_record(work.identifier, work.entry, work.obstacle)
    elif isinstance(question, Question):
        record = await _verify_choice(work, question, runner, writes)
    elif isinstance(question, ApiQuestion):
        record = await api_record(work.identifier, work.entry, question, runner)
    else:
        record = await fix_record(work.identifier, work.entry, question, runner)
    spent = {"fingerprint": fingerprint(work), "duration": time.perf_counter() - clock}
    return record.model_copy(update=spent)


async def _verify_choice(
    work: Work, question: Question, runner: TargetRunner, writes: bool
) -> CaseRecord:
    examination = await examine_question(work, question, runner, writes=writes)
    return await judge_question(work, question, examination, runner)


async def examine_question(
    work: Work,
    question: Question,
    runner: TargetRunner,
    *,
    writes: bool,
    corrects: bool = False,
) -> Examination:
    """Return what the claims of a person, the stored proofs and the provers find.

    None of them sees the key; it only decides whether a model can still change the verdict. To
    correct a question one wants to know more than that it is wrong. Proofs of claims are written
    anew each time and not stored.
    """
    assert work.entry.key is not None
    is_enough = limit_model(question, work.entry.key.answer, corrects=corrects)
    stored = work.store.load(question)
    claimed = await PersonProver(work.claims).prove(question, list(question.options), runner)
    examination = await examine(question, stored, runner, work.exception_match, claimed, is_enough)
    if writes and examination.new:
        work.store.save(question, examination.new, runner.lock)
    return examination


def limit_model(
    question: Question, key: str, *, corrects: bool = False
) -> Callable[[Examination, Sequence[str]], bool]:
    """Return what tells whether a model could still change the verdict: else it is not asked.

    It could not where the verdict is known, and where whatever it finds leaves it Unproven: proofs
    of the key contradict each other, or its proof is for its author to look at.
    """

    def is_enough(found: Examination, open_options: Sequence[str]) -> bool:
        whole = [trial.settled for trial in found.whole]
        stem = found.read_stem(question)
        judgement = judge(question, stem, found.findings, key, whole)
        if judgement.verdict is Verdict.VALID or (accuses(judgement) and not corrects):
            return True
        return not can_be_decided(question, stem, found.findings, key, whole, open_options)

    return is_enough


async def judge_question(
    work: Work,
    question: Question,
    examination: Examination,
    runner: TargetRunner,
    review: Review = review_stored,
    *,
    is_correction: bool = False,
) -> CaseRecord:
    """Return the verdict as a record: the key is known here, and proofs are only repeated.

    Of a correction it is also reviewed that it is Valid.
    """
    assert work.entry.key is not None
    case = Judging(question, work.entry.key.answer, runner, review, is_correction)
    examination, findings, judgement = await case.judge(examination)
    return question_record(work.identifier, work.entry, question, examination, findings, judgement)


@dataclass(frozen=True)
class Judging:
    """One question with its key, and what is asked before a defect is reported."""

    question: Question
    key: str
    runner: TargetRunner
    review: Review = review_stored
    is_correction: bool = False

    async def judge(
        self, examination: Examination
    ) -> tuple[Examination, dict[str, OptionFinding], Judgement]:
        """Return the verdict; a defect is reported only if nothing speaks against it.

        A new interpreter must confirm it, and a second opinion where it rests on a model's claims.
        """
        question, stem = self.question, examination.read_stem(self.question)
        whole = [trial.settled for trial in examination.whole]
        judgement = judge(question, stem, examination.findings, self.key, whole)
        if accuses(judgement):
            unstable = await repeat(examination, judgement.rests_on, self.runner)
            if unstable:
                # The remaining findings may report another defect, which must be repeated too.
                return await self.judge(examination.without(unstable, _UNSTABLE))
        if options := self._reviewed(judgement):
            doubts = await self.review(question, examination, options)
            if doubts != Doubts():
                return await self.judge(doubts.apply(examination))
        return examination, answers_of(question, stem, examination.findings), judgement

    def _reviewed(self, judgement: Judgement) -> tuple[str, ...]:
        """Return the options whose proofs are reviewed before this verdict is given."""
        if accuses(judgement):
            return judgement.rests_on
        is_kept = self.is_correction and judgement.verdict is Verdict.VALID
        return tuple(self.question.options) if is_kept else ()


_UNSTABLE = "unstable: a new interpreter with another hash seed gave another outcome"
