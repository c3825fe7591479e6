"""What the page about agents says is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from assay.agents.pytest_plugin import _OPTIONS
from assay.agents.sampling.tally import compute_pass_chance
from assay.agents.testfile.criteria import TESTS
from assay.agents.testfile.lint import RULES
from assay.agents.testfile.written import WrittenInteraction, WrittenTest, list_keys
from assay.model import Ratio

PAGE = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")


def test_every_key_test_and_code_is_on_the_page() -> None:
    for word in (*list_keys(WrittenTest), *list_keys(WrittenInteraction), *RULES):
        assert f"| `{word}` |" in PAGE, word
    for test in TESTS:
        assert f"`{test}`" in PAGE, test


def test_every_option_of_the_plugin_is_on_the_page() -> None:
    for name, _ in _OPTIONS:
        assert f"`{name}`" in PAGE, name


def test_the_table_of_ratios() -> None:
    rows = re.findall(r"^\| (\d+/\d+) \|(.*)\|$", PAGE, re.MULTILINE)
    head = re.search(r"^\| ratio \|(.*)\|$", PAGE, re.MULTILINE)
    assert head is not None
    rates = [int(cell.strip(" %")) / 100 for cell in head[1].split("|")]
    assert len(rows) == 9
    for ratio, cells in rows:
        told = [f"{compute_pass_chance(Ratio.parse(ratio), rate):.0%}" for rate in rates]
        assert [cell.strip() for cell in cells.split("|")] == told
