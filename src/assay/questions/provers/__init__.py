"""Provers that turn options into claims with proofs, without a model."""

from __future__ import annotations

from assay import plugins
from assay.questions.proof_runners import Prover


def load_provers() -> tuple[Prover, ...]:
    """Return the provers that run by themselves, cheapest first; those of plugins last."""
    from assay.questions.lexical import LexicalProver

    added = [make() for make in plugins.load_all("provers").values()]
    return (LexicalProver(), *added)
