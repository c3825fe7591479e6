"""Provers that turn options into claims with proofs, without a model."""

from __future__ import annotations

from assay import plugins
from assay.questions.proof_runners import Prover


def load_provers() -> tuple[Prover, ...]:
    """Return the provers that run without a model, cheapest first; those of plugins last."""
    from assay.questions.provers.introspection import IntrospectionProver

    added = [make() for make in plugins.load_all("provers").values()]
    return (IntrospectionProver(), *added)
