"""Lint: what is wrong with suites that can be seen without running anything."""

from __future__ import annotations

import importlib

from assay.questions.lint.registry import Level, Resolve, Rule, lint, rules
from assay.questions.lint.rendering import findings_text
from assay.questions.lint.resolving import StaticResolver
from assay.questions.lint.sarif import lint_sarif
from assay.questions.suites.problems import LintFinding

__all__ = [
    "Level",
    "LintFinding",
    "Resolve",
    "Rule",
    "StaticResolver",
    "findings_text",
    "lint",
    "lint_sarif",
    "rules",
]

# Imported for the rules they register, in the order in which rules are listed.
for _name in ("reading", "options", "leaks", "hints", "contradictions", "positions", "imports"):
    importlib.import_module(f"{__name__}.{_name}")
