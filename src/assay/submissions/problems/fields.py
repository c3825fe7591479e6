"""Validates a document of a problem as a model, with a finding for every mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from assay.documents import (
    MISSING_KEY,
    DocumentError,
    ListNode,
    MappingNode,
    Node,
    Place,
    find_places,
    find_repetitions,
    list_unknown_keys,
    read_document,
    read_model,
)
from assay.findings import UNREADABLE, Finding, Rule, Rules, Severity
from assay.submissions.misspelling import advise, near_miss

Model = TypeVar("Model", bound=BaseModel)
# What problems of the reference carry and nobody reads, here or there.
_OF_OTHERS = frozenset(
    {"design_doc", "inspiration", "loader", "setup_script", "spec_override", "teardown_script"}
)
# Keys without effect: `authors` for `author` deserves a warning, but does not prevent a run.
_DESCRIPTIVE = frozenset(
    {"author", "category", "description", "difficulty", "name", "state", "tags", "version"}
)


def read_file(file: Path, findings: list[Finding]) -> MappingNode | None:
    """Return the mapping in a file; None, and a finding, if it is not one."""
    node = read_mapping(file, findings)
    if node is not None:
        findings += find_repeated_keys(node, file, "error")
    return node


def read_mapping(file: Path, findings: list[Finding]) -> MappingNode | None:
    """Return the mapping in a file as written, including repeated keys."""
    try:
        node = read_document(file)
    except DocumentError as error:
        findings.append(Finding(UNREADABLE, error.what, Place(file, error.line), error.advice))
        return None
    if not isinstance(node, MappingNode):
        findings.append(Finding(UNREADABLE, "must be a mapping", Place(file, node.line)))
        return None
    return node


def find_repeated_keys(node: Node, file: Path, severity: Severity) -> Iterator[Finding]:
    """Yield a finding for every key that occurs more than once in its mapping."""
    advice = "only one of them would be read" if severity == "error" else "the last one is used"
    for one in find_repetitions(node):
        yield Finding(UNREADABLE, str(one), Place(file, one.line), advice, severity=severity)


def keep_last_keys(node: Node) -> Node:
    """Return the tree with the last value of every key, in the place of the first as in a dict."""
    if isinstance(node, ListNode):
        return replace(node, items=tuple(map(keep_last_keys, node.items)))
    if isinstance(node, MappingNode):
        pairs = {pair.key: replace(pair, value=keep_last_keys(pair.value)) for pair in node.pairs}
        return replace(node, pairs=tuple(pairs.values()))
    return node


def to_model(
    model: type[Model], node: Node, file: Path, findings: list[Finding], *, is_strict: bool
) -> Model | None:
    """Return a node as a model, or None and findings. Unknown keys count if `is_strict`."""
    read, mistakes = read_model(model, node, find_places(node, file), allows_unknown=not is_strict)
    for one in mistakes:
        code = WRONG_VALUE if one.code == MISSING_KEY else one.code
        findings.append(Finding(code, one.message, one.place, one.advice))
    return read


def find_doubtful_keys(
    model: Any, node: Node, file: Path, is_read: Callable[[str], bool]
) -> Iterator[Finding]:
    """Yield a finding for every key that neither the model nor the problem's own code knows.

    It is an error if it resembles a key that changes how cases are run, else a warning: problems
    have their own keys, and keys of programs that Assay does not know.
    """
    for _, pair, fields in list_unknown_keys(model, node):
        if pair.key in _OF_OTHERS or is_read(pair.key):
            continue
        near = near_miss(pair.key, fields)
        severity: Severity = "error" if near and near not in _DESCRIPTIVE else "warning"
        what = f"there is no key `{pair.key}` here, and no code of the problem reads it"
        advice = advise(pair.key, near) if near else f"known: {', '.join(sorted(fields))}"
        yield Finding(UNKNOWN_KEY, what, Place(file, pair.line), advice, severity=severity)


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
        "It is not valid YAML or JSON, a key occurs twice, or two cases have one id. In the config "
        "of a problem with a loader the last of two keys is used, as in the reference.",
    ),
    Rule(
        UNKNOWN_KEY,
        "error",
        "A key that is not read",
        "It is misspelled, or is in the wrong place. In folders with a loader it is an error "
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
        "A name that does not exist",
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
        "Cases are in a file with the group's name, or in a folder with that name.",
    ),
    Rule(
        WRONG_CHECK,
        "error",
        "An expectation that can never be right",
        "The check or an option does not exist, or the check cannot compare with the value.",
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
        "Something that is not checked",
        "A case verifies nothing, or not the status code; or a loader or verifier is never called.",
    ),
)
