"""Parses `expected`, place by place, before any answer is known.

Only the file decides which texts are checks, options and weights. Values from answers are inserted
later, in place of `{{saved:name}}`, and never interpreted. A place is a path into a result, such as
`output.items[0].id` or `files["out.csv"][0].price`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.checks import (
    ABSENT,
    NotJsonError,
    Uncollected,
    Wildcard,
    check_traits,
    format_path,
    parse_patterns,
    read_json,
)
from assay.errors import InputError, nearest
from assay.model import CaseResult
from assay.submissions.assets import replace_assets
from assay.submissions.file_formats import FileType, decompress, parse_content, signature
from assay.submissions.result_files import find_left, shortest

if TYPE_CHECKING:
    from assay.submissions.declarative.case_files import Expected


_OWN_KEYS = ("check", "value", "weight")


@dataclass(frozen=True)
class Expectation:
    """One place of a result, and the check or plain value expected there."""

    key: str
    """Its name in the report."""
    target: ResultPath
    value: Any
    check: str | None = None
    """None for a bare value, which is compared as suits it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    path: str = ""
    """Where it is written, for findings."""
    is_filled: bool = False
    """Whether something of it comes from an earlier answer."""
    is_answer: bool = False
    """Whether its whole value does."""
    impossible: str = ""
    """Why nothing can be equal to it, if an earlier answer made it so."""

    @property
    def is_attribute(self) -> bool:
        """Whether it is about a whole attribute, header or file, not a place under `checks`."""
        return not self.path.startswith("checks.")


class MisplacedError(InputError):
    """An error with the key of the expectation it concerns."""

    def __init__(self, what: str, path: str, advice: str | None = None) -> None:
        super().__init__(what, advice=advice)
        self.path = path


def error_path(error: InputError) -> str:
    """Return the expectation key of an error; empty if unknown."""
    return error.path if isinstance(error, MisplacedError) else ""


def read_expectations(expected: Expected) -> list[Expectation]:
    """Everything an expectation looks at, in the order of a result; InputError if it is wrong."""
    made: dict[str, Expectation] = {}
    for key, target, value, path in _places(expected):
        is_several = path.startswith("checks.") and isinstance(value, list)
        if is_several and not value:
            raise MisplacedError(
                "there is no check in this list",
                path,
                "to compare with an empty list, write {check: json, value: []}",
            )
        for number, spec in enumerate(value if is_several else [value]):
            place = f"{path}.{number}" if is_several else path
            one = _read(_unique(key, made), target, spec, place)
            made[one.key] = one
    for key, weight in expected.weights.items():
        if key not in made:
            what = f"there is nothing called `{key}` to give a weight"
            raise MisplacedError(what, f"weights.{key}", nearest(key, made))
        made[key] = replace(made[key], weight=weight)
    return list(made.values())


def _places(expected: Expected) -> Iterator[tuple[str, ResultPath, Any, str]]:
    given = expected.model_fields_set
    for root in ("status_code", "output", "stderr", "timed_out"):
        if root in given:
            yield root, ResultPath(root), getattr(expected, root), root
    for name, value in expected.headers.items():
        key = format_path(("headers", name))
        yield key, ResultPath("headers", (name,)), value, f"headers.{name}"
    for name, value in expected.files.items():
        yield f"files-{name}", ResultPath("files", (shortest(name),)), value, f"files.{name}"
    for text, value in expected.checks.items():
        try:
            target = parse_result_path(text)
        except InputError as error:
            raise MisplacedError(error.what, f"checks.{text}", error.advice) from None
        yield text, target, value, f"checks.{text}"


def _unique(key: str, known: Mapping[str, Any]) -> str:
    number, unique = 2, key
    while unique in known:
        unique, number = f"{key} ({number})", number + 1
    return unique


def _read(key: str, target: ResultPath, value: Any, path: str) -> Expectation:
    if not (isinstance(value, dict) and "check" in value):
        return Expectation(key, target, value, path=path)
    if "value" not in value:
        raise MisplacedError(
            f"the check `{value['check']}` has no `value` to compare with",
            path,
            "write {check: …, value: …}; an expected object with a key `check` goes into `value`",
        )
    options = {name: item for name, item in value.items() if name not in _OWN_KEYS}
    _refuse_chosen(value, path)
    check, weight = str(value["check"]), value.get("weight", 1.0)
    return Expectation(key, target, value["value"], check, options, weight, path)


