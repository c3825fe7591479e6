"""From what is expected of a case to comparisons: named checks, or what suits a bare value.

The defaults: structure and numbers are compared as JSON (a float may differ by its rounding), text
without white space at the ends of lines, files by what their names say they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.checks import ABSENT, run_check
from assay.checks.paths import path_text
from assay.errors import InputError, nearest
from assay.results import CaseResult, VerificationResult
from assay.submissions.canonical.formats import Expected
from assay.submissions.canonical.targets import Target, UnreadableError, parse_target
from assay.submissions.file_formats import FileType, parsed, signature, written

_STRUCTURAL = frozenset({"json", "schema"})
_TEXTUAL = frozenset({"exact", "flexible", "regex", "keywords", "not_keywords"})
_ROUNDING = 1e-9
_PLAIN_TYPES = (FileType.TEXT, FileType.BINARY, FileType.JSON)


@dataclass(frozen=True)
class Comparison:
    """One check of one place in a result."""

    key: str
    """Its name in the report."""
    target: Target
    check: str
    value: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    manner: str = ""
    """How a bare value is compared, in words."""
    path: str = ""
    """Where it is written, for findings."""

    def validate(self) -> None:
        """InputError if it can never be right: an unknown check, option, pattern, weight."""
        run_check(self.check, ABSENT, self.value, weight=self.weight, **self.options)

    def result(self, actual: CaseResult) -> VerificationResult:
        """What the check says of an actual result."""
        try:
            found = self.target.of(actual, is_structure=self.check in _STRUCTURAL)
        except UnreadableError as error:
            return VerificationResult(diff=str(error), is_correct=False, weight=self.weight)
        if self.value == [None] and found in ("", b""):
            found = None
        if self.check in _TEXTUAL and isinstance(found, bytes):
            found = _decoded(found)
        result = run_check(self.check, found, self.value, weight=self.weight, **self.options)
        return result.model_copy(update={"diff": self._told(result)}) if self.manner else result

    def _told(self, result: VerificationResult) -> Any:
        """The diff with how it was compared, where nobody wrote that down."""
        if result.is_correct:
            return f"equal, compared {self.manner}"
        if isinstance(result.diff, str):
            return f"{result.diff}\n(compared {self.manner})"
        return {"compared": self.manner, "differences": result.diff}


def _decoded(content: bytes) -> str | bytes:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def comparisons(expected: Expected) -> list[Comparison]:
    """Everything an expectation looks at, in the order of a result; InputError if it is wrong."""
    made: dict[str, Comparison] = {}
    for key, target, value, path in _wanted(expected):
        specs = value if path.startswith("checks.") and isinstance(value, list) else [value]
        for number, spec in enumerate(specs):
            place = f"{path}.{number}" if spec is not value else path
            one = _comparison(_unique(key, made), target, spec, place)
            made[one.key] = one
    for key, weight in expected.weights.items():
        if key not in made:
            raise _MisplacedError(
                f"there is nothing called `{key}` to give a weight",
                f"weights.{key}",
                nearest(key, made),
            )
        made[key] = _weighted(made[key], weight)
    return list(made.values())


class _MisplacedError(InputError):
    """An error that knows at which key of the expectation it is."""

    def __init__(self, what: str, path: str, advice: str | None = None) -> None:
        super().__init__(what, advice=advice)
        self.path = path


def error_path(error: InputError) -> str:
    """The key of the expectation an error is about; empty if nobody knows."""
    return error.path if isinstance(error, _MisplacedError) else ""


def _wanted(expected: Expected) -> Iterator[tuple[str, Target, Any, str]]:
    given = expected.model_fields_set
    for root in ("status_code", "output", "stderr", "timed_out"):
        if root in given:
            yield root, Target(root), getattr(expected, root), root
    for name, value in expected.headers.items():
        key = path_text(("headers", name))
        yield key, Target("headers", (name,)), value, f"headers.{name}"
    for name, value in expected.files.items():
        yield f"files-{name}", Target("files", (name,)), value, f"files.{name}"
    for text, value in expected.checks.items():
        try:
            target = parse_target(text)
        except InputError as error:
            raise _MisplacedError(error.what, f"checks.{text}", error.advice) from None
        yield text, target, value, f"checks.{text}"


def _unique(key: str, known: Mapping[str, Any]) -> str:
    number, unique = 2, key
    while unique in known:
        unique, number = f"{key} ({number})", number + 1
    return unique


def _weighted(comparison: Comparison, weight: float) -> Comparison:
    fields = {**comparison.__dict__, "weight": weight}
    return Comparison(**fields)


def _comparison(key: str, target: Target, value: Any, path: str) -> Comparison:
    if not (isinstance(value, dict) and "check" in value):
        check, wanted, options, manner = _default(target, value)
        return Comparison(key, target, check, wanted, options, 1.0, manner, path)
    rest = {name: item for name, item in value.items() if name not in ("check", "value", "weight")}
    if "value" not in value:
        raise _MisplacedError(
            f"the check `{value['check']}` has no `value` to compare with",
            path,
            "write {check: …, value: …}; an expected object with a key `check` goes into `value`",
        )
    check, wanted = str(value["check"]), value["value"]
    if check == "json" and not isinstance(wanted, str):
        wanted = _as_stored(target, wanted)
    return Comparison(key, target, check, wanted, rest, value.get("weight", 1.0), "", path)


def _default(target: Target, value: Any) -> tuple[str, Any, dict[str, Any], str]:
    """The check that suits a bare value."""
    if value is None:
        return "value", [None], {}, "with nothing"
    if target.root in ("status_code", "timed_out"):
        return "value", value, {}, "by value"
    if isinstance(value, str):
        options = {"whitespace": "lines", "ignore_case": False}
        return "flexible", value, options, "as text, without white space at the ends of lines"
    stored = _as_stored(target, value)
    if _has_float(stored):
        return "json", stored, {"relative": _ROUNDING}, "as JSON, floats but for rounding (1e-9)"
    return "json", stored, {}, "as JSON"


def _as_stored(target: Target, value: Any) -> Any:
    """Structure as it would be read from the file: a table has texts where it was given numbers."""
    if target.file is None or len(target.steps) != 1:
        return value
    kind, _ = signature(Path(target.file))
    if kind in _PLAIN_TYPES:
        return value
    return parsed(written(value, kind), kind)


def _has_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_float, value.values()))
    if isinstance(value, list):
        return any(map(_has_float, value))
    return isinstance(value, float)
