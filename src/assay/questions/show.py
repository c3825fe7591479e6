"""One question as text for a terminal: the verdict first, then each option once with its proofs.

Everything from the suite is made visible first. Records of earlier versions are shown too.
"""

from __future__ import annotations

import ast
import os
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from assay.escaping import escape_hidden
from assay.model import CaseRecord
from assay.questions.authorship import Source
from assay.questions.proofs.claims import Relation
from assay.reports import Paint, count
from assay.runs import Run

_WIDTH = 96
_STATES = {"HOLDS": "passed", "FAILS": "failed", "CONTRADICTED": "error", "UNPROVEN": "unverified"}
_TRUTHS = {"true": "passed", "false": "failed"}
_WHOLE = {
    Relation.PREMISE: "takes for granted",
    Relation.TWIN: "the same thing",
    Relation.IMPLIED: "one implies the other",
}
# A constant of so many lines is shown once.
_LONG = 3


def show_question(run: Run, record: CaseRecord, paint: Paint) -> Iterator[str]:
    """Yield the lines of a question of any run."""
    return question_lines(record, paint)


def question_lines(
    record: CaseRecord, paint: Paint, *, proofs: bool = True, folder: Path | None = None
) -> Iterator[str]:
    """Yield the lines of a question; `folder` is where its proofs are stored, if that is known."""
    detail: Any = record.detail
    yield paint(escape_hidden(record.id), "bold")
    yield paint(escape_hidden(detail["place"]), "dim")
    yield ""
    first, *more = [*_wrap(record.reason)] or [""]
    yield paint(first, record.outcome.value)
    yield from more
    if advice := detail.get("advice"):
        # Not wrapped: it holds a command.
        yield f"to settle it: {escape_hidden(advice)}"
    yield ""
    yield from _wrap(detail["question"])
    if detail.get("snippet"):
        yield ""
        yield from _indent(detail["snippet"], "    │ ")
    yield ""
    shown = _Proofs(paint, folder, with_code=proofs)
    for letter, option in detail.get("options", {}).items():
        yield from _option_lines(letter, option, letter == detail["key"], paint)
        source = Source.of_values(option)
        for proof in option["proofs"]:
            yield from shown.lines(proof, "claim", source)
        yield ""
    for proof in detail.get("whole", ()):
        yield from shown.lines(proof, _WHOLE[Relation(proof["relation"])], Source())
        yield ""
    for name, found in detail.get("names", {}).items():
        yield f"{escape_hidden(name)}: {found['truth']}"
        for proof in found["proofs"]:
            yield from shown.lines(proof, "claim", Source())
    for side in ("fixed", "unfixed"):
        for test in detail.get(side, ()):
            yield from _test_lines(test, paint, f"{side}: ")
    yield from _note_lines(detail, paint)


def _note_lines(detail: dict[str, Any], paint: Paint) -> Iterator[str]:
    """Yield the notes and the corrections."""
    for note in detail.get("notes", ()):
        yield paint(f"note: {escape_hidden(note)}", "dim")
    if fix := detail.get("fix"):
        kept = f" ({fix['kept']})" if fix.get("kept") else ""
        yield escape_hidden(f"correction: {fix['status']}{kept}")
        for number, one in enumerate(fix["tries"], 1):
            yield escape_hidden(f"  try {number}: {one['reason'] or one['verdict']}")
        for note in fix["notes"]:
            yield paint(f"  note: {escape_hidden(note)}", "dim")


def _option_lines(letter: str, option: dict[str, Any], is_key: bool, paint: Paint) -> Iterator[str]:
    key = paint("  ← the key", "bold") if is_key else ""
    lines = [*_wrap(option["text"], _WIDTH - 6)] or [""]
    yield f"{paint(escape_hidden(letter), 'bold')}  {lines[0]}{key}"
    yield from (f"   {line}" for line in lines[1:])
    state, reason = option["state"], _own_reason(option)
    told = f"{state}{Source.of_values(option).in_brackets}{f': {reason}' if reason else ''}"
    first, *more = [*_wrap(told, _WIDTH - 6)]
    yield f"   {paint(state, _STATES[state])}{first.removeprefix(state)}"
    yield from (f"   {line}" for line in more)
    for note in option["notes"]:
        yield paint(f"   note: {escape_hidden(note)}", "dim")


def _own_reason(option: dict[str, Any]) -> str:
    """Return the reason, unless it only repeats a claim that is shown below."""
    reason = str(option["reason"])
    statements = [proof["statement"] for proof in option["proofs"]]
    told = [*statements, *(f"it is not true that {one}" for one in statements)]
    return "" if reason in told else reason


