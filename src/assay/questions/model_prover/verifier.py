"""Verifies one question with a model: proven blind, judged by code, and corrected on request."""

from __future__ import annotations

import time
from pathlib import Path

from assay.errors import AssayError, BudgetExceeded
from assay.model import CaseRecord
from assay.models import open_meter
from assay.questions.correct.apply_correction import (
    CorrectionWriter,
    correction_record,
    read_suite_text,
)
from assay.questions.correct.correction import Corrector
from assay.questions.model import ApiQuestion, FixQuestion, Question
from assay.questions.model_prover.adk_callbacks import AgentSession, ModelAccess
from assay.questions.model_prover.correction_loop import CorrectionLoop
from assay.questions.model_prover.fix_error_tasks import repair_record
from assay.questions.model_prover.library_tools import LibraryTools
from assay.questions.model_prover.pipeline import ModelProver, open_pass
from assay.questions.model_prover.transcripts import Transcript, transcript_of
from assay.questions.proof_runners import ProofRunners, TargetRunner
from assay.questions.suite.suite import read_suite
from assay.questions.verification import Work, fingerprint, verify_one


class ModelVerifier:
    """Verifies questions in a run with a model; with a `writer`, fixes are wanted."""

    def __init__(
        self,
        access: ModelAccess,
        prover: ModelProver,
        *,
        folder: Path | None = None,
        writer: CorrectionWriter | None = None,
    ) -> None:
        self._access = access
        self._prover = prover
        self._folder = folder
        self._writer = writer

    async def __call__(
        self, work: Work, runners: ProofRunners, *, writes: bool = True
    ) -> CaseRecord:
        """Return the record of one question, with what the model used for it."""
        clock = time.perf_counter()
        transcript = transcript_of(self._folder, work.identifier)
        with open_meter() as meter, open_pass(transcript):
            record = await self._verify(work, runners, writes, transcript)
        return record.model_copy(
            update={
                "fingerprint": fingerprint(work),
                "duration": time.perf_counter() - clock,
                "usage": meter.usage.as_record(),
            }
        )

    async def _verify(
        self, work: Work, runners: ProofRunners, writes: bool, transcript: Transcript
    ) -> CaseRecord:
        question = work.entry.question
        if work.obstacle is None and isinstance(question, Question | ApiQuestion):
            runner = runners.of(work.target)
            return await self._correct(work, runner, writes, transcript)
        if work.obstacle is None and isinstance(question, FixQuestion):
            runner = runners.of(work.target)
            # What a question is about is found by its words; the files are not needed for that.
            asked = Question(question.id, f"{question.description}\n{question.unfixed}", {})
            tools = await self._prover.tools(asked, runner)
            session = AgentSession(self._access, transcript)
            return await repair_record(work, question, runner, session, tools)
        return await verify_one(work, runners, writes=writes)

    async def _correct(
        self, work: Work, runner: TargetRunner, writes: bool, transcript: Transcript
    ) -> CaseRecord:
        async def tools(question: Question) -> LibraryTools:
            return await self._prover.tools(question, runner)

        def corrector() -> Corrector:
            file = work.entry.file
            return Corrector(read_suite(file), work.entry, read_suite_text(file))

        loop = CorrectionLoop(
            work,
            runner,
            AgentSession(self._access, transcript, is_keyed=True),
            writes=writes,
            tools=tools,
            corrector=corrector if self._writer else None,
        )
        result = await loop.run()
        if self._writer is None or result.kept is None:
            return correction_record(result, None)
        try:
            carried_out = await self._writer.keep(result, runner.lock, writes=writes)
        except BudgetExceeded:
            raise
        except AssayError as error:
            return correction_record(result, None, str(error))
        return correction_record(result, carried_out)
