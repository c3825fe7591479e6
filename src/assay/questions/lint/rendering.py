"""Lint findings as text for people, JSON for programs, SARIF for pull requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from assay.questions.lint.sarif import lint_sarif
from assay.questions.suites.problems import LintFinding
from assay.reports.sarif import sarif_text
from assay.reports.text import count
from assay.visible import visible


def findings_text(findings: Sequence[LintFinding], name: str) -> str:
    """The findings in the format of that name."""
    return {"text": _plain, "json": _json, "sarif": _sarif}[name](findings)


def _plain(findings: Sequence[LintFinding]) -> str:
    lines = []
    for one in findings:
        lines.append(visible(f"{one.place}: {one.code}: {one.message}"))
        if one.advice:
            lines.append(visible(f"    {one.advice}"))
    lines.append(count(len(findings), "finding") if findings else "nothing found")
    return "\n".join(lines) + "\n"


def _json(findings: Sequence[LintFinding]) -> str:
    told = [
        {
            "code": one.code,
            "message": one.message,
            "file": str(one.place.file),
            "line": one.place.line,
            "advice": one.advice,
            "question": one.question_id,
        }
        for one in findings
    ]
    return json.dumps({"version": 1, "findings": told}, indent=2) + "\n"


def _sarif(findings: Sequence[LintFinding]) -> str:
    return sarif_text(lint_sarif(findings, Path.cwd()))
