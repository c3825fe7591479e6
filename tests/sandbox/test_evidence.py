"""The judgement rests on events with the right token and on how the process ended, nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.sandbox.evidence import ProofEnding, ProofOutcome, Status, judge
from assay.sandbox.proof_lint import inspect_proof

SOURCE = "import thing\ndef test_x():\n    assert thing.f()\ndef test_y():\n    assert thing.g()\n"
TOKEN = "abc"


def phase(test: str, name: str, outcome: str = "passed", **fields: Any) -> dict[str, Any]:
    return {
        "event": "phase", "test": test, "phase": name, "outcome": outcome, "raised": outcome,
        "expected_failure": False, "error": None, "text": "", "output": "", "seconds": 0.1,
        "caught": [], **fields,
    }  # fmt: skip


def raised(kind: str = "builtins.AssertionError", **fields: Any) -> dict[str, Any]:
    name = kind.rpartition(".")[2]
    return {
        "type": kind, "bases": [name, "Exception", "BaseException", "object"], "message": "m",
        "line": 3, "raised_in": "/box/test_proof.py", "in_proof": True, "by_check": True, **fields,
    }  # fmt: skip


def whole(test: str, outcome: str = "passed", **fields: Any) -> list[dict[str, Any]]:
    return [
        {"event": "start", "test": test},
        phase(test, "setup"),
        phase(test, "call", outcome, **fields),
        phase(test, "teardown"),
    ]


COLLECTED = {"event": "collected", "tests": [["test_x", "test_x", 1], ["test_y", "test_y", 3]]}
END: dict[str, Any] = {"event": "end", "stopped": None, "plugins": [], "cpu": 0.5}
GOOD = [COLLECTED, *whole("test_x"), *whole("test_y"), END]


def report(events: list[dict[str, Any]], token: str = TOKEN) -> str:
    return "".join(f"{token} {json.dumps(event)}\n" for event in events)


def outcome_of(text: str, **facts: Any) -> ProofOutcome:
    fields: dict[str, Any] = {
        "exit": 0, "limit": None, "left_over": 0, "elapsed": 1.0,
        "output": "", "report": text, "token": TOKEN, **facts,
    }  # fmt: skip
    return judge(inspect_proof(SOURCE), ProofEnding(**fields))


def test_a_whole_report_is_evidence() -> None:
    outcome = outcome_of(report(GOOD))
    assert outcome.passed
    assert [test.name for test in outcome.tests] == ["test_x", "test_y"]
    assert outcome.tests[0].seconds == pytest.approx(0.3)


def test_a_report_without_its_token_is_nothing() -> None:
    outcome = outcome_of(report(GOOD, token="guess"))
    assert outcome.objection == "the report was tampered with"
    assert {test.status for test in outcome.tests} == {Status.ERROR}


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([*GOOD, END], "tampered"),
        ([*GOOD, *whole("test_x", "failed")], "tampered"),
        ([COLLECTED, *whole("test_z"), END], "tampered"),
        ([COLLECTED, {**whole("test_x")[1], "seconds": "long"}, END], "tampered"),
        (GOOD[:-1], "ended before its report"),
        ([], "ended before its report"),
        ([{**COLLECTED, "tests": []}, END], "no test was collected"),
        ([*GOOD[:-1], {**END, "plugins": ["mine"]}], "brought a plugin"),
        ([*GOOD[:-1], {**END, "stopped": "Exit: done"}], "stopped the tests"),
    ],
)
def test_a_report_that_is_not_whole_is_no_evidence(
    events: list[dict[str, Any]], reason: str
) -> None:
    outcome = outcome_of(report(events))
    assert reason in str(outcome.objection)
    assert not any(test.evidence for test in outcome.tests)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"left_over": 1}, "left a process running"),
        ({"limit": "wall_time"}, "time limit"),
        ({"limit": "cpu_time"}, "time limit"),
    ],
)
def test_a_whole_report_of_a_bad_ending_is_no_evidence(facts: dict[str, Any], reason: str) -> None:
    assert reason in str(outcome_of(report(GOOD), **facts).objection)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"exit": -11}, "killed by SIGSEGV"),
        ({"exit": 3}, "exit code 3"),
        ({"exit": -9, "limit": "memory"}, "it hit its limit of memory"),
    ],
)
def test_a_crash_is_described(facts: dict[str, Any], words: str) -> None:
    outcome = outcome_of(report([COLLECTED, *whole("test_x"), *whole("test_y")[:2]]), **facts)
    first, second = outcome.tests
    assert (first.status, first.evidence) == (Status.PASSED, False)
    assert (second.status, second.evidence) == (Status.ERROR, False)
    assert words in second.message


def test_a_failure_by_the_proofs_own_check_is_evidence() -> None:
    events = [COLLECTED, *whole("test_x", "failed", error=raised()), *whole("test_y"), END]
    test = outcome_of(report(events)).test("test_x")
    assert (test.status, test.line, test.exception, test.evidence) == (
        Status.FAILED, 3, "AssertionError", True,
    )  # fmt: skip


@pytest.mark.parametrize(
    "error",
    [
        raised("builtins.TypeError"),
        raised(by_check=False, raised_in="/target/thing.py"),
        raised("builtins.MemoryError"),
    ],
)
def test_a_failure_by_anything_else_is_none(error: dict[str, Any]) -> None:
    events = [COLLECTED, *whole("test_x", "failed", error=error), *whole("test_y"), END]
    test = outcome_of(report(events)).test("test_x")
    assert (test.status, test.evidence) == (Status.FAILED, False)


def test_a_rewritten_outcome_is_seen() -> None:
    events = [COLLECTED, *whole("test_x", raised="failed"), *whole("test_y"), END]
    outcome = outcome_of(report(events))
    assert "rewrote the outcome" in str(outcome.test("test_x").objection)
    assert outcome.test("test_y").evidence


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.text(), st.integers(-64, 255))
def test_no_text_without_the_token_is_ever_evidence(text: str, code: int) -> None:
    outcome = outcome_of(text.replace(TOKEN, ""), exit=code)
    assert not outcome.evidence
    assert not any(test.evidence for test in outcome.tests)


@given(
    st.lists(
        st.sampled_from(GOOD) | st.dictionaries(st.sampled_from([*GOOD[2], "x"]), JSON), max_size=12
    )
)
def test_events_of_any_shape_and_order_are_judged(events: list[dict[str, Any]]) -> None:
    outcome = outcome_of(report(events))
    if outcome.passed:
        assert [event for event in events if event == END] == [END]
        assert events[-1] == END
