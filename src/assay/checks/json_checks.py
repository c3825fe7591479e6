"""Checks on structured values: JSON compared with a value or validated against a schema."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from assay.checks.diffs import cut
from assay.checks.json_diff import JsonComparison
from assay.checks.json_paths import NotJsonError, parse_patterns, read_expected, read_json
from assay.checks.registry import ABSENT, Traits, check, failed, flag, mismatch, passed, tolerance
from assay.errors import InputError, Unverifiable
from assay.model import VerificationResult, decode_value, encode_value

_MAX_PLACES = 50
_MAX_MESSAGE = 400


@check("json", Traits(reads="structure"))
def json_equal(
    actual: Any,
    expected: Any,
    *,
    absolute: float = 0.0,
    relative: float = 0.0,
    nan_equal: bool = False,
    ignore: str | list[str] | tuple[str, ...] = (),
    unordered: bool = False,
    parse: bool = True,
) -> VerificationResult:
    """Pass if the JSON values are equal, as far as the options ask."""
    comparison = JsonComparison(
        absolute=tolerance("absolute", absolute),
        relative=tolerance("relative", relative),
        nan_equal=flag("nan_equal", nan_equal),
        unordered=flag("unordered", unordered),
        ignored=parse_patterns("ignore", ignore),
    )
    if unordered and any(type(step) is int for path in comparison.ignored for step in path):
        raise InputError(
            "option 'ignore' names the position of an item, which means nothing with 'unordered'",
            advice="write [*] for every item",
        )
    wanted = read_expected(expected, parse=flag("parse", parse))
    if actual is ABSENT:
        return mismatch(actual, "JSON")
    try:
        found = read_json(actual, parse=parse)
    except NotJsonError as error:
        return failed(f"not JSON: {error}")
    problems = comparison.find_problems(found, wanted)
    return failed(problems) if problems else passed()


@check("schema", Traits(reads="structure", may_be_slow=True))
def schema(actual: Any, expected: Any, *, parse: bool = True) -> VerificationResult:
    """Pass if the JSON value is valid under the JSON Schema."""
    if not isinstance(expected, dict | bool):
        raise InputError(f"a JSON Schema is an object, not {type(expected).__name__}")
    validator = _validator(encode_value(read_expected(expected, parse=False)))
    flag("parse", parse)
    if actual is ABSENT:
        return mismatch(actual, "JSON")
    try:
        found = read_json(actual, parse=parse)
    except NotJsonError as error:
        return failed(f"not JSON: {error}")
    problems = _violations(validator, found)
    return failed(problems) if problems else passed("valid")


@lru_cache(maxsize=64)
def _validator(schema_text: str) -> Any:
    """Return the validator of a schema: the draft it names, and no way to fetch anything."""
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import Draft202012Validator, validator_for
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    schema = decode_value(schema_text)
    named = schema.get("$schema") if isinstance(schema, dict) else None
    unknown: Any = None
    draft = validator_for(schema, default=unknown) if named else Draft202012Validator
    if draft is None:
        raise InputError(
            f"the schema names an unknown draft, {named!r}",
            advice='write "$schema": "https://json-schema.org/draft/2020-12/schema"',
        )
    try:
        draft.check_schema(schema)
    except SchemaError as error:
        raise InputError(f"not a JSON Schema, at {error.json_path}: {error.message}") from None
    return draft(schema, registry=REGISTRY)


def _violations(validator: Any, found: Any) -> dict[str, str]:
    """Return where and how the value breaks the schema; beyond a limit only the count."""
    from referencing.exceptions import Unresolvable

    messages: dict[str, list[str]] = {}
    try:
        for error in validator.iter_errors(found):
            messages.setdefault(error.json_path, []).append(cut(error.message, _MAX_MESSAGE))
    except Unresolvable as error:
        raise InputError(
            f"the schema refers to {error.ref!r}, which is not in it",
            advice="put it under $defs; nothing is fetched from the network",
        ) from None
    except RecursionError:
        raise Unverifiable("the schema and the value are nested too deep to be checked") from None
    except (ArithmeticError, ValueError) as error:
        raise Unverifiable(f"the value cannot be checked: {error}") from None
    places = sorted(messages)
    problems = {place: "; ".join(messages[place][:_MAX_PLACES]) for place in places[:_MAX_PLACES]}
    if len(places) > _MAX_PLACES:
        problems["…"] = f"{len(places) - _MAX_PLACES:,} more places are not listed"
    return problems
