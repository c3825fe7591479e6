"""What the tests about suites share: small suites written to real files."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

from assay.findings import Finding
from assay.questions.lint_rules import Resolve, lint_suites
from assay.questions.suite.suite import Suite, read_suite, read_suites

REAL = Path(__file__).parents[3] / "shared" / "data" / "questions"


def choice(name: str = "one", **fields: Any) -> dict[str, Any]:
    """A sound multiple-choice question, but for what is given."""
    return {
        "id": name,
        "question": f"Which class does {name}?",
        "options": {"A": "Alpha", "B": "Beta", "C": "Gamma"},
        "correct_answer": "A",
        **fields,
    }


def write_suite(path: Path, *questions: dict[str, Any], **keys: Any) -> Path:
    path.write_text(json.dumps({**keys, "benchmarks": questions}, indent=2))
    return path


def suite_of(folder: Path, *questions: dict[str, Any], **keys: Any) -> Suite:
    return read_suite(write_suite(folder / "suite.json", *questions, **keys))


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text).lstrip("\n"))
    return path


def found(
    folder: Path, *questions: dict[str, Any], code: str, resolve: Resolve | None = None
) -> list[Finding]:
    """What one rule finds in a suite of these questions."""
    suite = suite_of(folder, *questions)
    resolvers = {suite.path: resolve} if resolve is not None else {}
    return [one for one in lint_suites([suite], resolvers=resolvers) if one.code == code]


def real_suites() -> list[Suite]:
    """The public questions, where they are at hand."""
    import pytest

    if not REAL.is_dir():
        pytest.skip("the public questions are not on this machine")
    return read_suites([REAL])
