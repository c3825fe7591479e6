"""Suites are read in all public formats; nothing that is wrong with one is passed over."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.questions.lint_rules import lint_suites
from assay.questions.model import ApiQuestion, FixQuestion, Question
from assay.questions.suite.suite import Suite, load_suites, read_suite, read_suites
from assay.questions.verdict.exceptions import ExceptionMatch
from tests.questions.suite_support import choice, real_suites, suite_of, write, write_suite

API = {
    "id": "api",
    "category": "Base classes",
    "question": "What is the base class of all models?",
    "rationale": "It is BaseModel.",
    "template": "identifier",
    "answers": [
        {
            "answer_template": "StringMatchAnswer",
            "answer": "BaseModel",
            "fully_qualified_class_name": ["pydantic.BaseModel", "pydantic.main.BaseModel"],
        }
    ],
    "file": "pydantic/main.py",
}


def only_problem(suite: Suite) -> tuple[str, int, str]:
    (problem,) = suite.problems
    return problem.code, problem.place.line, problem.message


def test_a_multiple_choice_question_with_its_places(tmp_path: Path) -> None:
    path = write(
        tmp_path / "suite.yaml",
        """
        target: pydantic==2.9
        exception_match: exact
        benchmarks:
        - id: first
          question: Which one
            of them?
          options:
            A: No
            B: |
              x = 1
              y = 2
          correct_answer: b
          explanation: Because.
          exception_match: isinstance
        - {id: second, question: And now?, options: {A: x, B: y}, correct_answer: A}
        """,
    )
    suite = read_suite(path)
    first, second = suite.entries
    assert suite.problems == []
    assert first.question == Question(
        "first", "Which one of them?", {"A": "No", "B": "x = 1\ny = 2"}
    )
    assert first.key is not None
    assert (first.key.answer, first.key.explanation) == ("B", "Because.")
    lines = {name: place.line for name, place in first.places.items()}
    assert lines == {
        "": 4, "id": 4, "question": 5, "options": 7, "options.A": 8, "options.B": 9,
        "correct_answer": 12, "explanation": 13, "exception_match": 14,
    }  # fmt: skip
    assert str(second.place("options.B")) == f"{path}:15"
    assert suite.policy(first) is ExceptionMatch.ISINSTANCE
    assert suite.policy(second) is ExceptionMatch.EXACT


def test_an_api_question(tmp_path: Path) -> None:
    one_name = {
        **API,
        "id": "short",
        "answers": {"answer": "x", "fully_qualified_class_name": "a.b"},
    }
    suite = suite_of(tmp_path, API, one_name)
    entry, short = suite.entries
    assert suite.problems == []
    assert isinstance(entry.question, ApiQuestion)
    assert entry.question.answers[0].names == ("pydantic.BaseModel", "pydantic.main.BaseModel")
    assert entry.key is not None
    assert entry.key.explanation == "It is BaseModel."
    assert "answers.0.fully_qualified_class_name.1" in entry.places
    assert isinstance(short.question, ApiQuestion)
    assert short.question.answers[0].names == ("a.b",)


def test_the_snippet_is_always_resolved(tmp_path: Path) -> None:
    write(
        tmp_path / "code.py",
        "import json\n# --8<-- [start:load]\njson.loads('1')\n# --8<-- [end:load]\n",
    )
    reference = {"file": "code.py", "section": "load"}
    suite = suite_of(tmp_path, choice(code_snippet_ref=reference))
    question = suite.entries[0].question
    assert isinstance(question, Question)
    assert question.snippet is not None
    assert question.snippet.code == "json.loads('1')\n"
    assert question.snippet.imports == ("import json",)
    assert suite.obstacle(suite.entries[0]) is None


def test_a_missing_section_keeps_the_question_but_it_cannot_be_judged(tmp_path: Path) -> None:
    write(tmp_path / "code.py", "x = 1\n")
    missing = choice(code_snippet_ref={"file": "code.py", "section": "load"})
    path = write_suite(tmp_path / "suite.json", missing, choice("two"))
    (suite,) = load_suites([path])
    first, second = suite.entries
    obstacle = suite.obstacle(first)
    assert obstacle is not None
    assert obstacle.code == "missing-section"
    assert obstacle.place == first.place("code_snippet_ref.section")
    assert suite.obstacle(second) is None


def without(field: str) -> dict[str, Any]:
    return {name: value for name, value in choice().items() if name != field}


@pytest.mark.parametrize(
    ("question", "line", "says"),
    [
        (without("question"), 3, "one: `question` is missing"),
        (without("id"), 3, "question 1: `id` is missing"),
        (choice(question=["a"]), 5, "one: `question` must be text"),
        (choice(question="  "), 5, "one: `question` is empty"),
        (choice(options=["a", "b"]), 6, "mapping from letters to texts"),
        (choice(options={"A": ["x"]}), 7, "one: `options.A` must be text"),
        (choice(code_snippet_ref="x.py"), 12, "`code_snippet_ref` must be a mapping"),
        (choice(exception_match="nearest"), 12, "exception_match"),
        (choice(benchmark_type="multiple_choices"), 12, "not a type of question"),
        ({"id": "one", "question": "What?"}, 3, "type cannot be determined"),
        ("just text", 3, "question 1 must be a mapping"),
        ({**API, "answers": []}, 9, "api: `answers` is empty"),
        (
            {"id": "f", "test_file": "t.py", "unfixed_file": "u.py", "fixed_file": "f.py"},
            5,
            "f: the file t.py does not exist",
        ),
    ],
)
def test_a_question_that_cannot_be_read_stops_verify_and_is_shown_by_lint(
    question: Any, line: int, says: str, tmp_path: Path
) -> None:
    path = write_suite(tmp_path / "suite.json", question, choice("sound"))
    suite = read_suite(path)
    code, at, message = only_problem(suite)
    assert (code, at) == ("unreadable", line)
    assert says in message
    assert [entry.id for entry in suite.entries] == ["sound"]
    with pytest.raises(InputError) as caught:
        load_suites([path])
    assert caught.value.what == message
    assert caught.value.where == f"{path}:{line}"


def test_all_problems_are_collected_and_the_first_is_named(tmp_path: Path) -> None:
    path = write_suite(tmp_path / "suite.json", without("question"), without("options"))
    assert len(read_suite(path).problems) == 2
    with pytest.raises(InputError, match="and 1 more"):
        load_suites([path])


def test_a_key_given_twice_is_a_problem(tmp_path: Path) -> None:
    path = write(
        tmp_path / "suite.yaml",
        """
        benchmarks:
        - id: one
          question: Which?
          options: {A: x, B: y}
          correct_answer: A
          correct_answer: B
        """,
    )
    assert only_problem(read_suite(path))[:2] == ("unreadable", 6)
    with pytest.raises(InputError, match="occurs twice"):
        load_suites([path])


def test_an_id_given_twice_is_a_problem(tmp_path: Path) -> None:
    path = write_suite(tmp_path / "suite.json", choice(), choice())
    code, line, message = only_problem(read_suite(path))
    assert (code, line) == ("duplicate-id", 14)
    assert "line 4" in message
    with pytest.raises(InputError, match="is taken"):
        load_suites([path])


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("benchmarks:\n- id: a\n  option\n    A: x\n", 4, "not valid YAML"),
        ("questions: []\n", 1, "is not a suite"),
        ("- id: a\n", 1, "is not a suite"),
        ("benchmarks: {a: 1}\n", 1, "must be a list"),
        ("exception_match: 5\nbenchmarks: []\n", 1, "exception_match"),
    ],
)
def test_a_file_that_cannot_be_read(text: str, line: int, says: str, tmp_path: Path) -> None:
    path = write(tmp_path / "suite.yaml", text)
    code, at, message = only_problem(read_suite(path))
    assert (code, at) == ("unreadable", line)
    assert says in message
    with pytest.raises(InputError):
        load_suites([path])


def test_a_misspelled_key_is_found_and_another_key_is_not(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, choice(explanatoin="x", difficulty="hard"), exeption_match="exact")
    said = {(one.code, one.message.split("`")[1], one.advice) for one in suite.problems}
    assert said == {
        ("unknown-key", "explanatoin", "did you mean `explanation`?"),
        ("unknown-key", "exeption_match", "did you mean `exception_match`?"),
    }


def test_an_empty_suite_is_refused(tmp_path: Path) -> None:
    path = write_suite(tmp_path / "suite.json")
    with pytest.raises(InputError, match="no questions"):
        load_suites([path])


def test_folders_and_globs_name_suites_once_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.json", "deep/b.json", "proofs/a/proof.json", ".hidden/c.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        write_suite(tmp_path / name, choice())
    write(tmp_path / "other.yaml", "settings: 1\n")
    write(tmp_path / "broken.yaml", "benchmarks:\n- id\n  x: [\n")
    monkeypatch.chdir(tmp_path)

    def names(*paths: str) -> list[str]:
        return [os.path.relpath(suite.path) for suite in read_suites(paths)]

    assert names(".") == ["a.json", "broken.yaml", "deep/b.json"]
    assert names("a.json", "*.json", str(tmp_path / "a.json")) == ["a.json"]
    assert names("**/b.json") == ["deep/b.json"]
    for nothing in ("absent.yaml", "*.toml"):
        with pytest.raises(InputError):
            names(nothing)


def test_a_folder_without_suites_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "other.yaml", "settings: 1\n")
    with pytest.raises(InputError, match="no suites"):
        load_suites([tmp_path])


def test_json_and_yaml_give_the_same_entries(tmp_path: Path) -> None:
    import yaml

    questions = [choice(), API]
    as_json = write_suite(tmp_path / "suite.json", *questions)
    as_yaml = write(tmp_path / "suite.yaml", yaml.safe_dump(json.loads(as_json.read_text())))
    first, second = read_suite(as_json), read_suite(as_yaml)
    assert [one.question for one in first.entries] == [one.question for one in second.entries]
    assert [one.key for one in first.entries] == [one.key for one in second.entries]


def test_the_public_questions_are_all_read() -> None:
    suites = real_suites()
    assert [len(suite.entries) for suite in suites] == [21, 41]
    assert [suite.problems for suite in suites] == [[], []]
    assert isinstance(suites[0].entries[0].question, ApiQuestion)
    assert all(entry.place("question").line > 1 for suite in suites for entry in suite.entries)


def test_a_repair_is_read_from_its_files(tmp_path: Path) -> None:
    write(tmp_path / "case" / "test_it.py", "from broken import run\ndef test(): assert run()\n")
    write(tmp_path / "case" / "broken.py", "def run(): ...\n")
    write(tmp_path / "case" / "mended.py", "def run(): return 1\n")
    suite = suite_of(
        tmp_path,
        {
            "id": "fix",
            "name": "Fix it",
            "description": "Return something.",
            "test_file": "case/test_it.py",
            "unfixed_file": "case/broken.py",
            "fixed_file": "case/mended.py",
            "requirements": ["Keep the name."],
        },
    )
    assert suite.problems == []
    question = suite.entries[0].question
    assert isinstance(question, FixQuestion)
    assert question.module == "broken"
    assert question.unfixed == "def run(): ...\n"
    assert question.requirements == ("Keep the name.",)
    assert question.companions == ()


fields = st.sampled_from(
    ["id", "question", "options", "correct_answer", "code_snippet_ref", "answers", "test_file",
     "unfixed_file", "fixed_file", "benchmark_type", "A", "B", "file", "section", "answer",
     "fully_qualified_class_name", "target", "target_repo_url", "exception_match"]
)  # fmt: skip
words = st.text(max_size=8) | st.sampled_from(["A", "multiple_choice", "x" * 300, "{a}_b", "\0"])
anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=6),
    max_leaves=12,
)


@given(st.lists(anything, max_size=4), st.dictionaries(fields, anything, max_size=3))
def test_whatever_a_file_holds_becomes_problems_and_never_a_crash(
    questions: list[Any], keys: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_suite(Path(folder) / "suite.json", *questions, **keys)
        suite = read_suite(path)
        lint_suites([suite])
        lost = {problem.code for problem in suite.problems} & {"unreadable", "duplicate-id"}
        assert len(suite.entries) == len(questions) or lost


@given(st.text() | st.text(alphabet="benchmarks:-[]{}&*!|>'\"\n \t", max_size=60))
def test_whatever_text_a_file_is_becomes_problems_and_never_a_crash(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "suite.yaml"
        path.write_bytes(f"benchmarks:\n{text}".encode("utf-8", "surrogatepass"))
        suite = read_suite(path)
        assert suite.path == path
        assert all(one.message and one.place.line >= 1 for one in suite.problems)
