"""Files by existence, content, pattern and hash."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.checks import ABSENT, Uncollected, check_names, run_check
from assay.errors import InputError


@pytest.mark.parametrize(
    ("actual", "expected", "outcome", "diff"),
    [
        ("", True, True, "exists"),
        (None, True, True, "exists"),
        (ABSENT, True, False, "absent"),
        (ABSENT, False, True, "absent, as expected"),
        (b"x", False, False, "exists, unexpectedly"),
    ],
)
def test_existence(actual: Any, expected: bool, outcome: bool, diff: str) -> None:
    result = run_check("file_exists", actual, expected)
    assert (result.is_correct, result.diff) == (outcome, diff)


@pytest.mark.parametrize("expected", [None, 1, "yes"])
def test_existence_is_true_or_false(expected: Any) -> None:
    with pytest.raises(InputError, match="true or false"):
        run_check("file_exists", ABSENT, expected)


@given(st.text(st.characters(codec="utf-8")))
def test_text_and_its_bytes_are_the_same_content(text: str) -> None:
    data = text.encode()
    for actual in (text, data):
        for expected in (text, data):
            assert run_check("file_content", actual, expected).diff == "equal"


@given(st.binary(), st.binary())
def test_content_is_equality_of_bytes(actual: bytes, expected: bytes) -> None:
    assert run_check("file_content", actual, expected).is_correct is (actual == expected)


def test_different_text_is_shown_by_lines_and_different_bytes_by_offset() -> None:
    assert "-b\n+x" in run_check("file_content", b"a\nx\n", "a\nb\n").diff
    diff = run_check("file_content", b"\xff\x00\x02", b"\xff\x00\x01\x05").diff
    assert "expected 4 bytes, got 3; first difference at offset 2" in diff
    assert "02" in diff


@pytest.mark.parametrize(
    ("actual", "expected", "outcome"),
    [
        ('{"b": 2, "a": 1}', {"a": 1, "b": 2}, True),
        (b"[1, 2]\n", [1, 2], True),
        ({"a": 1}, '{"a": 1}', True),
        ({"a": 1}, {"a": 1.0}, True),
        ("42\n", 42, True),
        ({"a": 1}, {"a": 2}, False),
        ("[1", [1], False),
        ({"a": 1}, "plain text", False),
        (None, "null", True),
    ],
)
def test_json_content_is_compared_by_value(actual: Any, expected: Any, outcome: bool) -> None:
    result = run_check("file_content", actual, expected)
    assert result.is_correct is outcome
    assert result.diff


def test_no_content_to_compare_with_is_the_users_error() -> None:
    for actual in (ABSENT, "a"):
        with pytest.raises(InputError, match="no content"):
            run_check("file_content", actual, None)
        with pytest.raises(InputError, match="not JSON"):
            run_check("file_content", actual, {1, 2})


@pytest.mark.parametrize(
    ("actual", "pattern", "options", "outcome"),
    [
        ("one\ntwo\n", "w", {}, True),
        ("one\ntwo\n", "^two$", {}, False),
        ("one\ntwo\n", "^two$", {"multiline": True}, True),
        ("one\ntwo\n", "e.t", {"dotall": True}, True),
        ("one", "ONE", {"ignore_case": True}, True),
        ("größe".encode(), "ö.e", {}, True),
        (b"\xff\x00abc", "abc", {}, False),
        (b"\xff\x00abc", rb"\x00a", {}, True),
        ("größe", "ö".encode(), {}, True),
        ("\ud800x", "x", {}, True),
    ],
)
def test_patterns(actual: Any, pattern: Any, options: dict[str, bool], outcome: bool) -> None:
    assert run_check("file_pattern", actual, pattern, **options).is_correct is outcome


def test_a_pattern_says_where_it_matches() -> None:
    assert run_check("file_pattern", "abcd", "c.").diff == "'c.' matches at offset 2: 'cd'"
    assert "must be bytes" in run_check("file_pattern", b"\xff", "a").diff


@pytest.mark.parametrize("pattern", ["(", b"(", 1, None])
def test_what_is_no_pattern_is_the_users_error(pattern: Any) -> None:
    with pytest.raises(InputError, match="pattern"):
        run_check("file_pattern", ABSENT, pattern)


@pytest.mark.parametrize("algorithm", ["sha256", "sha384", "sha512", "blake2b"])
def test_hashes(algorithm: str) -> None:
    digest = hashlib.new(algorithm, "größe".encode()).hexdigest()
    for actual in ("größe", "größe".encode()):
        assert run_check("file_hash", actual, f"{algorithm}:{digest.upper()}").is_correct is True
    result = run_check("file_hash", "other", f"{algorithm}:{digest}")
    assert result.is_correct is False
    assert digest in result.diff


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ("abc", "64 hexadecimal digits"),
        ("g" * 64, "64 hexadecimal digits"),
        ("sha512:" + "0" * 64, "128 hexadecimal digits"),
        ("sha265:" + "0" * 64, "did you mean 'sha256'"),
        ("md5:" + "0" * 32, "there is no hash 'md5'"),
        (b"0" * 64, "must be text"),
        (None, "must be text"),
    ],
)
def test_what_is_no_hash_is_the_users_error(expected: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_check("file_hash", ABSENT, expected)


@pytest.mark.parametrize(("name", "expected"), [("file_hash", "0" * 64), ("file_pattern", "a")])
def test_the_bytes_of_a_parsed_file_are_not_known(name: str, expected: str) -> None:
    result = run_check(name, {"a": 1}, expected)
    assert result.is_correct is None
    assert "dict" in result.diff


def test_what_was_left_exists_and_has_no_content() -> None:
    left = Uncollected("a symbolic link")
    assert run_check("file_exists", left, True).is_correct is True
    assert run_check("file_exists", left, False).is_correct is False
    expectations = {"file_hash": "0" * 64, "schema": {}, "number": 1, "json": [1]}
    for name in check_names():
        if name == "file_exists":
            continue
        result = run_check(name, left, expectations.get(name, "x"), weight=2)
        assert (result.is_correct, result.weight) == (False, 2), name
        assert result.diff == "could not be brought back: a symbolic link", name
    with pytest.raises(InputError):
        run_check("regex", left, "(")


def test_what_may_be_there_or_not_fails_either_way() -> None:
    left = Uncollected("`out` is a symbolic link", is_certain=False)
    for expected in (True, False):
        result = run_check("file_exists", left, expected)
        assert result.is_correct is False
        assert "`out` is a symbolic link" in result.diff
