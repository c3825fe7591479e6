"""`slop_code.evaluation.verifiers.verifiers`: the comparisons that most verifiers consist of."""

from __future__ import annotations

import functools
import json
import operator
import re
from collections.abc import Iterable
from typing import Any

from assay.checks import cut, preview
from assay.submissions.reference.evaluation.verifiers.errors import VerifierError
from assay.submissions.reference.evaluation.verifiers.models import VerificationResult
from assay.submissions.reference.evaluation.verifiers.parsers import ensure_non_null_string

DEFAULT_DEEPDIFF_KWARGS: dict[str, Any] = {
    "ignore_string_type_changes": True,
    "ignore_numeric_type_changes": True,
    "ignore_nan_inequality": True,
    "math_epsilon": 1e-6,
}
_MAX_DIFF = 20_000


def deepdiff_verify(
    actual: Any, expected: Any, weight: float = 1.0, **kwargs: Any
) -> VerificationResult:
    """Equal in structure; `kwargs` are options of DeepDiff and go before the defaults."""
    from deepdiff import DeepDiff

    diff = DeepDiff(expected, actual, **{**DEFAULT_DEEPDIFF_KWARGS, **kwargs})
    return VerificationResult(diff=_readable(diff), is_correct=not diff, weight=weight)


def _readable(diff: Any) -> Any:
    try:
        return json.loads(diff.to_json())
    except (TypeError, ValueError):
        # Some objects that DeepDiff can compare it cannot write.
        return cut(str(diff), _MAX_DIFF)


def jsonschema_verify(actual: Any, expected: Any, weight: float = 1.0) -> VerificationResult:
    """Valid under a JSON Schema, draft 7; the diff says where it is not, and why."""
    from jsonschema import Draft7Validator
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    if not isinstance(expected, dict | bool):
        raise VerifierError(f"the case gives no JSON Schema but {preview(expected)}")
    # A registry of its own, because the default one would fetch what a schema refers to.
    validator = Draft7Validator(expected, registry=REGISTRY)
    problems: dict[str, str] = {}
    for error in validator.iter_errors(actual):
        before = problems.get(error.json_path)
        problems[error.json_path] = f"{before}; {error.message}" if before else error.message
    return VerificationResult(diff=problems, is_correct=not problems, weight=weight)


def matches_status_code(actual: Any, expected: Any, weight: float = 1.0) -> VerificationResult:
    """The same exit status or HTTP status."""
    is_correct = bool(actual == expected)
    diff = "equal" if is_correct else f"expected {preview(expected)}, got {preview(actual)}"
    return VerificationResult(diff=diff, is_correct=is_correct, weight=weight)


def matches_regex(
    actual: Any,
    expected: Any,
    weight: float = 1.0,
    flags: int | re.RegexFlag | Iterable[int | re.RegexFlag] | None = None,
    *,
    lstrip: bool = True,
) -> VerificationResult:
    """The text begins with a match of the pattern; case does not matter by default.

    Raises VerifierError if there is no pattern: it would match whatever the program printed.
    """
    text = ensure_non_null_string(actual, allow_empty=True)
    try:
        pattern = ensure_non_null_string(expected)
    except VerifierError as error:
        raise VerifierError("the case gives no pattern to match with") from error
    try:
        compiled = re.compile(pattern, _combine(flags))
    except re.error as error:
        raise VerifierError(f"{pattern!r} is not a regular expression: {error}") from error
    is_correct = compiled.match(text.lstrip() if lstrip else text) is not None
    words = "begins with a match of" if is_correct else "does not begin with a match of"
    diff = f"{preview(text)} {words} {preview(pattern)}"
    return VerificationResult(diff=diff, is_correct=is_correct, weight=weight)


def _combine(flags: int | re.RegexFlag | Iterable[int | re.RegexFlag] | None) -> int:
    """Return one flag for a list of them, as the reference takes it; `[]` is the default too."""
    if isinstance(flags, int):
        return flags
    return functools.reduce(operator.or_, flags or (), 0) or re.IGNORECASE
