"""SARIF 2.1.0: findings as code hosts read them, to show each on its line of a pull request."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

from assay._version import __version__

Level: TypeAlias = Literal["error", "warning", "note", "none"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "SRCROOT"


@dataclass(frozen=True)
class SarifRule:
    """A kind of finding: its id, a title, and what to do about it."""

    id: str
    level: Level
    title: str
    help: str


@dataclass(frozen=True)
class SarifFinding:
    """One finding on a line of a file; `identity` tells it from others when lines move."""

    rule: str
    level: Level
    message: str
    file: Path
    line: int
    identity: str = ""


def to_sarif(
    findings: Iterable[SarifFinding],
    rules: Iterable[SarifRule],
    *,
    root: Path,
    tool: str = "assay",
) -> dict[str, Any]:
    """The document of one run; files are named relative to the root, as hosts need it.

    A path that is relative already is taken to be so to the root.
    """
    listed = {rule.id: rule for rule in rules}
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
    """The document as text."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: SarifRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.help},
        "help": {"text": rule.help},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(finding: SarifFinding, numbers: dict[str, int], root: Path) -> dict[str, Any]:
    location, uri = _location(finding, root)
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": finding.level,
        # Text from outside may hold what no UTF-8 file can.
        "message": {"text": finding.message.encode("utf-8", "backslashreplace").decode()},
        "locations": [location],
        "partialFingerprints": {"assay/v1": _fingerprint(finding, uri)},
    }
    if finding.rule in numbers:
        result["ruleIndex"] = numbers[finding.rule]
    return result


def _location(finding: SarifFinding, root: Path) -> tuple[dict[str, Any], str]:
    artifact = _artifact(finding.file, root)
    region = {"startLine": max(1, finding.line)}
    place = {"physicalLocation": {"artifactLocation": artifact, "region": region}}
    return place, artifact["uri"]


def _artifact(file: Path, root: Path) -> dict[str, str]:
    """Where a file is, from the root; only what is elsewhere is named in full."""
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


def _fingerprint(finding: SarifFinding, uri: str) -> str:
    """The same while the finding is, also when the line moves; a host then keeps its history."""
    identity = finding.identity or finding.message
    text = "\n".join([finding.rule, uri, identity])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
