"""The codes of what can be wrong with a problem folder, each with its lint rule."""

from __future__ import annotations

from pathlib import Path

from assay.findings import UNREADABLE, Rule, Rules

UNKNOWN_KEY = "unknown-key"
WRONG_VALUE = "wrong-value"
UNKNOWN_NAME = "unknown-name"
MISSING_FILE = "missing-file"
NO_CASES = "no-cases"
WRONG_CHECK = "wrong-check"
WRONG_SIGNATURE = "wrong-signature"
UNVERIFIED = "unverified"

RULES: Rules[Path] = Rules(
    Rule(
        UNREADABLE,
        "error",
        "A file cannot be read",
        "It is not valid YAML or JSON, a key stands twice, or two cases have one id. In the config "
        "of a problem with a loader the last of two keys is used, as in the reference.",
    ),
    Rule(
        UNKNOWN_KEY,
        "error",
        "A key that nobody reads",
        "It is misspelled, or stands in the wrong place. In folders with a loader it is an error "
        "if it is almost a known key, else a warning, and neither if the problem's code reads it.",
    ),
    Rule(
        WRONG_VALUE,
        "error",
        "A value that cannot be right",
        "It is missing, of the wrong type, or contradicts another one.",
    ),
    Rule(
        UNKNOWN_NAME,
        "error",
        "A name that leads nowhere",
        "A checkpoint, a group, a case or a saved value is named that does not exist; or a file "
        "of cases belongs to no group, so that its cases are never run.",
    ),
    Rule(
        MISSING_FILE,
        "error",
        "A file or folder that does not exist",
        "It is named in the config or in a case. Paths are relative to what names them.",
    ),
    Rule(
        NO_CASES,
        "error",
        "A group or checkpoint without cases",
        "Cases stand in a file of the group's name, or in a folder of that name.",
    ),
    Rule(
        WRONG_CHECK,
        "error",
        "An expectation that can never be right",
        "The check or an option does not exist, or the value is none the check can compare with.",
    ),
    Rule(
        WRONG_SIGNATURE,
        "error",
        "A loader or verifier that cannot be called",
        "The class is missing, or a method does not take what it will be given.",
    ),
    Rule(
        UNVERIFIED,
        "error",
        "Something that nobody looks at",
        "A case verifies nothing, or not the status code; or a loader or verifier is never called.",
    ),
)
