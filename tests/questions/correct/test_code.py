"""Corrections of the code that a question refers to: one section of a file, and nothing beside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.questions.correct.apply_correction import read_suite_text
from assay.questions.correct.correction import CodeChange, Corrector, RefusedCorrection
from assay.questions.model import ApiQuestion, Question
from assay.questions.suite.references import cut_section, replace_section
from assay.questions.suite.suite import read_suite

FILE = """\
import json
import pydantic

# --8<-- [start:one]
class One(pydantic.BaseModel):
    x: int

# --8<-- [end:one]


def made():
    # --8<-- [start:two]
    text = json.dumps(shared())
    print(text)
    # --8<-- [end:two]


# --8<-- [start:three]
def shared():
    return 1
# --8<-- [end:three]
"""
SUITE = """\
benchmarks:
  - id: first
    question: What does `One` do? # a comment
    options: {A: it works, B: it fails}
    correct_answer: A
    code_snippet_ref: {file: code.py, section: one}
  - id: second
    question: What is printed?
    options: {A: "1", B: "2"}
    correct_answer: A
    code_snippet_ref: {file: code.py, section: two}
  - id: third
    question: What is returned?
    options: {A: "1", B: "2"}
    correct_answer: A
    code_snippet_ref: {file: code.py, section: three}
  - id: plain
    question: What is it?
    options: {A: "1", B: "2"}
    correct_answer: A
  - id: name
    question: Which class of pydantic is it?
    rationale: It is made for that.
    template: identifier
    answers:
      - answer_template: identifier
        answer: RootModel
        fully_qualified_class_name: [pydantic.RootModel]
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "code.py").write_text(FILE)
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


def corrector(suite: Path, name: str) -> Corrector:
    read = read_suite(suite)
    entry = next(one for one in read.entries if one.id == name)
    return Corrector(read, entry, read_suite_text(suite))


def test_the_code_of_a_question_is_changed_alone(suite: Path) -> None:
    fixer = corrector(suite, "first")
    assert fixer.definition["code"] == "class One(pydantic.BaseModel):\n    x: int\n"
    assert fixer.context == "import pydantic"
    new = "import enum\n\n\nclass One(pydantic.BaseModel):\n    y: int\n"
    # Fields that a model sets to null stay.
    found = fixer.correct({"code": new, "question": None, "answers": None})
    assert (found.changes, found.changed) == ({}, ["code"])
    assert isinstance(found.entry.question, Question)
    assert found.entry.question.snippet is not None
    assert found.entry.question.snippet.code == new
    assert found.entry.question.snippet.imports == ("import pydantic",)
    assert found.code is not None
    assert found.code == CodeChange.of_values(found.code.as_values())
    old = "class One(pydantic.BaseModel):\n    x: int\n"
    assert found.code.apply(FILE) == FILE.replace(old, new)
    both = fixer.correct({"code": new, "correct_answer": "B"}, [found.definition])
    assert both.changed == ["correct_answer", "code"]
    with pytest.raises(RefusedCorrection, match="the same was tried before"):
        fixer.correct({"code": new}, [found.definition])
    with pytest.raises(RefusedCorrection, match="it changes nothing"):
        fixer.correct({"code": old + "\n"})


def test_code_keeps_the_place_where_it_stands(suite: Path) -> None:
    """Its indentation, its line ends, a byte order mark, and blank lines around it."""
    found = corrector(suite, "second").correct({"code": "print(\n    json.dumps(shared())\n)\n"})
    assert found.code is not None
    old = "    text = json.dumps(shared())\n    print(text)\n"
    new = "    print(\n        json.dumps(shared())\n    )\n"
    changed = FILE.replace(old, new)
    assert found.code.apply(FILE) == changed
    for mark in ("", "\ufeff"):
        windows = mark + FILE.replace("\n", "\r\n")
        assert found.code.apply(windows) == mark + changed.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        # The second question runs what the third one shows.
        ("third", {"code": "def shared():\n    return 2\n"}, "the question second uses it too"),
        ("plain", {"code": "x = 1\n"}, "refers to no code"),
        ("first", {"code": "class One(pydantic.BaseModel):\n"}, "no Python any more"),
        ("first", {"code": "\n"}, "its code is empty"),
        ("first", {"code": "class One:\n    x: int\n"}, "no longer uses what it showed: pydantic"),
        ("first", {"code": 3}, "`code` must be text"),
        ("first", {"code": "# --8<-- [end:one]\nimport os\n"}, "another section begins or ends"),
        ("first", {"code_snippet_ref": {"file": "/etc/passwd"}}, "cannot be changed"),
    ],
)
def test_what_is_refused(suite: Path, name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(RefusedCorrection, match=said):
        corrector(suite, name).correct(given)


def test_a_file_without_sections_is_changed_as_a_whole() -> None:
    assert replace_section("x = 1\n\n", None, "y = 2\n") == "y = 2\n\n"
    assert replace_section(FILE, None, "y = 2\n") is None
    assert replace_section("x = 1", None, "y = 2\n") == "y = 2"


def test_the_rationale_of_an_api_question_follows_its_answer(suite: Path) -> None:
    answer = {"answer": "TypeAdapter", "fully_qualified_class_name": ["pydantic.TypeAdapter"]}
    found = corrector(suite, "name").correct(
        {"answers": [answer], "rationale": "It takes any type.", "question": None}
    )
    assert found.changes["rationale"] == "It takes any type."
    assert found.entry.key is not None
    assert found.entry.key.explanation == "It takes any type."
    assert isinstance(found.entry.question, ApiQuestion)
    with pytest.raises(RefusedCorrection, match="`rationale` must be text"):
        corrector(suite, "name").correct({"rationale": 3})


CODE = st.lists(
    st.sampled_from(["x = 1", "if x:", "    y = 2", "", "\ty", "é = 'ü'"]), min_size=1, max_size=6
)


@given(CODE, CODE, st.sampled_from(["", "  ", "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_what_is_read(
    old: list[str], new: list[str], indent: str, newline: str
) -> None:
    """Whatever stood there, and nothing outside of the section changes."""
    body = [f"{indent}{line}" if line else "" for line in old]
    lines = ["before", "# --8<-- [start:s]", *body, "# --8<-- [end:s]", "after", ""]
    changed = replace_section(newline.join(lines), "s", "\n".join(new))
    assert changed is not None
    assert changed.startswith(f"before{newline}# --8<-- [start:s]{newline}")
    assert changed.endswith(f"# --8<-- [end:s]{newline}after{newline}")
    code = cut_section(changed, "s").code
    wanted = cut_section("\n".join(["# --8<-- [start:s]", *new, "# --8<-- [end:s]"]), "s").code
    assert code == wanted
