"""What is written under `expected`, place by place, read before any answer is known.

Which texts are checks, options and weights is settled by the file alone. What an answer had is
filled in afterwards, as a value or a part of one, and never read as anything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.checks import format_path
from assay.errors import InputError, nearest
from assay.submissions.assets import replace_assets
from assay.submissions.declarative.formats import Expected
from assay.submissions.declarative.saving import (
    as_text,
    clash,
    fill,
    fill_text,
    is_mark,
    saved_names,
)
from assay.submissions.declarative.targets import Target, parse_target
from assay.submissions.leftovers import shortest

_OWN_KEYS = ("check", "value", "weight")
_PATTERNS = frozenset({"regex", "file_pattern"})


@dataclass(frozen=True)
class Wanted:
    """One place of a result, and the check or the bare value that is written for it."""

    key: str
    """Its name in the report."""
    target: Target
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
    """An error that knows at which key of the expectation it is."""

    def __init__(self, what: str, path: str, advice: str | None = None) -> None:
        super().__init__(what, advice=advice)
        self.path = path


def error_path(error: InputError) -> str:
    """The key of the expectation an error is about; empty if nobody knows."""
    return error.path if isinstance(error, MisplacedError) else ""


def read_wanted(expected: Expected) -> list[Wanted]:
    """Everything an expectation looks at, in the order of a result; InputError if it is wrong."""
    made: dict[str, Wanted] = {}
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


def _places(expected: Expected) -> Iterator[tuple[str, Target, Any, str]]:
    given = expected.model_fields_set
    for root in ("status_code", "output", "stderr", "timed_out"):
        if root in given:
            yield root, Target(root), getattr(expected, root), root
    for name, value in expected.headers.items():
        key = format_path(("headers", name))
        yield key, Target("headers", (name,)), value, f"headers.{name}"
    for name, value in expected.files.items():
        yield f"files-{name}", Target("files", (shortest(name),)), value, f"files.{name}"
    for text, value in expected.checks.items():
        try:
            target = parse_target(text)
        except InputError as error:
            raise MisplacedError(error.what, f"checks.{text}", error.advice) from None
        yield text, target, value, f"checks.{text}"


def _unique(key: str, known: Mapping[str, Any]) -> str:
    number, unique = 2, key
    while unique in known:
        unique, number = f"{key} ({number})", number + 1
    return unique


def _read(key: str, target: Target, value: Any, path: str) -> Wanted:
    if not (isinstance(value, dict) and "check" in value):
        return Wanted(key, target, value, path=path)
    if "value" not in value:
        raise MisplacedError(
            f"the check `{value['check']}` has no `value` to compare with",
            path,
            "write {check: …, value: …}; an expected object with a key `check` goes into `value`",
        )
    options = {name: item for name, item in value.items() if name not in _OWN_KEYS}
    _refuse_chosen(value, path)
    check, weight = str(value["check"]), value.get("weight", 1.0)
    return Wanted(key, target, value["value"], check, options, weight, path)


def _refuse_chosen(spec: Mapping[str, Any], path: str) -> None:
    """Refuse saved values where they would decide what is compared, and not with what."""
    for name, item in spec.items():
        if name != "value" and any(saved_names([name, item])):
            what = f"`{name}` would come from the answer that it is to judge"
            raise MisplacedError(what, path, "a saved value may stand in `value`")
    check, value = spec["check"], spec["value"]
    if check == "schema" and not _has_only_constants(value):
        what = "the schema would come from the answer that it is to judge"
        raise MisplacedError(what, path, "a saved value may stand under `const`, or in `enum`")
    is_text = isinstance(value, str) and not is_mark(value)
    if check == "json" and is_text and any(saved_names(value)):
        what = "a saved value in the midst of JSON text could change what the rest of it says"
        raise MisplacedError(what, path, "write the value as structure, not as text")


def _has_only_constants(schema: Any) -> bool:
    """Whether saved values of a schema are only ever compared with, whatever they are."""
    if isinstance(schema, Mapping):
        return all(
            not any(saved_names(key))
            and (key == "const" or _is_enumeration(key, item) or _has_only_constants(item))
            for key, item in schema.items()
        )
    if isinstance(schema, list):
        return all(map(_has_only_constants, schema))
    return not any(saved_names(schema))


def _is_enumeration(key: str, item: Any) -> bool:
    return key == "enum" and isinstance(item, list)


def placed(one: Wanted, assets: Mapping[str, str]) -> Wanted:
    """The same with the paths of static assets in its value and its place."""
    paths = {name: re.escape(path) for name, path in assets.items()}
    return replace(
        one,
        target=replace(one.target, steps=replace_assets(one.target.steps, assets)),
        value=replace_assets(one.value, paths if one.check in _PATTERNS else assets),
    )


def filled(one: Wanted, saved: Mapping[str, Any]) -> Wanted:
    """The same with saved values in its value and its place."""
    if not any(saved_names([one.value, *one.target.steps])):
        return one
    steps = tuple(
        fill_text(step, saved) if isinstance(step, str) else step for step in one.target.steps
    )
    return replace(
        one,
        target=replace(one.target, steps=steps),
        value=_filled_value(one, saved),
        is_filled=True,
        is_answer=is_mark(one.value),
        impossible=clash(one.value, saved),
    )


def _filled_value(one: Wanted, saved: Mapping[str, Any]) -> Any:
    if one.check in _PATTERNS and isinstance(one.value, str):
        return fill_text(one.value, saved, lambda value: re.escape(as_text(value)))
    return fill(one.value, saved)