def _refuse_chosen(spec: Mapping[str, Any], path: str) -> None:
    """Refuse saved values that would decide how something is compared, not with what."""
    for name, item in spec.items():
        if name != "value" and any(find_saved_names([name, item])):
            what = f"`{name}` would come from the answer that it is to judge"
            raise MisplacedError(what, path, "a saved value may be in `value`")
    check, value = spec["check"], spec["value"]
    if check == "schema" and not _has_only_constants(value):
        what = "the schema would come from the answer that it is to judge"
        raise MisplacedError(what, path, "a saved value may be under `const` or in `enum`")
    is_text = isinstance(value, str) and not is_mark(value)
    if check == "json" and is_text and any(find_saved_names(value)):
        what = "a saved value inside of JSON text could change the rest of it"
        raise MisplacedError(what, path, "write the value as structure, not as text")


def _has_only_constants(schema: Any) -> bool:
    """Return whether saved values in a schema are only used as constants to compare with."""
    if isinstance(schema, Mapping):
        return all(
            not any(find_saved_names(key))
            and (key == "const" or _is_enumeration(key, item) or _has_only_constants(item))
            for key, item in schema.items()
        )
    if isinstance(schema, list):
        return all(map(_has_only_constants, schema))
    return not any(find_saved_names(schema))


def _is_enumeration(key: str, item: Any) -> bool:
    return key == "enum" and isinstance(item, list)


def place_assets(one: Expectation, assets: Mapping[str, str]) -> Expectation:
    """Return the expectation with the paths of static assets in its value and its place."""
    paths = {name: re.escape(path) for name, path in assets.items()}
    return replace(
        one,
        target=replace(one.target, steps=replace_assets(one.target.steps, assets)),
        value=replace_assets(one.value, paths if _takes_pattern(one) else assets),
    )


def fill_expectation(one: Expectation, saved: Mapping[str, Any]) -> Expectation:
    """Return the expectation with saved values in its value and its place."""
    if not any(find_saved_names([one.value, *one.target.steps])):
        return one
    steps = tuple(
        fill_text(step, saved) if isinstance(step, str) else step for step in one.target.steps
    )
    return replace(
        one,
        target=replace(one.target, steps=steps),
        value=_fill_value(one, saved),
        is_filled=True,
        is_answer=is_mark(one.value),
        impossible=clash(one.value, saved),
    )


def _fill_value(one: Expectation, saved: Mapping[str, Any]) -> Any:
    if _takes_pattern(one) and isinstance(one.value, str):
        return fill_text(one.value, saved, lambda value: re.escape(as_text(value)))
    return fill(one.value, saved)


def _takes_pattern(one: Expectation) -> bool:
    return one.check is not None and check_traits(one.check).takes_pattern


_MARK = re.compile(r"\{\{saved:([^{}]+)\}\}")


def find_saved_names(value: Any) -> Iterator[str]:
    """Yield the names of saved values that a text or structure uses, including in keys."""
    if isinstance(value, str):
        yield from (found.strip() for found in _MARK.findall(value))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from find_saved_names(key)
            yield from find_saved_names(item)
    elif isinstance(value, list):
        for item in value:
            yield from find_saved_names(item)


def is_mark(value: Any) -> bool:
    """Return whether it is a single placeholder for a saved value."""
    return isinstance(value, str) and _MARK.fullmatch(value) is not None


