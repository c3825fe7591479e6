"""The model prover: what programs leave open is turned into claims and proofs by a model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from assay.questions.examining import Attempt, Bench
from assay.questions.model import Question
from assay.questions.model_prover.access import Conversation, ModelAccess
from assay.questions.model_prover.adk_models import close_clients
from assay.questions.model_prover.library_tools import LibraryTools
from assay.questions.model_prover.pipeline import Pipeline
from assay.questions.model_prover.transcripts import Transcript
from assay.questions.proofs.claims import MODELLED
from assay.questions.provers.introspection import IntrospectionProver, Library

# Which transcript the questions that are proven in a task belong to.
_transcript: ContextVar[Transcript | None] = ContextVar("assay_transcript", default=None)


class ModelProver:
    """Asks a model for claims and proofs; it is never given a key.

    Every question is asked in a session of its own, so that nothing of another pass, its critique
    or its claims can be in it.
    """

    name = MODELLED

    def __init__(self, access: ModelAccess, introspection: IntrospectionProver) -> None:
        self._access = access
        self._introspection = introspection

    async def prove(self, question: Question, options: Sequence[str], bench: Bench) -> Attempt:
        """Proofs for those of the options that the model could settle."""
        conversation = Conversation(self._access, _transcript.get() or Transcript())
        tools = await self.tools(question, bench)
        return await Pipeline(question, options, bench, tools, conversation).run()

    async def close(self) -> None:
        """Close the connections to the model, in the event loop that they belong to."""
        await close_clients()

    async def tools(self, question: Question, bench: Bench) -> LibraryTools:
        """What agents look at the target with."""
        library: Library | str = await self._introspection.library(question, bench)
        return LibraryTools(library, bench.environment)


@contextmanager
def recording(transcript: Transcript) -> Any:
    """Around the work on a question: what its provers say goes into this transcript."""
    token = _transcript.set(transcript)
    try:
        yield
    finally:
        _transcript.reset(token)
