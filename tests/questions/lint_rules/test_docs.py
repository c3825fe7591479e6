"""The page on suites has every lint code with its level, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from assay.questions.lint_rules import RULES

PAGE = Path(__file__).parents[3] / "docs" / "suites.md"


def test_every_code_is_documented_with_its_level() -> None:
    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+) \|", PAGE.read_text(), re.MULTILINE)
    assert rows == [(code, rule.severity) for code, rule in RULES.items()]
