"""The codes of findings: what each means and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from assay.submissions.problems import findings
from assay.submissions.problems.findings import Level


@dataclass(frozen=True)
class Rule:
    """A code, how grave it is at worst, what it means and what to do about it."""

    code: str
    level: Level
    title: str
    help: str


_ALL = (
    Rule(
        findings.UNREADABLE,
        "error",
        "A file cannot be read",
        "It is not valid YAML or JSON, a key stands twice, or two cases have one id. In the config "
        "of a problem with a loader the last of two keys is used, as in the reference.",
    ),
    Rule(
        findings.UNKNOWN_KEY,
        "error",
        "A key that nobody reads",
        "It is misspelled, or stands in the wrong place. In folders with a loader it is an error "
        "if it is almost a known key, else a warning, and neither if the problem's code reads it.",
    ),
    Rule(
        findings.WRONG_VALUE,
        "error",
        "A value that cannot be right",
        "It is missing, of the wrong type, or contradicts another one.",
    ),
    Rule(
        findings.UNKNOWN_NAME,
        "error",
        "A name that leads nowhere",
        "A checkpoint, a group, a case or a saved value is named that does not exist; or a file "
        "of cases belongs to no group, so that its cases are never run.",
    ),
    Rule(
        findings.MISSING_FILE,
        "error",
        "A file or folder that does not exist",
        "It is named in the config or in a case. Paths are relative to what names them.",
    ),
    Rule(
        findings.NO_CASES,
        "error",
        "A group or checkpoint without cases",
        "Cases stand in a file of the group's name, or in a folder of that name.",
    ),
    Rule(
        findings.WRONG_CHECK,
        "error",
        "An expectation that can never be right",
        "The check or an option does not exist, or the value is none the check can compare with.",
    ),
    Rule(
        findings.WRONG_SIGNATURE,
        "error",
        "A loader or verifier that cannot be called",
        "The class is missing, or a method does not take what it will be given.",
    ),
    Rule(
        findings.UNVERIFIED,
        "error",
        "Something that nobody looks at",
        "A case verifies nothing, or not the status code; or a loader or verifier is never called.",
    ),
)
RULES: dict[str, Rule] = {rule.code: rule for rule in _ALL}
