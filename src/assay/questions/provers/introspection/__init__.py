"""The introspection prover: it reads a question, writes the tests itself, and needs no model."""

from __future__ import annotations

from assay.questions.provers.introspection.prover import IntrospectionProver

__all__ = ["IntrospectionProver"]
