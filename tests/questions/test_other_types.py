"""Repair questions: the verdict from what was found about files."""

from __future__ import annotations

import pytest

from assay.questions.fix_error import find_leak, judge_fix
from assay.questions.model import FixQuestion
from assay.questions.verdict.verdict import Verdict
from assay.sandbox import ProofOutcome, Status, TestOutcome

QUESTION = FixQuestion(
    id="one",
    name="one",
    description="The total is wrong.",
    test="",
    unfixed="def total(items):\n    return sum(items) + 1\n",
    fixed="def total(items):\n    return sum(items)\n",
    module="shop",
)


def outcome(status: Status, exception: str | None = None, message: str = "") -> ProofOutcome:
    failed = status is not Status.PASSED
    return ProofOutcome(
        (
            TestOutcome(
                "test_total",
                status,
                line=3 if status is Status.FAILED else None,
                exception=exception or ("AssertionError" if failed else None),
                message=message,
            ),
        )
    )


PASSED, FAILED = outcome(Status.PASSED), outcome(Status.FAILED, message="assert 4 == 3")


def test_a_sound_repair() -> None:
    assert judge_fix(QUESTION, PASSED, FAILED)[0] is Verdict.VALID


def test_what_passes_already_is_trivial() -> None:
    assert judge_fix(QUESTION, PASSED, PASSED)[0] is Verdict.TRIVIAL


def test_a_repair_that_does_not_pass_is_broken() -> None:
    verdict, reason = judge_fix(QUESTION, FAILED, FAILED)
    assert verdict is Verdict.BROKEN
    assert "assert 4 == 3" in reason


def test_a_broken_file_that_never_reaches_the_test_is_broken() -> None:
    unread = outcome(Status.ERROR, "SyntaxError", "invalid syntax")
    verdict, reason = judge_fix(QUESTION, PASSED, unread)
    assert verdict is Verdict.BROKEN
    assert "never reaches the test" in reason


@pytest.mark.parametrize(
    ("status", "exception", "message"),
    [
        (Status.TIMED_OUT, None, ""),
        (Status.SKIPPED, None, ""),
        (Status.FAILED, "ModuleNotFoundError", "No module named 'numpy'"),
        (Status.FAILED, "OSError", "disk full"),
    ],
)
def test_trouble_of_the_machine_is_nobodys_defect(
    status: Status, exception: str | None, message: str
) -> None:
    trouble = outcome(status, exception, message)
    assert judge_fix(QUESTION, trouble, FAILED, ("shop",))[0] is Verdict.UNPROVEN
    assert judge_fix(QUESTION, PASSED, trouble, ("shop",))[0] is Verdict.UNPROVEN


@pytest.mark.parametrize(
    ("description", "leaked"),
    [
        ("Replace the line by `return  sum(items)` please.", True),
        ("The total is one too large.", False),
        ("return something else", False),
    ],
)
def test_a_repair_that_is_given_away_is_leaked(description: str, leaked: bool) -> None:
    told = FixQuestion(**{**QUESTION.__dict__, "description": description})
    assert bool(find_leak(told)) is leaked
    assert judge_fix(told, PASSED, FAILED)[0] is (Verdict.LEAKED if leaked else Verdict.VALID)


def test_a_repair_in_a_comment_is_leaked_and_imports_tell_nothing() -> None:
    told = FixQuestion(
        **{
            **QUESTION.__dict__,
            "unfixed": "def total(items):\n    # return math.fsum(items)\n    return 0\n",
            "fixed": "import math_of_our_own\ndef total(items):\n    return math.fsum(items)\n",
        }
    )
    assert find_leak(told) == ["    return math.fsum(items)"]
