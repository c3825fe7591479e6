"""The index of a target's public names, built once in the sandbox."""

from __future__ import annotations

from assay.questions.index.build import build_index
from assay.questions.index.index import Hit, SymbolIndex
from assay.questions.index.symbols import Failure, Parameter, Symbol, plainness

__all__ = ["Failure", "Hit", "Parameter", "Symbol", "SymbolIndex", "build_index", "plainness"]
