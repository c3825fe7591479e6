"""The page about checks: it names every check and option, and its examples are true."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from assay.checks import check_names, check_options
from assay.checks.files import HASH_LENGTHS
from assay.checks.text import _WHITESPACE

PAGE = Path(__file__).parents[2] / "docs" / "checks.md"


def sections() -> dict[str, str]:
    """The text below each heading, by every check that the heading names."""
    found: dict[str, str] = {}
    for section in re.split(r"^#{2,3} ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        found |= dict.fromkeys(re.findall(r"`(\w+)`", heading), body)
    return found


def test_every_check_has_a_section_and_every_section_a_check() -> None:
    assert sorted(sections()) == check_names()


@pytest.mark.parametrize("name", check_names())
def test_a_section_names_every_option_and_has_an_example(name: str) -> None:
    body = sections()[name]
    assert re.findall(r"^\| `(\w+)` \|", body, re.MULTILINE) == list(check_options(name))
    assert f'run_check("{name}", ' in body


def test_every_word_an_option_takes_is_named() -> None:
    assert all(f"`{word}`" in sections()["flexible"] for word in _WHITESPACE)
    assert all(f"`{word}`" in sections()["file_hash"] for word in HASH_LENGTHS)


@pytest.mark.usefixtures("own_checks")
def test_the_examples_are_true() -> None:
    outcome = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert outcome.attempted > len(check_names())
    assert outcome.failed == 0
