"""A question is found by FILE::CASE, or it is said what there is instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError
from assay.questions.suite.suite import Address, find_in_suite, parse_address
from tests.questions.suite_support import choice, write, write_suite


def test_an_address_has_a_file_and_a_case() -> None:
    assert parse_address("a/b.yaml::suite:one") == Address(Path("a/b.yaml"), "suite:one")
    assert parse_address("b.yaml::a::b") == Address(Path("b.yaml"), "a::b")
    assert str(parse_address("b.yaml::a")) == "b.yaml::a"


@pytest.mark.parametrize("text", ["", "b.yaml", "b.yaml::", "::a", "b.yaml:a"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="addresses no question") as caught:
        parse_address(text)
    assert "FILE::CASE" in (caught.value.advice or "")


def test_a_case_is_found_with_its_suite(tmp_path: Path) -> None:
    path = write_suite(tmp_path / "suite.json", choice("first"), choice("second"))
    assert find_in_suite(f"{path}::second")[1].id == "second"
    suite, entry = find_in_suite(f"{path}::first")
    assert (suite.path, entry.id) == (path, "first")


def test_a_miss_names_the_nearest(tmp_path: Path) -> None:
    path = write_suite(tmp_path / "suite.json", choice("first"), choice("second"))
    with pytest.raises(InputError, match="no question 'secnd'") as caught:
        find_in_suite(f"{path}::secnd")[1]
    assert caught.value.advice == "did you mean 'second'?"
    with pytest.raises(InputError, match="no such file"):
        find_in_suite(f"{tmp_path}/absent.yaml::second")[1]


def test_only_the_question_itself_must_be_readable(tmp_path: Path) -> None:
    broken = {**choice("broken"), "options": "none"}
    path = write_suite(tmp_path / "suite.json", broken, choice("sound"))
    assert find_in_suite(f"{path}::sound")[1].id == "sound"
    with pytest.raises(InputError, match="broken: `options`"):
        find_in_suite(f"{path}::broken")[1]


def test_an_id_given_twice_addresses_nothing(tmp_path: Path) -> None:
    path = write_suite(tmp_path / "suite.json", choice("twice"), choice("twice"))
    with pytest.raises(InputError, match="is taken"):
        find_in_suite(f"{path}::twice")[1]


def test_a_file_that_does_not_parse_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "suite.yaml", "benchmarks: [\n")
    with pytest.raises(InputError, match="not valid YAML"):
        find_in_suite(f"{path}::x")[1]
