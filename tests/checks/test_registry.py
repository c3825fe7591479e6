"""The registry: finding checks, their options, weights, and what holds for all of them."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any, cast

import pytest

import assay.checks
from assay.checks import (
    ABSENT,
    check,
    check_names,
    check_options,
    get_check,
    preview,
    run_check,
)
from assay.checks.registry import passed
from assay.errors import InputError, Unverifiable
from assay.model import VerificationResult

# For every check: something expected, a value that passes, one that fails, one of a wrong type.
EXAMPLES: dict[str, tuple[Any, Any, Any, Any]] = {
    "exact": ("a", "a", "A", 1),
    "file_content": ("a\n", b"a\n", "b\n", {"a": 1}),
    "file_exists": (True, "", ABSENT, ABSENT),
    "file_hash": (
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "",
        "x",
        "not empty",
    ),
    "file_pattern": ("b+", "abbc", "ac", b"\xff"),
    "flexible": ("a", " A ", "b", ["a"]),
    "greater": (1, 2, 1, "2"),
    "json": ({"a": 1}, '{"a": 1.0}', {"a": 2}, "not JSON"),
    "keywords": ("b", "abc", "ac", 5),
    "less": (1, 0.5, 1, None),
    "not_greater": (1, 1, 2, "1"),
    "not_keywords": ("b", "ac", "abc", 5),
    "not_less": (1, 1, 0, []),
    "not_value": (1, 2, 1.0, 1),
    "number": (1, 1.0, 2, "1"),
    "regex": ("a+", "aa", "aab", 11),
    "schema": ({"type": "object"}, {}, [], "text"),
    "value": (1, 1, 2, "1"),
}


def test_every_check_has_an_example() -> None:
    assert sorted(EXAMPLES) == check_names()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_each_check_passes_fails_and_says_why(name: str) -> None:
    expected, right, wrong, odd = EXAMPLES[name]
    results = [run_check(name, actual, expected) for actual in (right, wrong, odd)]
    assert [result.is_correct for result in results] == [True, False, False]
    assert all(result.diff for result in results)
    assert all(result.weight == 1.0 for result in results)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_what_is_absent_fails_each_check(name: str) -> None:
    result = run_check(name, ABSENT, EXAMPLES[name][0])
    assert (result.is_correct, result.diff) == (False, "absent")


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_unknown_option_is_named_with_the_check(name: str) -> None:
    expected, right, *_ = EXAMPLES[name]
    with pytest.raises(InputError, match=f"check '{name}' has no option 'colour'"):
        run_check(name, right, expected, colour="red")


@pytest.mark.parametrize(
    ("name", "option"),
    [(name, option) for name in sorted(EXAMPLES) for option in check_options(name)],
)
def test_an_option_of_a_wrong_type_is_the_users_error(name: str, option: str) -> None:
    expected = EXAMPLES[name][0]
    for actual in (ABSENT, EXAMPLES[name][1]):
        with pytest.raises(InputError, match=f"check '{name}': option '{option}'"):
            run_check(name, actual, expected, **cast(dict[str, Any], {option: object()}))


def test_an_unknown_check_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'keywords'"):
        get_check("keyword")
    with pytest.raises(InputError, match="no check 'keyword'"):
        run_check("keyword", 1, 1)
    with pytest.raises(InputError, match="no check"):
        check_options("")


def test_an_unknown_option_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'ignore_case'"):
        run_check("regex", "a", "a", ignorecase=True)
    with pytest.raises(InputError, match="there are none"):
        run_check("exact", "a", "a", case=True)


def test_the_weight_is_applied_to_every_kind_of_result() -> None:
    assert run_check("exact", "a", "a", weight=2).weight == 2.0
    assert run_check("exact", "a", "b", weight=0.25).weight == 0.25
    assert run_check("exact", ABSENT, "b", weight=3).weight == 3.0


@pytest.mark.parametrize(
    "weight", [0, -1, float("inf"), float("nan"), 10**5000, True, "1", None], ids=preview
)
def test_a_weight_must_be_finite_and_above_zero(weight: Any) -> None:
    with pytest.raises(InputError, match="weight"):
        run_check("exact", "a", "a", weight=weight)


@pytest.mark.usefixtures("own_checks")
def test_a_check_that_cannot_decide_gives_no_judgement() -> None:
    @check("undecided")
    def undecided(actual: Any, expected: Any) -> VerificationResult:
        raise Unverifiable("no judge is configured", advice="set one")

    result = run_check("undecided", 1, 1, weight=2)
    assert result.is_correct is None
    assert "no judge is configured" in result.diff
    assert result.weight == 2.0


@pytest.mark.usefixtures("own_checks")
def test_a_check_of_ones_own() -> None:
    @check("even")
    def even(actual: Any, expected: Any, *, strictly: bool = False) -> VerificationResult:
        return passed(f"{actual} {strictly}")

    assert get_check("even") is even
    assert check_options("even") == ("strictly",)
    assert "even" in check_names()
    assert run_check("even", 2, None, strictly=True).diff == "2 True"
    with pytest.raises(InputError, match="already"):
        check("even")(even)


@pytest.mark.usefixtures("own_checks")
def test_a_result_that_is_shared_keeps_its_weight() -> None:
    shared = passed()
    check("shared")(lambda actual, expected: shared)
    assert [run_check("shared", 1, 1, weight=weight).weight for weight in (2, 3)] == [2.0, 3.0]
    assert shared.weight == 1.0


@pytest.mark.usefixtures("own_checks")
def test_a_check_that_returns_something_else_is_named() -> None:
    check("wrong")(cast(Any, lambda actual, expected: True))
    with pytest.raises(InputError, match="check 'wrong' returned bool"):
        run_check("wrong", 1, 1)


@pytest.mark.usefixtures("own_checks")
def test_an_option_needs_a_default_and_a_name_of_its_own() -> None:
    def demanding(actual: Any, expected: Any, *, needed: int) -> VerificationResult:
        return passed()

    def heavy(actual: Any, expected: Any, *, weight: float = 1.0) -> VerificationResult:
        return passed()

    for function in (demanding, heavy):
        with pytest.raises(TypeError):
            check("refused")(function)
    assert "refused" not in check_names()


def test_absent_keeps_its_identity_when_copied_or_sent() -> None:
    assert copy.deepcopy(ABSENT) is ABSENT
    assert pickle.loads(pickle.dumps(ABSENT)) is ABSENT
    assert repr(ABSENT) == "ABSENT"


def test_the_public_names_are_sorted_and_there() -> None:
    assert assay.checks.__all__ == sorted(assay.checks.__all__)
    assert all(hasattr(assay.checks, name) for name in assay.checks.__all__)


def test_importing_the_checks_loads_nothing_heavy() -> None:
    program = (
        "import sys, assay.model; before = set(sys.modules); import assay.checks;"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before};"
        "print(*sorted(new - set(sys.stdlib_module_names)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == ["assay"]
