"""Every example of the specification runs as written, and gives what the document says.

Each also runs in our own words (examples.py), which need no document.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.model import VerifierReport
from assay.submissions.cases import CLICase, CLIResult
from assay.submissions.config import CheckpointConfig
from assay.submissions.protocols import ExpectedCase
from assay.submissions.python_problems.source import PythonSource
from assay.submissions.slopcode.models import VerificationResult
from tests.submissions import specification
from tests.submissions.python_problems import examples
from tests.submissions.python_problems.support import LOADER, checkpoint_of, problem

Fields = dict[str, Any]
JSON_EXPECTED: Fields = {"output": {"user": 0, "n": 0}, "fields": {"user.name": "Ada", "n": 3}}
FILES_EXPECTED: Fields = {
    "files": [
        {"path": "a.txt", "content": "one\ntwo\n"},
        {"path": "b.txt", "contains": "needle"},
        {"path": "c.txt"},
    ]
}
FILES = {"a.txt": "one\ntwo\n", "b.txt": "a needle", "c.txt": ""}
# Heading in the document, our own words, expected, an actual that passes, one that fails, and the
# attributes in which it fails.
CLASSES: list[tuple[str, str, Fields, Fields, Fields, set[str]]] = [
    (
        "Simple Output Comparison",
        examples.OUTPUT,
        {"output": "a\nb\n", "status_code": 0},
        {"output": "a\nb\n", "status_code": 0},
        {"output": "a\nc\nd\n", "status_code": 1},
        {"output", "status_code"},
    ),
    (
        "Example 1: JSON Response Validation",
        examples.JSON,
        JSON_EXPECTED,
        {"output": '{"user": {"name": "Ada"}, "n": 3}'},
        {"output": '{"user": {"name": "Bob"}, "m": 3}', "status_code": 2},
        {"structure", "field_user.name", "field_n", "status_code"},
    ),
    (
        "Example 1: JSON Response Validation",
        examples.JSON,
        JSON_EXPECTED,
        {"output": '{"user": {"name": "Ada"}, "n": 3}'},
        {"output": "no JSON"},
        {"json_parse"},
    ),
    (
        "Example 2: File Content Verification",
        examples.FILES,
        FILES_EXPECTED,
        {"files": FILES},
        {"files": {"a.txt": "one\n2\n", "b.txt": "hay"}},
        {"files-a.txt", "files-b.txt", "files-c.txt"},
    ),
    (
        "Example 3: Numeric Tolerance",
        examples.NUMBERS,
        {"numbers": [1.5, 2.0], "tolerance": 0.01},
        {"output": "x=1.5001 y=2"},
        {"output": "x=1.6 y=2 z=3"},
        {"number_count", "number_0"},
    ),
    (
        "Example 4: Custom Weighted Scoring",
        examples.WEIGHTS,
        {"output": '{"a": 1}', "max_execution_time": 1.0},
        {"output": '{"a": 1}', "elapsed": 0.5},
        {"output": "{a: 1}", "elapsed": 2.0},
        {"correctness", "efficiency", "format"},
    ),
]


def verifier_text(heading: str) -> str:
    """The example with nothing but its missing imports and the name of the class added."""
    text = re.sub(
        r"^class \w*Verifier:",
        "class Verifier:",
        specification.section(heading),
        flags=re.MULTILINE,
    )
    return f"import json\n{examples.HEAD}{text}"


@pytest.mark.parametrize("words", ["document", "ours"])
@pytest.mark.parametrize(
    ("heading", "ours", "expected", "right", "wrong", "fails"),
    CLASSES,
    ids=["output", "json", "json-parse", "files", "numbers", "weights"],
)
def test_the_verifier_classes(
    tmp_path: Path,
    words: str,
    heading: str,
    ours: str,
    expected: Fields,
    right: Fields,
    wrong: Fields,
    fails: set[str],
) -> None:
    text = verifier_text(heading) if words == "document" else examples.HEAD + ours
    config = problem(tmp_path, LOADER, text)

    async def main() -> list[VerifierReport]:
        async with PythonSource(config) as source:
            return [await report(source, expected, actual) for actual in (right, wrong)]

    passed, failed = asyncio.run(main())
    assert passed.did_pass()
    assert passed.calculate_score() == 1.0
    assert {name for name, mark in failed.format_result().items() if mark == "F"} == fails


async def report(source: PythonSource, expected: Fields, actual: Fields) -> VerifierReport:
    about: dict[str, Any] = {"id": "one", "group": "core"}
    drawn = ExpectedCase(CLICase(**about), CLIResult(**about, **expected))
    result = CLIResult(**about, **actual)
    found = await source.verify(*checkpoint_of(source.problem), drawn, result)
    return VerifierReport.from_verifier_result(drawn.case, 0.0, result, drawn.expected, found)


def test_a_tolerance_of_the_checkpoint_is_asked_for() -> None:
    checkpoint = CheckpointConfig.model_validate(
        {"name": "checkpoint_1", "path": "/nowhere", "tolerance": 0.5}
    )
    assert defined(examples.NUMBERS, "Verifier")(checkpoint).tolerance == 0.5


def defined(text: str, name: str) -> Callable[..., Any]:
    """A function of an example, given the names its document takes for granted."""
    names: dict[str, Any] = {"VerificationResult": VerificationResult}
    exec(f"import difflib, json, re\n{text}", names)
    found: Callable[..., Any] = names[name]
    return found


def example(words: str, heading: str, ours: str, name: str) -> Callable[..., Any]:
    return defined(specification.section(heading) if words == "document" else ours, name)


@pytest.mark.parametrize("words", ["document", "ours"])
@pytest.mark.parametrize(
    ("heading", "ours", "name", "equal", "differs"),
    [
        ("1. Simple String Comparison", examples.SIMPLE, "simple_diff", "✓ Match", "b"),
        ("2. Line-by-Line Diff", examples.LINES, "line_diff", "✓ Match", "Line 2"),
        ("3. Unified Diff (like git diff)", examples.UNIFIED, "unified_diff", "", "--- expected"),
        ("4. Visual Diff", examples.VISUAL, "visual_diff", "✓ Match", "  a\n- b\n+ c"),
    ],
)
def test_the_diff_functions(
    words: str, heading: str, ours: str, name: str, equal: str, differs: str
) -> None:
    diff = example(words, heading, ours, name)
    assert diff("a\nb\n", "a\nb\n") == equal
    found = diff("a\nb\n", "a\nc\n")
    assert found != equal
    assert differs in found


@pytest.mark.parametrize("words", ["document", "ours"])
class TestPatterns:
    def test_flexible(self, words: str) -> None:
        match = example(words, "Pattern 1: Flexible Matching", examples.FLEXIBLE, "flexible_match")
        same, inside, other = match("Yes\n", " yes"), match("es", "yes"), match("no", "yes")
        assert (same.is_correct, same.weight) == (True, 1.0)
        assert (inside.is_correct, inside.weight) == (True, 0.8)
        assert (other.is_correct, other.weight) == (False, 1.0)

    def test_schema(self, words: str) -> None:
        valid = example(words, "Pattern 2: Schema Validation", examples.SCHEMA, "validate_schema")
        assert valid({"a": 1}, {"a": int})[0] is True
        assert valid({"a": "1"}, {"a": int})[0] is False
        assert valid({}, {"a": int})[0] is False

    def test_regex(self, words: str) -> None:
        match = example(words, "Pattern 3: Regex Matching", examples.REGEX, "regex_match")
        assert match(r"\d+", "42").is_correct is True
        assert match(r"\d+", "42!").is_correct is False


@pytest.mark.parametrize("words", ["document", "ours"])
def test_the_score(words: str) -> None:
    if words == "document":
        text = specification.section("Score Calculation").partition("\n\n")[0]
        text = text.partition("results = {")[0]
    else:
        text = examples.SCORE
    results = {
        "output": VerificationResult.create("", True, 1.0),
        "status": VerificationResult.create("", True, 0.5),
        "format": VerificationResult.create("", False, 0.3),
    }
    assert round(defined(text, "calculate_score")(results), 3) == 0.833
    case = CLICase(id="one", group="core")
    result = CLIResult(id="one", group="core")
    report = VerifierReport.from_verifier_result(case, 0.0, result, result, results)
    assert round(report.calculate_score(), 3) == 0.833
    assert report.format_result() == {"output": "P", "status": "P", "format": "F"}
