"""Where comparisons are made: what may be slow, elsewhere, with limits and the same outcome."""

from __future__ import annotations

import asyncio
import bz2
import time
from pathlib import Path
from typing import Any

import pytest

from assay.checks import ABSENT, Traits, check, passed, registry
from assay.model import Outcome, VerificationResult
from assay.submissions.cases import CLIResult
from assay.submissions.declarative.case_files import Expected
from assay.submissions.declarative.comparisons import (
    ResultCheck,
    find_value,
    is_slow,
    judge,
    plan_check,
)
from assay.submissions.declarative.expectations import (
    fill_expectation,
    parse_result_path,
    read_expectations,
)
from assay.submissions.file_formats import FileType, write_content
from assay.submissions.untrusted_reader import Readers
from tests.submissions.declarative.test_source import Bench
from tests.waiting import PATIENCE

ROWS = [{"a": 1}, {"a": 2}]


def actual(**fields: Any) -> CLIResult:
    return CLIResult(id="one", group="core", **fields)


def one(**expected: Any) -> ResultCheck:
    (made,) = read_expectations(Expected(**expected))
    return plan_check(made)


class NobodyAsked(Readers):
    """Where a process would be a surprise."""

    async def ask(self, question: str, **about: Any) -> Any:
        raise AssertionError(question)


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        ({"output": "text"}, {"output": "text"}),
        ({"output": {"a": 1}}, {"output": '{"a": 1}'}),
        ({"files": {"o.csv": [{"a": 1}]}}, {"files": {"o.csv": "a\n1\n"}}),
        ({"files": {"o.jsonl": ROWS}}, {"files": {"o.jsonl": '{"a": 1}\n{"a": 2}\n'}}),
        ({"files": {"o.yaml": {"a": 1}}}, {"files": {}}),
        ({"output": {"check": "keywords", "value": "x"}}, {"output": "x" * 100_000}),
    ],
)
def test_what_is_quick_is_compared_here(expected: Any, answer: Any) -> None:
    comparison = one(**expected)
    found = asyncio.run(judge(comparison, actual(**answer), NobodyAsked()))
    assert found.is_correct is bool(answer.get("files", True))


def regex(pattern: str) -> dict[str, Any]:
    return {"check": "regex", "value": pattern, "weight": 2}


SLOW: list[tuple[Any, Any, bool]] = [
    ({"output": regex(r"\d+")}, {"output": "12"}, True),
    ({"output": regex(r"\d+")}, {"output": "12a"}, False),
    ({"output": "x" * 2_000_000}, {"output": "x" * 2_000_000 + "\n"}, True),
    ({"output": {"check": "schema", "value": {"type": "array"}}}, {"output": "[]"}, True),
    ({"files": {"o.yaml": {"a": [1]}}}, {"files": {"o.yaml": "a: [1]"}}, True),
    ({"files": {"o.yaml": {"a": [1]}}}, {"files": {"o.yaml": "[" * 9_000}}, False),
    ({"files": {"o.csv.bz2": [{"a": 1}]}}, {"files": {"o.csv.bz2": bz2.compress(b"a\n1\n")}}, True),
    ({"files": {"o.db": {"tables": {"t": ROWS}}}}, {"files": {"o.db": b"\xff"}}, False),
    (
        {"files": {"o.parquet": ROWS}},
        {"files": {"o.parquet": write_content(ROWS, FileType.PARQUET)}},
        True,
    ),
    ({"files": {"o.parquet": ROWS}}, {"files": {"o.parquet": b"PAR1 PAR1"}}, False),
    (
        {"output": {"check": "json", "value": [1.0, 2.0], "unordered": True, "absolute": 0.1}},
        {"output": "[2.05, 1]"},
        True,
    ),
    ({"checks": {'files["o.yaml"].a[0]': 1}}, {"files": {"o.yaml": "a: [1]"}}, True),
    ({"output": list(range(30_000))}, {"output": list(range(30_000))}, True),
]