def as_text(value: Any) -> str:
    """Return a saved value as text for a path, an argument or a header."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def fill(value: Any, saved: Mapping[str, Any]) -> Any:
    """Return the structure with placeholders replaced by saved values.

    A string that is a single placeholder becomes the value itself (a number, for example); within a
    longer string the value is formatted. Unsaved names are left as they are.
    """
    if isinstance(value, str):
        whole = _MARK.fullmatch(value)
        if whole and whole[1].strip() in saved:
            return saved[whole[1].strip()]
        return fill_text(value, saved)
    if isinstance(value, Mapping):
        return {fill_text(key, saved): fill(item, saved) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, saved) for item in value]
    return value


def fill_text(text: str, saved: Mapping[str, Any], write: Callable[[Any], str] = as_text) -> str:
    """Return the text with saved values inserted."""

    def write_value(found: re.Match[str]) -> str:
        name = found[1].strip()
        return write(saved[name]) if name in saved else found[0]

    return _MARK.sub(write_value, text)


def clash(value: Any, saved: Mapping[str, Any]) -> str:
    """Return an error if different keys become equal when filled; empty if none do."""
    if isinstance(value, Mapping):
        keys = Counter(fill_text(key, saved) for key in value)
        twice = [key for key, number in keys.items() if number > 1]
        if twice:
            return f"earlier answers make two expected keys the same, {twice[0]!r}"
        value = list(value.values())
    inner = value if isinstance(value, list) else []
    return next((found for one in inner if (found := clash(one, saved))), "")


Steps: TypeAlias = tuple[str | int, ...]

ROOTS = ("status_code", "output", "stderr", "timed_out", "headers", "files", "elapsed")


class UnreadableError(Exception):
    """A file is not in the format that its name implies."""


@dataclass(frozen=True)
class ResultPath:
    """A place in a result: an attribute, and a path inside it."""

    root: str
    steps: Steps = ()

    @property
    def file(self) -> str | None:
        """The file it is, or is in."""
        first = self.steps[0] if self.steps else None
        return shortest(first) if self.root == "files" and isinstance(first, str) else None

    def content(self, actual: CaseResult) -> Any:
        """Return the attribute or the file that the path leads into; ABSENT if there is none."""
        value: Any = getattr(actual, self.root, ABSENT)
        return value if self.file is None else _step(value, self.file)

    def find_in(self, actual: CaseResult) -> list[Any]:
        """Return the value as a list of one, empty if there is none or it cannot be read."""
        try:
            value = self.of(actual)
        except UnreadableError:
            return []
        return [] if value is ABSENT or isinstance(value, Uncollected) else [value]

    def of(self, actual: CaseResult, *, is_structure: bool = False) -> Any:
        """Return the value there, ABSENT, or Uncollected if it could not be collected.

        Files are parsed if a structure is needed.
        """
        value = self.content(actual)
        if self.file is not None and value is ABSENT:
            return find_left(actual, self.file)
        if self.root == "headers" and isinstance(value, dict):
            value = {str(name).lower(): text for name, text in value.items()}
        for place, step in enumerate(self.steps if self.file is None else self.steps[1:]):
            if place > 0 or self.root in ("output", "stderr", "files"):
                value = self._parse(value)
            is_header = self.root == "headers" and isinstance(step, str)
            value = _step(value, str(step).lower() if is_header else step)
        is_whole_file = self.file is not None and len(self.steps) == 1
        return self._parse(value) if is_structure and is_whole_file else value

    def _parse(self, value: Any) -> Any:
        """Text as the structure it holds."""
        if not isinstance(value, str | bytes):
            return value
        if self.file is not None:
            return read_structure(value, self.file)
        try:
            return read_json(value)
        except NotJsonError as error:
            raise UnreadableError(f"{self.root} is not JSON: {error}") from None


def _step(value: Any, step: str | int) -> Any:
    if isinstance(step, str) and isinstance(value, dict):
        return value.get(step, ABSENT)
    if isinstance(step, int) and isinstance(value, list) and step < len(value):
        return value[step]
    return ABSENT


def read_structure(content: str | bytes, name: str) -> Any:
    """Return the structure of a file, in the format its name implies; JSON by default."""
    kind, packing = signature(Path(name))
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    try:
        data = decompress(data, packing)
        if kind in (FileType.TEXT, FileType.BINARY, FileType.JSON):
            return read_json(data)
        return parse_content(data, kind)
    except (InputError, ValueError) as error:
        said = FileType.JSON if kind in (FileType.TEXT, FileType.BINARY) else kind
        raise UnreadableError(f"the file is not {said}: {error}") from None


def parse_result_path(text: str) -> ResultPath:
    """Parse a path into a result; raise InputError if it is invalid."""
    ((root, *steps),) = parse_patterns("path", text)
    if root not in ROOTS:
        raise InputError(f"a result has no `{root}`", advice=nearest(str(root), ROOTS))
    if any(isinstance(step, Wildcard) for step in steps):
        raise InputError(f"`{text}` must be one place, without *")
    if root == "files" and not steps:
        raise InputError("`files` alone is not a path", advice='write files["name"]')
    plain = tuple(step for step in steps if not isinstance(step, Wildcard))
    if root == "files" and isinstance(plain[0], str):
        plain = (shortest(plain[0]), *plain[1:])
    return ResultPath(root, plain)