class _Proofs:
    """Shows proofs one after the other; a long constant that was shown is not shown again."""

    def __init__(self, paint: Paint, folder: Path | None, *, with_code: bool) -> None:
        self._paint = paint
        self._folder = folder
        self._with_code = with_code
        self._seen: set[str] = set()

    def lines(self, proof: dict[str, Any], label: str, source: Source) -> Iterator[str]:
        """Yield a claim and its truth, and with code also the proof and its tests.

        The source of the claim is named where it is not the given one of its option.
        """
        paint, truth = self._paint, str(proof["truth"])
        own = Source.of_values(proof)
        by = "" if own == source else f"; {own}" if any(own) else ""
        statement = f"{label}: {proof['statement']} ({proof['kind']}, {proof['relation']}{by}): "
        *before, last = _wrap(f"{statement}{truth}", _WIDTH - 6)
        yield from (f"   {line}" for line in before)
        painted = paint(truth, _TRUTHS.get(truth, "unverified"))
        yield f"   {last.removesuffix(truth)}{painted}"
        if truth == "open" and proof["reason"]:
            yield from (f"   {line}" for line in _wrap(proof["reason"], _WIDTH - 6))
        if self._with_code:
            yield from self._code_lines(proof)

    def _code_lines(self, proof: dict[str, Any]) -> Iterator[str]:
        file = self._find_file(proof["file"])
        code, helpers = select_code(proof["source"], self._seen)
        yield self._paint(f"   {file}", "dim")
        yield from _indent(code, "   │ ")
        if helpers:
            yield self._paint(f"   helpers: {count(helpers, 'line')}, in {file}", "dim")
        for test in proof["tests"]:
            yield from _test_lines(test, self._paint, "   ")

    def _find_file(self, name: str) -> str:
        if self._folder is None:
            return escape_hidden(name)
        path = self._folder / name
        is_there = path.is_file()
        return escape_hidden(os.path.relpath(path) if is_there else f"{name} (not stored yet)")


def _test_lines(test: dict[str, Any], paint: Paint, mark: str) -> Iterator[str]:
    status = paint(test["status"], _style(test["status"]))
    yield f"{mark}{escape_hidden(test['name'])} {status}"
    if test["message"]:
        yield from _indent(test["message"], "     ")
    if test["output"]:
        yield from _indent(test["output"], "     > ")
    if test["objection"]:
        yield f"     not evidence: {escape_hidden(test['objection'])}"


def select_code(source: str, seen: set[str]) -> tuple[str, int]:
    """Return the constants and tests of a proof as code, and how many lines of helpers it has.

    Left out are its docstring, which is the claim, and imports that only helpers use. Long
    constants that are in `seen` are abbreviated; those of this proof are added to it.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source, 0
    # The lines as Python counts them.
    lines = re.split(r"\r\n|\r|\n", source)
    constants, tests, helpers = _sort_statements(tree)
    names = {
        node.id
        for one in (*constants, *tests)
        for node in ast.walk(one)
        if isinstance(node, ast.Name)
    }
    imports = [
        _text(node, lines)
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        and names & {(one.asname or one.name).partition(".")[0] for one in node.names}
    ]
    shown = [_abbreviate(node, _text(node, lines), seen) for node in constants]
    blocks = ["\n".join(imports), "\n".join(shown), *(_text(node, lines) for node in tests)]
    hidden = sum(_text(node, lines).count("\n") + 1 for node in helpers)
    return "\n\n".join(filter(None, blocks)), hidden


def _sort_statements(
    tree: ast.Module,
) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]]:
    """Return the constants, the tests and the helpers; what follows a helper is no constant."""
    constants: list[ast.stmt] = []
    tests: list[ast.stmt] = []
    helpers: list[ast.stmt] = []
    is_head = True
    for number, node in enumerate(tree.body):
        is_docstring = number == 0 and ast.get_docstring(tree) is not None
        if is_docstring or isinstance(node, ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign):
            is_constant = (is_head and not _is_empty(node.value)) or _assigns_disputed(node)
            (constants if is_constant else helpers).append(node)
            continue
        is_head = False
        is_test = getattr(node, "name", "").startswith("test")
        (tests if is_test else helpers).append(node)
    return constants, tests, helpers


def _is_empty(value: ast.expr | None) -> bool:
    """Tell whether a value is a container that helpers fill."""
    return (isinstance(value, ast.List) and not value.elts) or (
        isinstance(value, ast.Dict) and not value.keys
    )


def _assigns_disputed(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(one, ast.Name) and one.id in ("DISPUTED", "INSTEAD") for one in targets)


def _abbreviate(node: ast.stmt, text: str, seen: set[str]) -> str:
    if text.count("\n") + 1 < _LONG:
        return text
    if text in seen:
        return f"{text.partition('=')[0].rstrip()} = …  # as above"
    seen.add(text)
    return text


def _text(node: ast.stmt, lines: list[str]) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(one.lineno for one in decorators)])
    return "\n".join(lines[first - 1 : node.end_lineno])


def _style(status: str) -> str:
    return {"passed": "passed", "failed": "failed"}.get(status, "unverified")


def _wrap(text: str, width: int = _WIDTH) -> Iterator[str]:
    for line in escape_hidden(text).splitlines():
        yield from textwrap.wrap(line, width, break_long_words=False, break_on_hyphens=False) or [
            ""
        ]


def _indent(text: str, mark: str) -> Iterator[str]:
    for line in escape_hidden(text).rstrip().splitlines():
        yield f"{mark}{line}".rstrip()
