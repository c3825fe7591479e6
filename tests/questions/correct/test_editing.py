"""A field changes in place: by example, what stays as it was byte for byte and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from assay.errors import InputError
from assay.questions.correct.editing import changes_between, definition_of, edit_suite

SUITE = """\
# A suite with everything that people write.
target: current   # pinned elsewhere
defaults: &shared
  explanation: The same for all.
benchmarks:

  - id: first   # trailing words
    question: >-
      Which of these
      is a method of
      `BaseModel`?

    # why these options: see the handbook
    options:
      A: '`to_dict`'   # odd quotes
      "B": "`model_dump`"
      C: as_dict, \\ plain
      D: |
          def f():
              return 1

    correct_answer: B
    explanation: &why Because it says so.

  - {id: second, question: "Which?", options: {A: one, B: 'two'}, correct_answer: A}
  - id: third
    question: |+
      Keep the lines below.


    options: {A: x,
              B: y}   # over two lines
    correct_answer:   A@@@
    explanation: *why
  - <<: *shared
    id: fourth
    question: plain text
      over two lines
    options:
    - no
    correct_answer: A
"""
SUITE = SUITE.replace("@", " ")  # spaces at the end of a line, which editors like to remove


@pytest.mark.parametrize(
    ("question", "changes", "gone", "come"),
    [
        ("first", {"correct_answer": "A"}, "    correct_answer: B\n", "    correct_answer: A\n"),
        (
            "first",
            {"options.A": "it's `x`"},
            "      A: '`to_dict`'   # odd quotes\n",
            "      A: 'it''s `x`'   # odd quotes\n",
        ),
        (
            "first",
            {"options.B": 'say "x"\\'},
            '      "B": "`model_dump`"\n',
            '      "B": "say \\"x\\"\\\\"\n',
        ),
        (
            "first",
            {"options.C": "a: b # c"},
            "      C: as_dict, \\ plain\n",
            '      C: "a: b # c"\n',
        ),
        (
            "first",
            {"options.C": "one\ntwo"},
            "      C: as_dict, \\ plain\n",
            "      C: |-\n        one\n        two\n",
        ),
        (
            "first",
            {"options.D": "def g():\n    return 2"},
            "          def f():\n              return 1\n",
            "          def g():\n              return 2\n",
        ),
        (
            "first",
            {"question": "Which of these is a class method of `BaseModel` that a model has?"},
            "      is a method of\n      `BaseModel`?\n",
            "      is a class method of `BaseModel` that a\n      model has?\n",
        ),
        (
            "first",
            {"question": "Which of these is no method of `BaseModel`?"},
            "      is a method of\n",
            "      is no method of\n",
        ),
        (
            "second",
            {"options.B": "2, or 3", "correct_answer": "B"},
            "options: {A: one, B: 'two'}, correct_answer: A}",
            "options: {A: one, B: '2, or 3'}, correct_answer: B}",
        ),
        (
            "second",
            {"options.A": "a, b"},
            "options: {A: one,",
            'options: {A: "a, b",',
        ),
        ("third", {"question": "Other."}, "      Keep the lines below.\n", "      Other.\n"),
        ("third", {"correct_answer": "B"}, "correct_answer:   A   ", "correct_answer:   B   "),
        ("third", {"explanation": "Mine."}, "    explanation: *why\n", "    explanation: Mine.\n"),
        ("third", {"options.B": "yes"}, "B: y}", 'B: "yes"}'),
        ("third", {"options.C": "z"}, "B: y}", "B: y,\n              C: z}"),
        (
            "first",
            {"options.E": "new"},
            "              return 1\n",
            "              return 1\n      \"E\": new\n",
        ),
        ("first", {"options.A": None}, "      A: '`to_dict`'   # odd quotes\n", ""),
        ("second", {"options.A": None}, "{A: one, B: 'two'}", "{B: 'two'}"),
        (
            "fourth",
            {"question": "A text in more words than there were"},
            "    question: plain text\n      over two lines\n",
            "    question: A text in more words than there were\n",
        ),
        (
            "fourth",
            {"explanation": "Own."},
            "    - no\n    correct_answer: A\n",
            "    - no\n    correct_answer: A\n    explanation: Own.\n",
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_change_touches_only_its_field(
    question: str, changes: dict[str, Any], gone: str, come: str, newline: str
) -> None:
    assert SUITE.count(gone) == 1
    after = edit_suite(SUITE.replace("\n", newline), question, changes)
    assert after == SUITE.replace(gone, come).replace("\n", newline)


def test_a_shared_value_is_not_changed_for_others() -> None:
    with pytest.raises(InputError, match="without changing something else"):
        edit_suite(SUITE, "first", {"explanation": "New."})


def test_what_is_the_same_already_changes_nothing() -> None:
    same = {"correct_answer": "B", "options.D": "def f():\n    return 1\n"}
    assert edit_suite(SUITE, "first", same) == SUITE


def test_a_mark_at_the_beginning_stays() -> None:
    after = edit_suite("\ufeff" + SUITE, "first", {"correct_answer": "C"})
    assert after == "\ufeff" + SUITE.replace("correct_answer: B", "correct_answer: C")


@pytest.mark.parametrize(
    ("question", "changes", "said"),
    [
        ("frist", {"correct_answer": "A"}, "did you mean 'first'"),
        ("first", {"options.X.Y": "a"}, "does not exist"),
        ("first", {"options.A": 3}, "must become text"),
        ("fourth", {"options.7": "a"}, "does not exist"),
    ],
)
def test_what_cannot_be_done_is_refused(question: str, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        edit_suite(SUITE, question, changes)


def test_two_questions_of_one_id_are_refused() -> None:
    twice = SUITE.replace("id: second", "id: first")
    with pytest.raises(InputError, match="two questions"):
        edit_suite(twice, "first", {"correct_answer": "A"})


JSON = '{\n\t"benchmarks": [\n\t\t{"id": "one", "question": "Wh\\u00fcch?",\n\t\t "options": {\n\
\t\t\t"A": "x",\n\t\t\t"B": "y"\n\t\t },\n\t\t "correct_answer":"A"   }\n\t]\n}'


@pytest.mark.parametrize(
    ("changes", "gone", "come"),
    [
        ({"correct_answer": "B"}, '"correct_answer":"A"   }', '"correct_answer":"B"   }'),
        ({"question": 'a "b"\nü'}, '"Wh\\u00fcch?"', '"a \\"b\\"\\n\\u00fc"'),
        ({"options.C": "z"}, '"B": "y"', '"B": "y",\n\t\t\t"C": "z"'),
        ({"options.A": None}, '"A": "x",\n\t\t\t', ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_json_changes_in_place_too(
    changes: dict[str, Any], gone: str, come: str, suffix: str
) -> None:
    after = edit_suite(JSON, "one", changes, suffix=suffix)
    assert after == JSON.replace(gone, come)


def test_a_new_field_in_json_follows_the_last_one() -> None:
    after = edit_suite(JSON, "one", {"explanation": "so"}, suffix=".json")
    assert after.startswith(JSON[: JSON.index('"A"   }') + 3])
    assert after.endswith('"explanation": "so"   }\n\t]\n}')
    assert json.loads(after)["benchmarks"][0]["explanation"] == "so"


def test_a_list_is_replaced_as_a_whole() -> None:
    text = (
        "benchmarks:\n- id: a\n  answers:\n  - answer: x\n    names: [a.b]  # kept\n"
        "    more:\n    - q\n"
    )
    after = edit_suite(text, "a", {"answers.0.names": ["c.d", "e"], "answers.0.more": ["r", "s"]})
    assert after == text.replace("[a.b]", '["c.d", "e"]').replace(
        "more:\n    - q", 'more: ["r", "s"]'
    )


def test_the_changes_between_two_definitions() -> None:
    before = definition_of(SUITE, "first")
    assert before["options"]["D"] == "def f():\n    return 1\n"
    after = {
        "question": before["question"] + "\n",
        "options": {"A": "`to_dict`", "B": "`dump`", "E": "new"},
        "correct_answer": "E",
    }
    changes = changes_between(before, after)
    assert changes == {
        "options.C": None,
        "options.D": None,
        "options.B": "`dump`",
        "options.E": "new",
        "correct_answer": "E",
    }
    changed = yaml.safe_load(edit_suite(SUITE, "first", changes))["benchmarks"][0]
    assert changed["options"] == {"A": "`to_dict`", "B": "`dump`", "E": "new"}
    assert changed["explanation"] == "Because it says so."
