"""Output formats for findings: text, JSON, SARIF and pull request annotations."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError, nearest
from assay.escaping import escape_hidden
from assay.findings.sarif import sarif_text, to_sarif

if TYPE_CHECKING:
    from assay.findings.finding import Finding, Findings

FORMATS = ("text", "json", "sarif", "github")


def format_findings(findings: Findings, name: str) -> str:
    """Return the findings in the format of that name."""
    formats = {"text": _text, "json": _json, "sarif": _sarif, "github": _github}
    if name not in formats:
        raise InputError(f"unknown format {name!r}", advice=nearest(name, formats))
    return formats[name](findings)


def _text(findings: Findings) -> str:
    lines = []
    for one in findings:
        severity = "" if one.severity == "error" else f"{one.severity}: "
        lines.append(escape_hidden(f"{one.place}: {severity}{one.code}: {one.message}"))
        if one.advice:
            lines.append(escape_hidden(f"    {one.advice}"))
    return "\n".join([*lines, _count(findings)]) + "\n"


def _count(findings: Findings) -> str:
    """Return the number of findings of each severity."""
    counts = [(name, sum(one.severity == name for one in findings)) for name in _SEVERITIES]
    parts = [f"{number} {name}{'s' if number > 1 else ''}" for name, number in counts if number]
    text = ", ".join(parts) if parts else "nothing found"
    return f"{text} ({findings.accepted} accepted by the baseline)" if findings.accepted else text


_SEVERITIES = ("error", "warning", "note")


def _json(findings: Findings) -> str:
    document = {
        "version": 2,
        "findings": [one.describe() for one in findings],
        "accepted": findings.accepted,
        "skipped": findings.skipped,
    }
    return json.dumps(document, indent=2) + "\n"


def _sarif(findings: Findings) -> str:
    return sarif_text(to_sarif(findings, findings.rules.values(), root=Path.cwd()))


def _github(findings: Findings) -> str:
    """Return workflow commands that GitHub shows on the lines of a pull request."""
    lines = [_annotation(one) for one in findings]
    return "\n".join([*lines, _count(findings)]) + "\n"


def _annotation(finding: Finding) -> str:
    command = "notice" if finding.severity == "note" else finding.severity
    properties = {
        "file": str(finding.place.file),
        "line": str(max(1, finding.place.line)),
        "title": finding.code,
    }
    shown = ",".join(f"{name}={_escape_property(text)}" for name, text in properties.items())
    message = f"{finding.message}\n{finding.advice}" if finding.advice else finding.message
    return f"::{command} {shown}::{_escape(message)}"


def _escape(text: str) -> str:
    # First what escapes everything else. Hidden characters have no place in a log.
    marked = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escape_hidden(marked)


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


def format_html(findings: Findings) -> str:
    """Return a table for notebooks."""
    head = "".join(f"<th>{name}</th>" for name in ("where", "severity", "code", "finding"))
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(escape_hidden(text))}</td>" for text in _cells(one))
        + "</tr>"
        for one in findings
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(finding: Finding) -> tuple[str, ...]:
    message = f"{finding.message} ({finding.advice})" if finding.advice else finding.message
    return str(finding.place), finding.severity, finding.code, message
