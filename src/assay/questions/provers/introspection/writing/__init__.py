"""Proof files as text: what a kind of claim has to say, in the shape every proof has."""

from __future__ import annotations

from assay.questions.provers.introspection.writing.files import ProofText, write_proof

__all__ = ["ProofText", "write_proof"]
