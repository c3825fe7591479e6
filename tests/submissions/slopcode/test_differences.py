"""The table of helpers that answer differently from the reference: every row is what happens."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from assay.submissions.slopcode import parsers, verifiers
from assay.submissions.slopcode.models import VerifierError
from assay.submissions.slopcode.verifiers import validate_format

PAGE = Path(__file__).parents[3] / "docs" / "coming-from-slopcodebench.md"
NAMES = {"parsers": parsers, "re": re, "validate_format": validate_format, "verifiers": verifiers}


def rows() -> list[tuple[str, str]]:
    _, _, section = PAGE.read_text(encoding="utf-8").partition("## Helpers that answer differently")
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [(_code(call), _code(here)) for call, _, here, _ in cells]


def _code(cell: str) -> str:
    # In a table of Markdown a bar is written with a backslash, also in code.
    return cell.strip("`").replace("\\|", "|")


@pytest.mark.parametrize(("call", "here"), rows())
def test_a_row_says_what_happens(call: str, here: str) -> None:
    def answer() -> Any:
        return eval(call, dict(NAMES))

    if here == "V":
        with pytest.raises(VerifierError):
            answer()
    else:
        assert answer() == ast.literal_eval(here)


def test_the_table_is_read() -> None:
    assert len(rows()) == 18