def test_what_may_be_slow_is_compared_elsewhere_with_the_same_outcome() -> None:
    async def work() -> list[tuple[VerificationResult, VerificationResult]]:
        async with Readers() as readers:
            return [
                (
                    await judge(one(**expected), actual(**answer), readers),
                    one(**expected).result(actual(**answer)),
                )
                for expected, answer, _ in SLOW
            ]

    for expected, answer, _ in SLOW:
        assert is_slow(one(**expected), actual(**answer))
    pairs = asyncio.run(work())
    assert [there for there, _ in pairs] == [here for _, here in pairs]
    assert [there.is_correct for there, _ in pairs] == [right for _, _, right in SLOW]
    assert pairs[0][0].weight == 2


@pytest.mark.parametrize(
    ("traits", "given"),
    [
        (Traits(), b"[1]"),
        (Traits(reads="text"), "[1]"),
        (Traits(reads="structure"), [1]),
    ],
)
def test_a_users_own_check_gets_content_as_it_declares(
    monkeypatch: pytest.MonkeyPatch, traits: Traits, given: Any
) -> None:
    monkeypatch.setattr(registry, "_ENTRIES", dict(registry._ENTRIES))
    seen = []

    @check("own", traits)
    def own(found: Any, expected: Any) -> VerificationResult:
        seen.append(found)
        return passed()

    asked = one(files={"o.json": {"check": "own", "value": 1}})
    assert asyncio.run(judge(asked, actual(files={"o.json": b"[1]"}), NobodyAsked())).is_correct
    assert seen == [given]


@pytest.mark.parametrize(("takes", "expected"), [(True, r"a\.b|c"), (False, "a.b|c")])
def test_a_saved_value_is_escaped_in_every_pattern(
    monkeypatch: pytest.MonkeyPatch, takes: bool, expected: str
) -> None:
    monkeypatch.setattr(registry, "_ENTRIES", dict(registry._ENTRIES))
    check("own", Traits(takes_pattern=takes))(lambda found, wanted: passed())
    wanted = {"check": "own", "value": "{{saved:x}}|c"}
    (made,) = read_expectations(Expected(output=wanted))
    assert fill_expectation(made, {"x": "a.b"}).value == expected


def test_values_are_found_elsewhere_too() -> None:
    answer = actual(files={"o.yaml": "a: [null, 1]", "bad.yaml": "["}, output='{"b": 2}')
    places = ['files["o.yaml"].a[1]', 'files["o.yaml"].a[0]', 'files["o.yaml"].x', "output.b"]
    places += ['files["bad.yaml"].a', 'files["none.yaml"].a']

    async def work() -> list[Any]:
        async with Readers() as readers:
            return [await find_value(parse_result_path(place), answer, readers) for place in places]

    assert asyncio.run(work()) == [1, None, ABSENT, 2, ABSENT, ABSENT]


CASES = """
cases:
  evil: {expected: {status_code: 0, output: {check: regex, value: "(a+)+b"}}}
  both: {expected: {status_code: 1, output: {check: regex, value: "(a+)+b"}}}
"""


def test_a_pattern_without_end_leaves_its_case_undecided_and_the_others_alone(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path, CASES)
    bench.source._readers = Readers(seconds=2)
    evil, both = bench.drawn()
    start = time.monotonic()
    found = bench.results(evil, output="a" * 40 + "!")
    assert time.monotonic() - start < PATIENCE
    assert found["status_code"].is_correct is True
    assert found["output"].is_correct is None
    assert found["output"].diff == "the check `regex` of `output` did not answer within 2 s"
    report = bench.report(evil, output="a" * 40 + "!")
    assert report.outcome is Outcome.UNVERIFIED
    # Another check that failed decides.
    assert bench.report(both, output="a" * 40 + "!").outcome is Outcome.FAILED
    assert bench.report(evil, output="aab").outcome is Outcome.PASSED
