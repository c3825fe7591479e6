"""The introspection prover: reads a question and writes the tests itself, without a model."""

from __future__ import annotations

from assay.questions.provers.introspection.explanation import explain
from assay.questions.provers.introspection.library import CLASSES, Library
from assay.questions.provers.introspection.prover import IntrospectionProver

__all__ = ["CLASSES", "IntrospectionProver", "Library", "explain"]
