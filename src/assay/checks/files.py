"""Checks on the content of a file: text, bytes, a JSON value, or absent."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from assay.checks.diffs import binary_diff, preview, text_diff
from assay.checks.json_diff import JsonComparison
from assay.checks.json_paths import NotJsonError, read_expected, read_json
from assay.checks.registry import ABSENT, Traits, Uncollected, check, failed, mismatch, passed
from assay.checks.text import compile_pattern
from assay.errors import InputError, Unverifiable, nearest
from assay.model import VerificationResult

# A fixed list, so that a test means the same on every machine; broken algorithms are not on it.
HASH_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128, "blake2b": 128}


@check("file_exists", Traits(takes_uncollected=True))
def file_exists(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the file is there, or is not, as expected."""
    if not isinstance(expected, bool):
        raise InputError(f"the expectation must be true or false, not {preview(expected)}")
    if isinstance(actual, Uncollected):
        return _exists_elsewhere(actual, expected)
    if expected:
        return failed("absent") if actual is ABSENT else passed("exists")
    return passed("absent, as expected") if actual is ABSENT else failed("exists, unexpectedly")


def _exists_elsewhere(actual: Uncollected, expected: bool) -> VerificationResult:
    if not actual.is_certain:
        return failed(f"it is unknown whether it exists: {actual.reason}")
    what = f"could not be brought back: {actual.reason}"
    return passed(f"exists, but {what}") if expected else failed(f"exists, unexpectedly; {what}")


@check("file_content")
def file_content(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the file has the expected content."""
    if expected is None:
        raise InputError(
            "there is no content to compare with",
            advice='for a file that holds null, write "null"; for any content, use file_exists',
        )
    if not isinstance(expected, str | bytes):
        read_expected(expected)
    if actual is ABSENT:
        return mismatch(actual, "a file")
    if not isinstance(actual, str | bytes) or not isinstance(expected, str | bytes):
        return _compare_json(actual, expected)
    if _bytes(actual) == _bytes(expected):
        return passed()
    texts = _text(actual), _text(expected)
    if texts[0] is None or texts[1] is None:
        return failed(binary_diff(_bytes(actual), _bytes(expected)))
    return failed(text_diff(texts[0], texts[1]))


def _compare_json(actual: Any, expected: Any) -> VerificationResult:
    """Compare as JSON: one side is a JSON value, so how the other was written does not count."""
    try:
        found = read_json(actual)
    except NotJsonError as error:
        return failed(f"expected a JSON value, but the file is not JSON: {error}")
    try:
        wanted = read_json(expected)
    except NotJsonError:
        return failed(
            f"expected the text {preview(expected)}, got the JSON value {preview(actual)}"
        )
    problems = JsonComparison().find_problems(found, wanted)
    return failed(problems) if problems else passed()


@check("file_pattern", Traits(takes_pattern=True, may_be_slow=True))
def file_pattern(
    actual: Any,
    expected: Any,
    *,
    ignore_case: bool = False,
    multiline: bool = False,
    dotall: bool = False,
) -> VerificationResult:
    """Pass if the pattern matches somewhere in the file."""
    if not isinstance(expected, str | bytes):
        raise InputError(f"the pattern must be text or bytes, not {type(expected).__name__}")
    pattern: re.Pattern[Any] = compile_pattern(
        expected, ignore_case=ignore_case, multiline=multiline, dotall=dotall
    )
    if actual is ABSENT:
        return mismatch(actual, "a file")
    raw = _raw(actual)
    content = raw if isinstance(expected, bytes) else _text(actual)
    if content is None:
        return failed("the file is not UTF-8 text; a pattern for it must be bytes")
    found = pattern.search(content)
    if found is None:
        return failed(f"{preview(expected)} matches nowhere in {preview(actual)}")
    return passed(f"{preview(expected)} matches at offset {found.start():,}: {preview(found[0])}")


@check("file_hash")
def file_hash(actual: Any, expected: Any) -> VerificationResult:
    """Pass if the file has the expected hash."""
    algorithm, digest = _hash_parts(expected)
    if actual is ABSENT:
        return mismatch(actual, "a file")
    found = hashlib.new(algorithm, _raw(actual)).hexdigest()
    if found == digest:
        return passed(f"{algorithm} is equal")
    return failed(f"expected {algorithm}:{digest}\ngot      {algorithm}:{found}")


def _hash_parts(expected: Any) -> tuple[str, str]:
    """Return the algorithm and the digest of "digest" or "algorithm:digest"."""
    if not isinstance(expected, str):
        raise InputError(f"the hash must be text, not {type(expected).__name__}")
    before, colon, after = expected.strip().lower().partition(":")
    algorithm, digest = (before, after) if colon else ("sha256", before)
    if algorithm not in HASH_LENGTHS:
        raise InputError(f"there is no hash {algorithm!r}", advice=nearest(algorithm, HASH_LENGTHS))
    length = HASH_LENGTHS[algorithm]
    if not re.fullmatch(f"[0-9a-f]{{{length}}}", digest):
        raise InputError(f"a {algorithm} hash has {length} hexadecimal digits, not {digest!r}")
    return algorithm, digest


def _raw(actual: Any) -> bytes:
    """Return the bytes of the file; a value parsed from it no longer tells what they were."""
    if isinstance(actual, str | bytes):
        return _bytes(actual)
    raise Unverifiable(
        f"the file was read as a JSON value ({type(actual).__name__}), its bytes are not known",
        advice="use file_content or json, or read the file as text",
    )


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content


def _text(content: str | bytes) -> str | None:
    if isinstance(content, str):
        return content
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
