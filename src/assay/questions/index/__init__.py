"""The index of a target's public names: built once in the sandbox, asked many times."""

from __future__ import annotations

from assay.questions.index.build import build_index
from assay.questions.index.index import Hit, Index
from assay.questions.index.symbols import KINDS, Failure, Parameter, Symbol

__all__ = ["KINDS", "Failure", "Hit", "Index", "Parameter", "Symbol", "build_index"]
