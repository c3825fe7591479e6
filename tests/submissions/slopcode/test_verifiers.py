"""The comparisons and formats, as existing verifiers call them."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy
import pytest
from pydantic import ValidationError

from assay import model
from assay.submissions.slopcode.models import VerificationResult, VerifierError
from assay.submissions.slopcode.verifiers import (
    DEFAULT_DEEPDIFF_KWARGS,
    deepdiff_verify,
    jsonschema_verify,
    matches_regex,
    matches_status_code,
    validate_format,
)


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ({"a": [1, 2.0]}, {"a": [1.0, 2]}),
        (1.0000001, 1),
        (float("nan"), float("nan")),
        ({"a": b"x"}, {"a": "x"}),
    ],
)
def test_deepdiff_is_lenient_by_default(actual: Any, expected: Any) -> None:
    assert deepdiff_verify(actual, expected) == VerificationResult(diff={}, is_correct=True)


def test_deepdiff_compares_expected_with_actual_and_takes_options() -> None:
    wrong = deepdiff_verify({"a": 2}, {"a": 1}, weight=0.5)
    assert wrong.diff == {"values_changed": {"root['a']": {"new_value": 2, "old_value": 1}}}
    assert (wrong.is_correct, wrong.weight) == (False, 0.5)
    assert not deepdiff_verify([1, 2], [2, 1]).is_correct
    assert deepdiff_verify([1, 2], [2, 1], ignore_order=True).is_correct
    assert not deepdiff_verify(1.0000001, 1, math_epsilon=1e-9).is_correct
    assert DEFAULT_DEEPDIFF_KWARGS["math_epsilon"] == 1e-6


def test_what_deepdiff_cannot_write_is_described() -> None:
    found = deepdiff_verify({"a": object()}, {"a": 1})
    assert found.is_correct is False
    assert found.diff


def test_schemas_are_draft_7_and_nothing_is_fetched() -> None:
    schema = {"properties": {"a": {"type": "integer"}}, "required": ["b"]}
    assert jsonschema_verify({"a": 1, "b": 2}, schema).is_correct
    wrong = jsonschema_verify({"a": "x"}, schema, weight=2)
    assert set(wrong.diff) == {"$", "$.a"}
    assert (wrong.is_correct, wrong.weight) == (False, 2.0)
    tuples = {"items": [{"type": "integer"}], "additionalItems": False}
    assert jsonschema_verify([1], tuples).is_correct
    assert not jsonschema_verify([1, 2], tuples).is_correct
    with pytest.raises(Exception, match="nresolvable"):
        jsonschema_verify(1, {"$ref": "http://127.0.0.1:9/never.json"})


def test_status_codes() -> None:
    assert matches_status_code(0, 0, weight=0.1) == VerificationResult(
        diff="equal", is_correct=True, weight=0.1
    )
    assert matches_status_code(1, 0).diff == "expected 0, got 1"


@pytest.mark.parametrize(
    ("actual", "pattern", "more", "matches"),
    [
        ("Error: gone", "error", {}, True),
        ("an Error", "error", {}, False),
        ("\n  error", "error", {}, True),
        ("\n  error", "error", {"lstrip": False}, False),
        ("Error", "error", {"flags": 0}, False),
        ("a\nb", "a.b", {"flags": re.DOTALL}, True),
        ("Error", "error", {"flags": [re.IGNORECASE]}, True),
        ("A\nb", "a.b", {"flags": [re.IGNORECASE, re.DOTALL]}, True),
        ("Error", "error", {"flags": [re.DOTALL]}, False),
        ("Error", "error", {"flags": []}, True),
        (None, ".*", {}, True),
        (b"error", "error", {}, True),
        (None, "x", {}, False),
    ],
)
def test_patterns_are_anchored_at_the_start_only(
    actual: Any, pattern: str, more: dict[str, Any], matches: bool
) -> None:
    assert matches_regex(actual, pattern, **more).is_correct is matches


@pytest.mark.parametrize("nothing", [None, "", "  ", b"", "\n"])
def test_an_expectation_that_is_missing_is_no_pass(nothing: Any) -> None:
    with pytest.raises(VerifierError, match="gives no pattern"):
        matches_regex("whatever a program printed", nothing)
    with pytest.raises(VerifierError, match="gives no JSON Schema"):
        jsonschema_verify({"a": 1}, nothing)


def test_a_pattern_that_is_none_is_told() -> None:
    with pytest.raises(VerifierError, match="not a regular expression"):
        matches_regex("a", "(")


def test_results_can_be_changed_and_take_plain_forms() -> None:
    found = VerificationResult.create((1, numpy.float64(2)), bool(numpy.bool_(True)), 1)
    assert isinstance(found, model.VerificationResult)
    assert found.diff == [1, 2.0]
    found.weight = 0.5
    assert found.weight == 0.5
    with pytest.raises(ValidationError):
        found.weight = -1


@pytest.mark.parametrize(
    ("fmt", "valid", "malformed"),
    [
        ("timestamp", "2024-02-29T12:00:00Z", "2024-02-30T12:00:00Z"),
        ("timestamp", "1709208000.5", "yesterday"),
        ("date", "2024-02-29", "2023-02-29"),
        ("date", "29 Feb 2024", "29 Frb 2024"),
        ("date", "31.12.2024", "31.13.2024"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
        ("ip", "::1", "1.2.3"),
        ("ipv4", "10.0.0.1", "::1"),
        ("ipv6", "fe80::1", "10.0.0.1"),
        ("email", "a.b-c@example.org", "a@b"),
        ("url", "https://example.org/x?y=1", "mailto://example.org"),
        ("phone", "+49 (30) 123-456", "1"),
        ("hex", "#DEADbe", "0xDEAD"),
        ("base64", "aGk=", "aGk"),
        ("json", '{"a": 1}', "{a: 1}"),
        ("credit_card", "4111 1111 1111 1111", "4111 1111 1111 1112"),
        ("us_zip", "12345-6789", "1234"),
    ],
)
def test_formats(fmt: str, valid: str, malformed: str) -> None:
    assert validate_format(valid, fmt) == f"VALID_{fmt.upper()}"
    assert validate_format(malformed, fmt) == "MALFORMED"
    assert validate_format("", fmt) == validate_format(None, fmt) == "MALFORMED"


@pytest.mark.parametrize(
    ("fmt", "valid", "name"),
    [
        ("iso8601", "2024-02-29T12:00:00+01:00", "TIMESTAMP"),
        ("unix", "1709208000", "TIMESTAMP"),
        ("calendar_date", "2024/02/29", "DATE"),
        ("guid", "123e4567-e89b-12d3-a456-426614174000", "UUID"),
        ("ip_address", "::1", "IP"),
        ("e-mail", "a@example.org", "EMAIL"),
        ("uri", "ftp://example.org/x", "URL"),
        ("link", "http://example.org", "URL"),
        ("telephone", "555-1234", "PHONE"),
        ("hex_color", "#fff", "HEX"),
        ("cc", "4111-1111-1111-1111", "CREDIT_CARD"),
        (" ZIP ", "12345", "US_ZIP"),
    ],
)
def test_other_names_of_formats_answer_with_the_first(fmt: str, valid: str, name: str) -> None:
    assert validate_format(valid, fmt) == f"VALID_{name}"


def test_an_unknown_format_is_told() -> None:
    with pytest.raises(VerifierError, match="did you mean 'email'"):
        validate_format("a@b.de", "emial")


def test_the_names_need_none_of_the_large_libraries() -> None:
    """A verifier that does not use them is not made to wait for them."""
    program = (
        "import sys; from assay.submissions import slopcode; slopcode.install();"
        "import slop_code.evaluation.verifiers.verifiers, slop_code.logging;"
        "print(*{'pandas', 'numpy', 'deepdiff', 'structlog', 'jsonschema'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")
