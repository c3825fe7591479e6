"""Includes, substitutions and repeated keys of HOCON, each with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.agents.testfile.source import FileProblems, FileSource, read_source
from assay.findings import Finding


def source(folder: Path, text: str) -> FileSource:
    path = folder / "test.hocon"
    path.write_text(text, encoding="utf-8")
    return read_source(path)


def refusal(folder: Path, text: str) -> Finding:
    with pytest.raises(FileProblems) as error:
        source(folder, text)
    return error.value.problems[0]


@pytest.mark.parametrize("name", ["shared", "shared.hocon", "shared.conf", "shared.json"])
def test_includes_of_every_extension(tmp_path: Path, name: str) -> None:
    stored = name if "." in name else f"{name}.hocon"
    (tmp_path / stored).write_text('{"a": \n  {"b": 1}}')
    found = source(tmp_path, f'x {{ include "{name}" }}')
    assert found.value == {"x": {"a": {"b": 1}}}
    assert str(found.find_place(("x", "a", "b"))).endswith(f"{stored}:2")
    assert found.problems == []


def test_an_include_of_an_include_is_found_from_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "one.hocon").write_text('include "two.hocon"\n')
    (tmp_path / "inner" / "two.hocon").write_text("\nkey: 1\n")
    found = source(tmp_path, 'include "inner/one.hocon"')
    assert found.value == {"key": 1}
    assert found.find_place(("key",)).file.name == "two.hocon"
    assert found.find_place(("key",)).line == 2


@pytest.mark.parametrize(
    "include", ['"none"', '"none.hocon"', '"none.conf"', 'required("none.json")', 'file("none")']
)
def test_a_missing_include_is_an_error(tmp_path: Path, include: str) -> None:
    text = f"a: 1\n\ninclude {include}\n"
    try:
        (problem,) = source(tmp_path, text).problems
    except FileProblems as error:
        (problem,) = error.problems
    assert (problem.code, problem.place.line) == ("missing-include", 3)
    assert "none" in problem.message


def test_a_missing_include_is_the_cause_of_what_is_unresolved(tmp_path: Path) -> None:
    problem = refusal(tmp_path, 'include "none"\na: ${b}')
    assert (problem.code, problem.place.line) == ("missing-include", 1)


def test_a_substitution_without_value(tmp_path: Path) -> None:
    problem = refusal(tmp_path, "a: 1\nb: ${ASSAY_NO_SUCH_VARIABLE}\n")
    assert problem.place.line == 2
    assert "${ASSAY_NO_SUCH_VARIABLE}" in problem.message
    (tmp_path / "shared.hocon").write_text("\n\nc: ${ASSAY_NO_SUCH_VARIABLE}")
    problem = refusal(tmp_path, 'include "shared"')
    assert (problem.place.file.name, problem.place.line) == ("shared.hocon", 3)


@pytest.mark.parametrize(
    ("text", "line"),
    [("a: [1", 1), ("a: {\n b: 1\n", 3), ('\na: "x', 2), ("{a: 1}\n}}", 2), ("[1]", 1), ("a.b", 1)],
)
def test_text_that_is_no_hocon(tmp_path: Path, text: str, line: int) -> None:
    problem = refusal(tmp_path, text)
    assert (problem.code, problem.place.line) == ("unreadable", line)
    assert "HOCON.md" not in problem.message


def test_a_stray_brace_does_not_end_the_file_unnoticed(tmp_path: Path) -> None:
    found = source(tmp_path, "a: 1\n}\nb: 2")
    assert found.value == {"a": 1}
    assert [(one.code, one.place.line) for one in found.problems] == [("unreadable", 2)]


def test_an_error_in_an_included_file_names_that_file(tmp_path: Path) -> None:
    (tmp_path / "shared.hocon").write_text("a: 1\nb: [")
    problem = refusal(tmp_path, 'c: 1\ninclude "shared"')
    assert (problem.place.file.name, problem.place.line) == ("shared.hocon", 2)


def test_text_that_is_no_utf8(tmp_path: Path) -> None:
    path = tmp_path / "test.hocon"
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(FileProblems) as error:
        read_source(path)
    assert error.value.problems[0].place.line == 2


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\na: 2", 2),
        ("x {\n a: 1\n a: 2 }", 3),
        ("x: [{a: 1,\n a: 2}]", 2),
        ("x: [[{a: 1,\n a: 2}]]", 2),
        ("a.b: 1\na { b: 2 }", 2),
        ("a { b: 1 }\na { b: 2 }", 2),
        ("a { b: 1 }\na: 2", 2),
        ("a: 1\na { b: 2 }", 2),
        ('"a": 1\na: 2', 2),
        ("b: 0\na: 1\na: ${b}", 3),
    ],
)
def test_a_key_given_twice_loses_a_value(tmp_path: Path, text: str, line: int) -> None:
    (problem,) = source(tmp_path, text).problems
    assert (problem.code, problem.place.line) == ("repeated-key", line)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: ${?ASSAY_NO_SUCH_VARIABLE}",
        "a: [1]\na: ${a} [2]",
        "a: [1]\na += 2",
        "a { b: 1 }\na { c: 2 }",
        "a { b: 1 }\na.c: 2",
        "base { x: 1 }\na: ${base} { x: 2 }",
        "x: [{a: 1}, {a: 2}]",
    ],
)
def test_what_hocon_means_by_giving_a_key_again_is_allowed(tmp_path: Path, text: str) -> None:
    assert source(tmp_path, text).problems == []


def test_an_included_value_may_be_overridden(tmp_path: Path) -> None:
    (tmp_path / "shared.hocon").write_text("a: 1")
    found = source(tmp_path, 'include "shared"\na: 2')
    assert (found.value, found.problems) == ({"a": 2}, [])


def test_what_the_environment_gave_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_ONE", "first")
    monkeypatch.setenv("ASSAY_TWO", "second")
    monkeypatch.setenv("ASSAY_LIST_0", "third")
    found = source(tmp_path, "a: x${ASSAY_ONE}\nb: ${?ASSAY_NONE}\nc: ${ASSAY_LIST[]}")
    assert found.value == {"a": "xfirst", "c": ["third"]}
    assert dict(found.environment) == {"ASSAY_ONE": "first", "ASSAY_LIST_0": "third"}


def test_deep_nesting_is_refused_and_not_a_crash(tmp_path: Path) -> None:
    text = "a: " + "[" * 5000 + "]" * 5000
    assert refusal(tmp_path, text).code == "unreadable"


def test_two_escapes_of_one_character_are_one_character_as_in_json(tmp_path: Path) -> None:
    found = source(tmp_path, r'a: ["\ud83d\ude00!", {"\ud83d\ude00": "\ud83d x"}]')
    assert found.value == {"a": ["😀!", {"😀": "\ud83d x"}]}
