"""SARIF 2.1.0 output, which code hosts show on the lines of a pull request."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from assay._version import __version__

if TYPE_CHECKING:
    from assay.findings.finding import Finding, Rule

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"


def to_sarif(
    findings: Iterable[Finding],
    rules: Iterable[Rule[Any]],
    *,
    root: Path,
    tool: str = "assay",
) -> dict[str, Any]:
    """Return the document of one run; files are named relative to the root, as hosts need it.

    A path that is relative already is taken to be so to the root.
    """
    listed = {rule.code: rule for rule in rules}
    numbers = {name: number for number, name in enumerate(listed)}
    run = {
        "tool": {
            "driver": {
                "name": tool,
                "version": __version__,
                "rules": [_rule(rule) for rule in listed.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, numbers, root) for finding in findings],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_text(document: dict[str, Any]) -> str:
    """Return the document as text."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: Rule[Any]) -> dict[str, Any]:
    return {
        "id": rule.code,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.help},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Finding, numbers: dict[str, int], root: Path) -> dict[str, Any]:
    location, uri = _location(finding, root)
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": finding.severity,
        "message": {"text": _message(finding)},
        "locations": [location],
        "partialFingerprints": {"assay/v1": _digest(finding, uri)},
    }
    if finding.code in numbers:
        result["ruleIndex"] = numbers[finding.code]
    if finding.properties:
        result["properties"] = dict(finding.properties)
    return result


def _location(finding: Finding, root: Path) -> tuple[dict[str, Any], str]:
    artifact = _artifact(finding.place.file, root)
    region = {"startLine": max(1, finding.place.line)}
    place = {"physicalLocation": {"artifactLocation": artifact, "region": region}}
    return place, artifact["uri"]


def _artifact(file: Path, root: Path) -> dict[str, str]:
    """Return the path of a file relative to the root, absolute only if it is elsewhere."""
    name = PurePath(os.path.normpath(file))
    base = PurePath(os.path.normpath(root))
    if not name.is_absolute():
        return {"uri": _quote(name), "uriBaseId": _ROOT}
    if name.is_relative_to(base):
        return {"uri": _quote(name.relative_to(base)), "uriBaseId": _ROOT}
    return {"uri": f"file://{_quote(name)}"}


def _quote(name: PurePath) -> str:
    # A name of a file is bytes; it may have no UTF-8 form.
    return quote(name.as_posix().encode("utf-8", "surrogateescape"))


def fingerprint(finding: Finding, root: Path) -> str:
    """Return a digest that stays the same when the line of a finding moves."""
    return _digest(finding, _artifact(finding.place.file, root)["uri"])


def _digest(finding: Finding, uri: str) -> str:
    identity = finding.identity or f"{finding.case or ''}\n{finding.message}"
    text = "\n".join([finding.code, uri, identity])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _message(finding: Finding) -> str:
    text = f"{finding.message}; {finding.advice}" if finding.advice else finding.message
    # Text from outside may hold what no UTF-8 file can.
    return text.encode("utf-8", "backslashreplace").decode()
