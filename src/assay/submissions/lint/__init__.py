"""Lint: what is wrong with a problem that can be seen without running anything of it."""

from assay.submissions.lint.linting import lint_problem
from assay.submissions.lint.rendering import findings_text
from assay.submissions.lint.rules import RULES, Rule

__all__ = ["RULES", "Rule", "findings_text", "lint_problem"]
