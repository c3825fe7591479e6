"""Findings as text for people, JSON for programs, SARIF for pull requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from assay.reports.text import count
from assay.submissions.lint.rules import RULES
from assay.submissions.problems import Finding
from assay.visible import visible


def findings_text(findings: Sequence[Finding], name: str) -> str:
    """The findings in the format of that name."""
    return {"text": _plain, "json": _json, "sarif": _sarif}[name](findings)


def _plain(findings: Sequence[Finding]) -> str:
    lines = []
    for one in findings:
        level = "" if one.level == "error" else f"{one.level}: "
        lines.append(visible(f"{one.place}: {level}{one.code}: {one.message}"))
        if one.advice:
            lines.append(visible(f"    {one.advice}"))
    lines.append(count(len(findings), "finding") if findings else "nothing found")
    return "\n".join(lines) + "\n"


def _json(findings: Sequence[Finding]) -> str:
    told = [
        {
            "code": one.code,
            "level": one.level,
            "message": one.message,
            "file": str(one.place.file),
            "line": one.place.line,
            "advice": one.advice,
        }
        for one in findings
    ]
    return json.dumps({"version": 1, "findings": told}, indent=2) + "\n"


def _sarif(findings: Sequence[Finding]) -> str:
    from assay.reports.sarif import SarifFinding, SarifRule, sarif_text, to_sarif

    found = [
        SarifFinding(
            rule=one.code,
            level=one.level,
            message=f"{one.message}; {one.advice}" if one.advice else one.message,
            file=one.place.file,
            line=one.place.line,
            identity=one.message,
        )
        for one in findings
    ]
    rules = [SarifRule(one.code, one.level, one.title, one.help) for one in RULES.values()]
    return sarif_text(to_sarif(found, rules, root=Path.cwd()))
