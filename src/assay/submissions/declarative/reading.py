"""Reads the cases of a group from one file per group or per case; mistakes have line numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.documents import (
    LARGEST_DOCUMENT,
    MappingNode,
    Node,
    Pair,
    Place,
    PlaceMap,
    find_places,
    is_nothing,
    read_text,
    to_node,
)
from assay.errors import InputError, nearest
from assay.findings import UNREADABLE, Finding, Severity
from assay.submissions.adapters import find_adapter
from assay.submissions.assets import asset_names
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.declarative.case_files import CaseFile, Expected, WrittenCase, list_own_files
from assay.submissions.declarative.comparisons import plan_check
from assay.submissions.declarative.expectations import (
    error_path,
    find_saved_names,
    parse_result_path,
    read_expectations,
)
from assay.submissions.problems.fields import (
    NO_CASES,
    UNKNOWN_NAME,
    UNVERIFIED,
    WRONG_CHECK,
    WRONG_VALUE,
    read_file,
    to_model,
)
from assay.submissions.result_files import is_within
from assay.tracebacks import describe

SUFFIXES = (".yaml", ".yml", ".json")
# What a case is given to a program by; which of them it may have depends on the adapter.
_OF_ADAPTERS = ("arguments", "stdin", "request")
_MERGED = ("expected", "request")


@dataclass(frozen=True)
class ReadCase:
    """A case as written, and its position."""

    id: str
    written: WrittenCase
    file: Path
    spots: PlaceMap

    def place(self, path: str = "") -> Place:
        return self.spots.nearest(path)


@dataclass
class ReadGroup:
    """The cases of a group in order, and their problems."""

    cases: list[ReadCase] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def report(
        self, code: str, what: str, place: Place, advice: str = "", severity: Severity = "error"
    ) -> None:
        self.findings.append(Finding(code, what, place, advice, severity=severity))


def read_group(
    problem: ProblemConfig, checkpoint: CheckpointConfig, group: GroupConfig
) -> ReadGroup:
    """Return the cases of a group; for a regression, from its original checkpoint."""
    source = problem.checkpoints.get(group.original_checkpoint or checkpoint.name, checkpoint)
    name = group.original_group or group.name
    read = ReadGroup()
    for identifier, node, file in _nodes(problem, source.path, name, read):
        whole = _with_defaults(node, group.case_defaults)
        written = to_model(CaseFile, whole, file, read.findings, is_strict=True)
        if written is not None:
            case = ReadCase(identifier, written, file, find_places(whole, file))
            read.cases.append(case)
    if not read.cases and not read.findings:
        place = Place(source.path / name, 1)
        read.report(NO_CASES, f"the group `{name}` has no cases", place, _shapes(name))
    read.cases = _order(read, group.case_order, problem.path / "config.yaml")
    for case in read.cases:
        _check(case, problem, read)
    _check_saved(read)
    return read


def _shapes(name: str) -> str:
    return f"write {name}.yaml with `cases:`, or a folder {name}/ with a file for every case"


def _nodes(
    problem: ProblemConfig, folder: Path, name: str, read: ReadGroup
) -> Iterator[tuple[str, Node, Path]]:
    files = [folder / f"{name}{suffix}" for suffix in SUFFIXES]
    found = [file for file in files if file.is_file()]
    within = folder / name
    if len(found) + within.is_dir() > 1:
        shapes = [file.name for file in found] + ([f"{name}/"] if within.is_dir() else [])
        what = f"the cases of `{name}` are in {' and in '.join(shapes)}"
        read.report(UNREADABLE, what, Place(folder, 1), "keep one of them")
    for file in found:
        if _is_inside(file, problem, read):
            yield from _of_group_file(file, read)
    for file in sorted(within.iterdir()) if within.is_dir() else []:
        if file.suffix in SUFFIXES and file.is_file() and _is_inside(file, problem, read):
            node = read_file(file, read.findings)
            if node is not None:
                yield file.stem, node, file


def _is_inside(file: Path, problem: ProblemConfig, read: ReadGroup) -> bool:
    """Return whether a file may be read, with a finding if not."""
    try:
        problem.check_inside(file)
    except InputError as error:
        read.report(UNREADABLE, error.what, Place(file, 1), error.advice or "")
        return False
    return True


def _of_group_file(file: Path, read: ReadGroup) -> Iterator[tuple[str, Node, Path]]:
    root = read_file(file, read.findings)
    if root is None:
        return
    cases = root.get("cases")
    for pair in root.pairs:
        if pair.key not in ("cases", "$schema"):
            what = f"there is no key `{pair.key}` here"
            advice = nearest(pair.key, ["cases"]) + "; cases are under `cases`"
            read.report(WRONG_VALUE, what, Place(file, pair.line), advice)
    if not isinstance(cases, MappingNode) or not cases.pairs:
        line = cases.line if cases is not None else root.line
        read.report(NO_CASES, "`cases` must be a mapping of ids to cases", Place(file, line))
        return
    for pair in cases.pairs:
        yield pair.key, pair.value, file


def _with_defaults(node: Node, defaults: dict[str, Any]) -> Node:
    """Return the case with defaults from its group."""
    if not isinstance(node, MappingNode):
        return node
    for key, value in defaults.items():
        own = node.get(key)
        if own is None or is_nothing(own):
            pair = Pair(key, node.line, to_node(value, node.line))
            kept = tuple(each for each in node.pairs if each.key != key)
            node = MappingNode(node.line, (*kept, pair))
        elif key in _MERGED and isinstance(own, MappingNode) and isinstance(value, dict):
            merged = _with_defaults(own, value)
            pairs = (
                Pair(each.key, each.line, merged) if each.key == key else each
                for each in node.pairs
            )
            node = MappingNode(node.line, tuple(pairs))
    return node


def _order(read: ReadGroup, order: list[str], config: Path) -> list[ReadCase]:
    """Return the cases, those of `case_order` first; report duplicate ids."""
    by_id: dict[str, ReadCase] = {}
    for case in read.cases:
        if case.id in by_id:
            what = f"there is a case `{case.id}` already, in {by_id[case.id].file.name}"
            read.report(UNREADABLE, what, case.place(), "give each its own id")
        by_id.setdefault(case.id, case)
    for name in order:
        if name not in by_id and by_id:
            what = f"`case_order` names a case `{name}` that is not there"
            read.report(UNKNOWN_NAME, what, Place(config, 1), nearest(name, by_id))
    first = [by_id[name] for name in dict.fromkeys(order) if name in by_id]
    return first + [case for name, case in by_id.items() if name not in order]


def _check(case: ReadCase, problem: ProblemConfig, read: ReadGroup) -> None:
    written, adapter = case.written, find_adapter(problem.adapter.type)
    for name in written.model_fields_set.intersection(_OF_ADAPTERS).difference(adapter.case_keys):
        what = f"a problem of type {adapter.name} has no `{name}`"
        advice = f"it has {' and '.join(f'`{key}`' for key in adapter.case_keys)}"
        read.report(WRONG_VALUE, what, case.place(name), advice)
    if "request" in adapter.case_keys and written.request is None:
        read.report(WRONG_VALUE, "`request` is missing", case.place())
    _check_files(case, problem, read)
    _check_assets(case, problem, read)
    for name, text in written.save.items():
        try:
            parse_result_path(text)
        except InputError as error:
            place = case.place(f"save.{name}")
            read.report(WRONG_VALUE, error.what, place, error.advice or "")
    _check_expected(case, written.expected, read)


def _check_files(case: ReadCase, problem: ProblemConfig, read: ReadGroup) -> None:
    files = case.written.input_files
    for number, file in enumerate(files if isinstance(files, list) else []):
        place = case.place(f"input_files.{number}.from")
        if (file.source is None) == ("content" not in file.model_fields_set):
            read.report(WRONG_VALUE, "an input file has either `content` or `from`", place)
            return
    try:
        for made in list_own_files(files, case.file.parent, problem):
            made.to_bytes()
    except (InputError, ValueError) as error:
        told = _as_input_error(error)
        name = f"{told.where}: " if told.where else ""
        what = f"an input file cannot be made: {name}{told.what}"
        read.report(WRONG_VALUE, what, case.place("input_files"), told.advice or "")


def _check_assets(case: ReadCase, problem: ProblemConfig, read: ReadGroup) -> None:
    written = case.written.model_dump(exclude={"description"})
    for name in sorted(set(asset_names(written)) - problem.static_assets.keys()):
        what = f"the problem has no static asset `{name}`"
        place = _mention(case, "static", name)
        read.report(UNKNOWN_NAME, what, place, nearest(name, problem.static_assets))


def _as_input_error(error: Exception) -> InputError:
    return error if isinstance(error, InputError) else InputError(describe(error))


def _check_expected(case: ReadCase, expected: Expected, read: ReadGroup) -> None:
    try:
        made = [plan_check(one) for one in read_expectations(expected)]
    except (InputError, ValueError) as error:
        told = _as_input_error(error)
        place = case.place(f"expected.{error_path(told)}".rstrip("."))
        read.report(WRONG_CHECK, told.what, place, told.advice or "")
        return
    for one in made:
        file = one.target.file
        if file is not None and not is_within(file):
            what, advice = f"`{file}` is not in the work folder", "a relative path, without `..`"
            read.report(WRONG_CHECK, what, case.place(f"expected.{one.path}"), advice)
        try:
            one.validate()
        except InputError as error:
            place = case.place(f"expected.{one.path}")
            read.report(WRONG_CHECK, error.what, place, error.advice or "")
    if not made:
        what, advice = "the case verifies nothing", "write what is expected, such as status_code"
        read.report(UNVERIFIED, what, case.place("expected"), advice)
    elif not any(one.target.root == "status_code" for one in made):
        what = "the status code is not checked, so a program that fails after its output passes"
        advice = "write status_code under `expected`, or once in the group's `case_defaults`"
        read.report(UNVERIFIED, what, case.place("expected"), advice, "warning")


def _check_saved(read: ReadGroup) -> None:
    """Report values that a case uses and no earlier case saves."""
    known: set[str] = set()
    for case in read.cases:
        used = set(find_saved_names(case.written.model_dump(exclude={"save", "description"})))
        for name in sorted(used - known):
            what = f"no earlier case of the group saves `{name}`"
            place = _mention(case, "saved", name)
            read.report(UNKNOWN_NAME, what, place, nearest(name, known))
        known |= set(case.written.save)


def _mention(case: ReadCase, kind: str, name: str) -> Place:
    """Return the line in which a case uses a saved value or a static asset."""
    mark = re.compile(r"\{\{\s*" + kind + r":\s*" + re.escape(name) + r"\s*\}\}")
    start = case.place().line
    lines = read_text(case.file, LARGEST_DOCUMENT).splitlines()
    for number, line in enumerate(lines[start - 1 :], start=start):
        if mark.search(line):
            return Place(case.file, number)
    return case.place()
