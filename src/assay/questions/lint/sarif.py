"""Findings of lint as SARIF."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from assay.questions.lint.registry import rules
from assay.questions.suites.problems import LintFinding
from assay.reports.sarif import SarifFinding, SarifRule, to_sarif


def lint_sarif(findings: Iterable[LintFinding], root: Path) -> dict[str, Any]:
    """The SARIF document of findings, with all rules that were applied."""
    known = rules()
    return to_sarif(
        [
            SarifFinding(
                rule=one.code,
                level=known[one.code].level,
                message=f"{one.message}; {one.advice}" if one.advice else one.message,
                file=one.place.file,
                line=one.place.line,
                identity=f"{one.question_id or ''}\n{one.message}",
            )
            for one in findings
        ],
        [SarifRule(one.code, one.level, one.title, one.help) for one in known.values()],
        root=root,
    )
