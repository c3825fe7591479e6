"""Every lint code has cases in which it is found and cases in which it must not be."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from assay.errors import InputError
from assay.questions.lint_rules import RULES, lint_suites
from assay.questions.selection import Selection, select
from assay.questions.suite.suite import read_suites
from tests.questions.suite_support import choice, found, real_suites, suite_of, write, write_suite

NONE = "None of the above"


def ids(folder: Path, *questions: dict[str, Any], code: str) -> list[str | None]:
    return [one.case for one in found(folder, *questions, code=code)]


def test_a_sound_suite_has_no_findings(tmp_path: Path) -> None:
    assert not lint_suites([suite_of(tmp_path, choice("one"), choice("two"))])


def test_the_codes_are_these() -> None:
    assert list(RULES) == [
        "unreadable",
        "duplicate-id",
        "missing-section",
        "unknown-key",
        "key-not-an-option",
        "missing-option",
        "doubled-option",
        "none-missing",
        "template-leak",
        "answer-given-away",
        "text-contradicts-snippet",
        "same-statement-keyed-differently",
        "text-names-missing-code",
        "answer-position-bias",
        "broken-unused-import",
        "broken-snippet",
    ]


def test_what_reading_met_is_among_the_findings(tmp_path: Path) -> None:
    broken = choice("broken", options="x")
    lost = choice("lost", code_snippet_ref={"file": "absent.py", "section": "x"})
    suite = suite_of(tmp_path, choice(), choice(), broken, lost, choice("odd", explanatin="x"))
    assert {(one.code, one.case) for one in lint_suites([suite])} >= {
        ("duplicate-id", "one"),
        ("unreadable", "broken"),
        ("missing-section", "lost"),
        ("unknown-key", "odd"),
    }


def test_findings_are_sorted_by_place_and_have_advice(tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path, choice("z", correct_answer="E"), choice("a", options={"A": "x", "B": "x"})
    )
    findings = lint_suites([suite])
    assert [one.case for one in findings] == ["z", "a"]
    assert findings[0].place == suite.entries[0].place("correct_answer")
    assert all(one.advice for one in findings)


def test_ignored_codes_are_left_out_and_unknown_ones_refused(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, choice(correct_answer="E"), choice("b", options={"A": "x", "B": ""}))
    assert [one.code for one in lint_suites([suite], ignore=["missing-option"])] == [
        "key-not-an-option"
    ]
    with pytest.raises(InputError, match="unknown lint code 'missing-options'") as caught:
        lint_suites([suite], ignore=["missing-options"])
    assert caught.value.advice == "did you mean 'missing-option'?"


class TestKeyNotAnOption:
    CODE = "key-not-an-option"

    def test_found(self, tmp_path: Path) -> None:
        (one,) = found(tmp_path, choice(correct_answer="E"), code=self.CODE)
        assert "'E'" in one.message
        assert "A, B, C" in one.message
        assert found(tmp_path, choice(correct_answer="Alpha"), code=self.CODE)

    def test_not_found(self, tmp_path: Path) -> None:
        assert not found(tmp_path, choice(correct_answer=" c "), code=self.CODE)


class TestMissingOption:
    CODE = "missing-option"

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({"A": "x", "C": "y", "E": "z"}, "option B, D is missing"),
            ({"B": "x", "C": "y"}, "option A is missing"),
            ({"A": "x"}, "only one option"),
            ({}, "no options"),
            ({"A": "x", "B": None}, "option B is empty"),
            ({"A": "x", "B": "  "}, "option B is empty"),
        ],
    )
    def test_found(self, options: dict[str, Any], says: str, tmp_path: Path) -> None:
        (one,) = found(tmp_path, choice(options=options), code=self.CODE)
        assert says in one.message

    @pytest.mark.parametrize(
        "options", [{"A": "x", "B": "y"}, {"1": "x", "2": "y"}, {"a": "x", "c": "y"}]
    )
    def test_not_found(self, options: dict[str, Any], tmp_path: Path) -> None:
        assert not found(tmp_path, choice(options=options), code=self.CODE)


class TestDoubledOption:
    CODE = "doubled-option"

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("Alpha", "Alpha"),
            ("`run_now`", "run_now"),
            ("It does nothing.", "it does  nothing"),
            ("x = 1\ny = 2\n", "x = 1  \ny = 2"),
        ],
    )
    def test_found(self, first: str, second: str, tmp_path: Path) -> None:
        question = choice(options={"A": first, "B": "other", "C": second})
        (one,) = found(tmp_path, question, code=self.CODE)
        assert "A and C" in one.message
        assert one.place.line > 0

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("Agent", "agent"),
            ("run", "run()"),
            ("`x = 'a'`", '`x = "b"`'),
            ("if x:\n  y", "if x:\n    y"),
            ("It is on.", "It is not on."),
        ],
    )
    def test_not_found(self, first: str, second: str, tmp_path: Path) -> None:
        question = choice(options={"A": first, "B": second})
        assert not found(tmp_path, question, code=self.CODE)


class TestNoneMissing:
    CODE = "none-missing"

    def with_none(self, count: int) -> list[dict[str, Any]]:
        return [choice(f"with{n}", options={"A": "x", "B": "y", "C": NONE}) for n in range(count)]

    def test_found(self, tmp_path: Path) -> None:
        questions = [*self.with_none(4), choice("without")]
        assert ids(tmp_path, *questions, code=self.CODE) == ["without"]

    def test_not_found(self, tmp_path: Path) -> None:
        assert not found(tmp_path, *self.with_none(5), code=self.CODE)
        assert not found(tmp_path, *self.with_none(3), choice("without"), code=self.CODE)
        two = [choice("without"), choice("neither")]
        assert not found(tmp_path, *self.with_none(4), *two, code=self.CODE)
        other = choice("other", options={"A": "x", "B": "None of these."})
        assert not found(tmp_path, *self.with_none(4), other, code=self.CODE)


class TestTemplateLeak:
    CODE = "template-leak"

    @pytest.mark.parametrize(
        ("field", "text"),
        [
            ("A", "Set `enable_{t}=True`."),
            ("A", "Call get_{name}_value()"),
            ("A", "Use {class_name} here"),
            ("A", "Use {{ cls }} here"),
            ("A", "<TODO: write this>"),
            ("A", "[INSERT DISTRACTOR]"),
            ("A", "TBD"),
            ("question", "What does %s control?"),
            ("question", "What is the purpose of {param} in the constructor?"),
            ("question", "Which of ${name} is right?"),
        ],
    )
    def test_found(self, field: str, text: str, tmp_path: Path) -> None:
        options = {"A": text if field == "A" else "x", "B": "y"}
        stem = text if field == "question" else "Which is right?"
        suite_question = choice(question=stem, options=options)
        (one,) = found(tmp_path, suite_question, code=self.CODE)
        assert "not filled in" in one.message

    @pytest.mark.parametrize(
        ("stem", "option"),
        [
            ("Which is right?", 'Set `name = f"enable_{t}"`.'),
            ("Which is right?", "`print(f'{x}_{y}')`"),
            ("Which is right?", "`{t}`"),
            ("Which is right?", '`{"a": b}`'),
            ("Which is right?", "`data = {key}`"),
            ("Which is right?", "`dict[str, T]` or `List<T>`"),
            ("Which is right?", '`"%s" % name`'),
            ("Which is right?", "`logging.info('%s', x)`"),
            ("Which is right?", "Run `tool deploy <PATH>`"),
            ("Which is right?", "A file `report_{date}.csv`"),
            ("Which is right?", "`/users/{id}/posts`"),
            ("Which is right?", "`${HOME}/bin`"),
            ("Which is right?", "100% of the calls, 50%d"),
            ("Which is right?", "# TODO is a comment"),
            ("How is a placeholder written?", "As {name} in the text"),
            ("How does `{user_name}` get into the instruction?", "From name_{user}"),
            ("What does the f-string give?", "Set a_{b}"),
            ("Which is right?", "Java's `new int[]{x}`"),
        ],
    )
    def test_not_found(self, stem: str, option: str, tmp_path: Path) -> None:
        question = choice(question=stem, options={"A": option, "B": "y"})
        assert not found(tmp_path, question, code=self.CODE)

    def test_what_several_options_have_is_no_leak(self, tmp_path: Path) -> None:
        options = {"A": "Write a_{x}", "B": "Write {x} alone"}
        assert not found(tmp_path, choice(options=options), code=self.CODE)


class TestAnswerGivenAway:
    CODE = "answer-given-away"

    @pytest.mark.parametrize(
        ("stem", "key"),
        [
            ("Which parameter is used for defining the model to use?", "model"),
            ("What sets `max_size`, the limit of a pool?", "max_size"),
            ("Use BaseAgent to build agents. Which class is the base?", "`lib.BaseAgent`"),
            ("Which method does `start_now` when called?", "worker.start_now()"),
        ],
    )
    def test_found(self, stem: str, key: str, tmp_path: Path) -> None:
        options = {"A": "settings", "B": key, "C": NONE}
        question = choice(question=stem, options=options, correct_answer="B")
        (one,) = found(tmp_path, question, code=self.CODE)
        assert "already contains" in one.message

    @pytest.mark.parametrize(
        ("stem", "options"),
        [
            # The class is what the question is about, and every option may name it.
            ("How is `Runner` imported?", {"A": "a.b.Runner", "B": "a.c.Runner"}),
            ("How do you enable `CodeTool`?", {"A": "Add `CodeTool` to the list", "B": "Use Beta"}),
            ("Is it `max_size` or `min_size`?", {"A": "max_size", "B": "min_size"}),
            ("Which value is True by default?", {"A": "True", "B": "False"}),
            ("How long does a run take?", {"A": "run", "B": "walk"}),
            ("Which parameter limits calls?", {"A": "limit", "B": "budget"}),
            ("Which method is like `stop_all`?", {"A": "It is `stop_all`.", "B": "Nothing is."}),
            ("Which class is not `Alpha`?", {"A": "Beta", "B": "Alpha"}),
        ],
    )
    def test_not_found(self, stem: str, options: dict[str, str], tmp_path: Path) -> None:
        assert not found(tmp_path, choice(question=stem, options=options), code=self.CODE)

    @pytest.mark.parametrize(
        ("stem", "is_found"),
        [("What is the `Context` object?", False), ("What is the `CallContext` object?", True)],
    )
    def test_names_of_the_library(self, stem: str, is_found: bool, tmp_path: Path) -> None:
        answer = {"answer": "CallContext", "fully_qualified_class_name": ["a.CallContext"]}
        question = {"id": "api", "question": stem, "answers": [answer]}
        assert bool(found(tmp_path, question, code=self.CODE)) is is_found


class TestTextContradictsSnippet:
    CODE = "text-contradicts-snippet"

    def question(self, folder: Path, text: str, code: str) -> dict[str, Any]:
        write(folder / "code.py", f"# --8<-- [start:x]\n{code}\n# --8<-- [end:x]\n")
        return choice(question=text, code_snippet_ref={"file": "code.py", "section": "x"})

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("You pass `calls` equal to `sys.maxsize`. What happens?", "n = -1\nrun(calls=n)"),
            ("A pool with `size` set to 5 is made. What happens?", "Pool(size=4)"),
            ("You call it with `size=5`. What happens?", "Pool(**{'size': 4})"),
            ("The `name` is 'my-pool'. What happens?", "name = 'my_pool'"),
            ("You set `mode` to `Mode.FAST`. What happens?", "run(mode=Mode.SLOW)"),
            ("A `limit` of 3 is given. What happens?", "limit: int = 4"),
        ],
    )
    def test_found(self, text: str, code: str, tmp_path: Path) -> None:
        (one,) = found(tmp_path, self.question(tmp_path, text, code), code=self.CODE)
        assert one.case == "one"

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            (
                "You pass `calls` equal to `sys.maxsize`. What?",
                "import sys\nrun(calls=sys.maxsize)",
            ),
            ("You pass `calls` equal to `sys.maxsize`. What?", "n = sys.maxsize\nrun(calls=n)"),
            ("You pass `calls` equal to `sys.maxsize`. What?", "run(calls=compute())"),
            ("You pass `calls` equal to `sys.maxsize`. What?", "run(other=1)"),
            ("A pool with `size` set to 5. What?", "Pool(size=5.0)"),
            ("A pool with `size` set to 5. What?", "Pool(size=4)\nPool(size=5)"),
            ("What if `size` is set to 5 instead?", "Pool(size=4)"),
            ("The default of `size` is 5. What?", "Pool(size=4)"),
            ("`size` should be equal to 5. Why does it fail?", "Pool(size=4)"),
            ("The `items` of 3 parts are read. What?", "items = [1, 2, 3]"),
            ("The `size` of `Pool` is read. What?", "size = 4"),
            ("The `content` of `types.Part` is read. What?", "content = 'x'"),
            ("You pass `size` equal to `limit`. What?", "limit = 4\nPool(size=limit)"),
            ("A pool with `size` set to 5. What?", "Pool(size=4"),
            ("A pool with `size` set to `'4'`. What?", "Pool(size=4)"),
            ("What does this print?", "print(4)"),
        ],
    )
    def test_not_found(self, text: str, code: str, tmp_path: Path) -> None:
        assert not found(tmp_path, self.question(tmp_path, text, code), code=self.CODE)

    def test_a_question_without_code_is_left_alone(self, tmp_path: Path) -> None:
        assert not found(tmp_path, choice(question="A `size` of 3?"), code=self.CODE)


class TestSameStatementKeyedDifferently:
    CODE = "same-statement-keyed-differently"

    def findings(self, folder: Path, first: dict[str, Any], second: dict[str, Any]) -> list[str]:
        paths = [
            write_suite(folder / "a.json", choice("first", **first)),
            write_suite(folder / "b.json", choice("second", **second)),
        ]
        return [one.message for one in lint_suites(read_suites(paths)) if one.code == self.CODE]

    def test_found_across_suites(self, tmp_path: Path) -> None:
        first = {"question": "Which one runs it?", "options": {"A": "x_y", "B": "z"}}
        second = {
            "question": "which one  runs it",
            "options": {"A": "other", "B": "`x_y`"},
            "correct_answer": "A",
        }
        (message,) = self.findings(tmp_path, first, second)
        assert "option B is a distractor here and the key of first" in message
        assert "a.json" in message

    def test_not_found(self, tmp_path: Path) -> None:
        asked = {"question": "Which one runs it?", "options": {"A": "x_y", "B": "z"}}
        assert not self.findings(tmp_path, asked, asked)
        turned = {**asked, "question": "Which one does not run it?", "correct_answer": "B"}
        assert not self.findings(tmp_path, asked, turned)
        none = {"question": "Which?", "options": {"A": NONE, "B": "z"}}
        right = {"question": "Which?", "options": {"A": "x", "B": NONE}}
        assert not self.findings(tmp_path, none, right)
        case = {**asked, "options": {"A": "other", "B": "X_Y"}}
        assert not self.findings(tmp_path, asked, case)


class TestAnswerPositionBias:
    CODE = "answer-position-bias"

    def questions(self, keys: str) -> list[dict[str, Any]]:
        options = {"A": "v", "B": "w", "C": "x", "D": "y", "E": NONE}
        return [choice(f"q{n}", options=options, correct_answer=key) for n, key in enumerate(keys)]

    def test_found(self, tmp_path: Path) -> None:
        (one,) = found(tmp_path, *self.questions("B" * 15 + "ACDACD"), code=self.CODE)
        assert "of 21 keys A 2, B 15, C 2, D 2" in one.message
        assert one.case is None

    @pytest.mark.parametrize("keys", ["ABCD" * 6, "B" * 9 + "ACD" * 4, "B" * 19, "E" * 30 + "ABCD"])
    def test_not_found(self, keys: str, tmp_path: Path) -> None:
        assert not found(tmp_path, *self.questions(keys), code=self.CODE)


class TestBrokenUnusedImport:
    CODE = "broken-unused-import"

    def question(self, folder: Path) -> dict[str, Any]:
        write(
            folder / "code.py",
            """
            from library import alive
            from library import dead
            from library import gone
            import absent
            # --8<-- [start:x]
            alive(gone)
            # --8<-- [end:x]
            """,
        )
        return choice(code_snippet_ref={"file": "code.py", "section": "x"})

    @staticmethod
    def resolve(module: str, member: str | None) -> bool | None:
        return None if module == "absent" else member == "alive"

    def test_found(self, tmp_path: Path) -> None:
        question = self.question(tmp_path)
        twice = [question, {**question, "id": "two"}]
        (one,) = found(tmp_path, *twice, code=self.CODE, resolve=self.resolve)
        assert one.message == "`from library import dead` cannot be resolved"
        assert (one.place.file.name, one.place.line) == ("code.py", 2)

    def test_not_found(self, tmp_path: Path) -> None:
        question = self.question(tmp_path)
        assert not found(tmp_path, question, code=self.CODE)
        assert not found(tmp_path, question, code=self.CODE, resolve=lambda *_: None)
        assert not found(tmp_path, question, code=self.CODE, resolve=lambda *_: True)


def test_the_public_questions_have_these_defects_and_no_others() -> None:
    suites = real_suites()
    started = time.process_time()
    findings = lint_suites(suites)
    assert time.process_time() - started < 0.5
    assert [(one.code, (one.case or "").partition(":")[2][:32]) for one in findings] == [
        ("answer-given-away", "which_method_is_used_to_register"),
        ("answer-given-away", "what_is_the_callbackcontext_obje"),
        ("answer-given-away", "which_llmagent_parameter_type_st"),
        ("template-leak", "how_do_you_enable_codeexecutiont"),
    ]


class TestTextNamesMissingCode:
    CODE = "text-names-missing-code"

    def lint(self, folder: Path, text: str) -> list[Any]:
        code = """
            def helper(): ...
            # --8<-- [start:part]
            runner = Runner(app)
            runner.start()
            # --8<-- [end:part]
            """
        write(folder / "code.py", code)
        reference = {"file": "code.py", "section": "part"}
        return found(folder, choice(question=text, code_snippet_ref=reference), code=self.CODE)

    @pytest.mark.parametrize(
        "text",
        [
            "The snippet calls `runner.stop()`. What is printed?",
            "The code above uses `Launcher(app)`. What happens?",
            "This example creates a `Session()`. Which class is it?",
            "What does `launch()` called in the snippet return?",
        ],
    )
    def test_a_name_that_the_code_is_said_to_have_is_missed(
        self, tmp_path: Path, text: str
    ) -> None:
        (one,) = self.lint(tmp_path, text)
        assert "the snippet has no such name" in one.message

    @pytest.mark.parametrize(
        "text",
        [
            "The snippet calls `runner.start()`. What is printed?",
            "The code uses `helper()`. What is printed?",
            "Which method does `Runner.stop()` call?",
            "What happens if the snippet calls `runner.stop()`?",
            "The code should use `Launcher()`. Why?",
            "The snippet does not call `runner.stop()`. What happens?",
            "Which of these replaces `launch()`?",
            "The snippet uses a `with` statement around nothing. The library calls `close()`.",
            "The snippet uses an `async for`. What is printed?",
            "The snippet uses `Launcher` semantics. What is printed?",
        ],
    )
    def test_other_mentions_are_left_alone(self, tmp_path: Path, text: str) -> None:
        assert self.lint(tmp_path, text) == []

    def test_the_public_suites_have_none(self) -> None:
        assert not [one for one in lint_suites(real_suites()) if one.code == self.CODE]


class TestContradictionsAcrossFiles:
    CODE = "same-statement-keyed-differently"
    OPTIONS: ClassVar = {"A": "Alpha", "B": "Beta", "C": NONE}

    def lint(self, folder: Path, first: dict[str, Any], second: dict[str, Any]) -> list[Any]:
        one = write_suite(folder / "one.json", choice("one", question="Which one?", **first))
        two = write_suite(folder / "two.json", choice("two", question="Which one ?", **second))
        return [each for each in lint_suites(read_suites([one, two])) if each.code == self.CODE]

    def test_both_places_are_named(self, tmp_path: Path) -> None:
        options = self.OPTIONS
        first, second = self.lint(
            tmp_path,
            {"options": options, "correct_answer": "A"},
            {"options": options, "correct_answer": "B"},
        )
        assert (first.case, second.case) == ("one", "two")
        assert "two.json" in first.message
        assert "one.json" in second.message

    def test_a_key_that_speaks_of_the_others_counts_where_all_options_are_equal(
        self, tmp_path: Path
    ) -> None:
        options = self.OPTIONS
        found = self.lint(
            tmp_path,
            {"options": options, "correct_answer": "A"},
            {"options": options, "correct_answer": "C"},
        )
        assert {one.case for one in found} == {"one", "two"}

    def test_other_options_or_the_same_key_are_no_contradiction(self, tmp_path: Path) -> None:
        options = self.OPTIONS
        other = {"A": "Gamma", "B": "Delta", "C": NONE}
        shuffled = {"A": "Beta", "B": "Alpha", "C": NONE}
        keyed = {"options": options, "correct_answer": "A"}
        assert not self.lint(tmp_path, keyed, {"options": other, "correct_answer": "C"})
        assert not self.lint(tmp_path, keyed, {"options": shuffled, "correct_answer": "B"})

    def test_a_run_notes_it_on_both_questions(self, tmp_path: Path) -> None:
        options = self.OPTIONS
        for name, key in (("one", "A"), ("two", "B")):
            question = choice(name, question="Which one?", options=options, correct_answer=key)
            write_suite(tmp_path / f"{name}.json", question, target="current:pydantic")
        suites = tuple(str(tmp_path / f"{name}.json") for name in ("one", "two"))
        work = select(Selection(suites, str(tmp_path)))
        assert "two.json" in work[0].notes[0]
        assert "keys what is B here" in work[0].notes[0]
        assert "one.json" in work[1].notes[0]
