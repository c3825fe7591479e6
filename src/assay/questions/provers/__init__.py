"""Provers: what turns options into claims with proofs, without a model."""

from __future__ import annotations

from assay.questions.examining import Prover


def installed_provers() -> tuple[Prover, ...]:
    """The provers that run by themselves, cheapest first."""
    from assay.questions.provers.introspection import IntrospectionProver

    return (IntrospectionProver(),)
