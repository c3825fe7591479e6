"""The lexical reader and its prover: questions read by structure, without a model."""

from __future__ import annotations

from assay.questions.lexical.explanation import explain
from assay.questions.lexical.prover import LexicalProver

__all__ = ["LexicalProver", "explain"]
