"""Code of a question that imports what the target does not have is told, and repaired if plain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay import questions
from tests.questions.suite_support import choice, write, write_suite

OPTIONS = {"A": "1", "B": "2", "C": "3"}


def ask(code: str, text: str = "What does this code print?", **fields: Any) -> dict[str, Any]:
    fields.setdefault("options", OPTIONS)
    return choice(question=f"{text}\n\n```python\n{code}\n```\n", **fields)


def lint(folder: Path, question: dict[str, Any]) -> list[str]:
    """Lint a question on what is installed; return message and advice of `broken-snippet`."""
    suite = write_suite(folder / "suite.json", question, target="current")
    found = questions.lint(suite)
    return [f"{one.message}; {one.advice}" for one in found if one.code == "broken-snippet"]


@pytest.mark.parametrize(
    ("statement", "advice"),
    [
        ("from jinja2 import StrictUndefind", "did you mean `jinja2.StrictUndefined`?"),
        ("from jinja2.utils import FileSystemLoader", "`from jinja2.loaders import"),
        ("from packaging.version import SpecifierSet", "`from packaging.specifiers import"),
        ("import idna.cor", "did you mean `idna.core`?"),
        ("from rich.tables import Table", "did you mean `from rich.table import Table`?"),
        ("from click.cores import Zzzz", "correct it"),
    ],
)
def test_a_broken_import_is_told_with_the_nearest_name(
    tmp_path: Path, statement: str, advice: str
) -> None:
    (told,) = lint(tmp_path, ask(f"import json\n{statement}\nprint(1)"))
    assert told.startswith(f"`{statement}` cannot be resolved; ")
    assert advice in told


def test_the_place_of_one_in_a_section_is_its_line(tmp_path: Path) -> None:
    code = "import json\nfrom jinja2 import Nothing\n# --8<-- [start:x]\nprint(Nothing)\n"
    write(tmp_path / "code.py", f"{code}# --8<-- [end:x]\n")
    question = choice(code_snippet_ref={"file": "code.py", "section": "x"}, options=OPTIONS)
    suite = write_suite(tmp_path / "suite.json", question, target="current")
    (one,) = (one for one in questions.lint(suite) if one.code == "broken-snippet")
    assert (one.place.file.name, one.place.line) == ("code.py", 2)


BROKEN = "from jinja2 import Nothing\nprint(1)"


@pytest.mark.parametrize(
    "question",
    [
        # The imports are right, may be made at run time, or are of what is not installed.
        ask("from jinja2 import Template\nfrom packaging.version import Version\nprint(1)"),
        ask("from jinja2 import loaders\nimport packaging.tags as t\nprint(1)"),
        ask("from pydantic import NoSuchName\nprint(1)"),
        ask("from absent_package import Anything\nprint(1)"),
        ask("from google.cloud_of_somebody import Anything\nprint(1)"),
        # A failure is provided for.
        ask("try:\n    from jinja2 import Nothing\nexcept ImportError:\n    print(1)"),
        ask("import pytest\nwith pytest.raises(ImportError):\n    from jinja2 import Nothing"),
        # The question is about the failure.
        ask(BROKEN, "Which exception does this code raise?"),
        ask(BROKEN, "Why does this fail?"),
        ask(BROKEN, "Which import is wrong?"),
        ask(BROKEN, options={"A": "1", "B": "ImportError", "C": "2"}),
        ask(BROKEN, options={"A": "1", "B": "It raises an exception", "C": "2"}),
        # What is no Python, and what an option shows.
        ask("from jinja2 import Nothing ->"),
        choice(options={"A": "`from jinja2 import Nothing`", "B": "1", "C": "2"}),
    ],
)
def test_a_sound_question_is_not_accused(tmp_path: Path, question: dict[str, Any]) -> None:
    assert lint(tmp_path, question) == []


def verify(folder: Path, target: str, question: dict[str, Any]) -> dict[str, Any]:
    suite = write_suite(folder / "suite.json", question, target=target)
    (record,) = questions.verify(suite, out=folder / "run").records()
    assert isinstance(record.detail, dict)
    return {"verdict": record.detail["verdict"], "notes": record.detail["notes"]}


@pytest.mark.parametrize(
    ("target", "code", "moved", "keys"),
    [
        (
            "current:jinja2",
            "from jinja2.utils import StrictUndefined\nprint(StrictUndefined.__mro__[1].__name__)",
            "from jinja2 import StrictUndefined",
            ("Undefined", "Template"),
        ),
        (
            "current:packaging",
            "import json\nfrom packaging.version import (\n    Version,\n"
            "    SpecifierSet as S,\n)\nprint(len(S('>1,<2')), Version('1'))",
            "from packaging.specifiers import SpecifierSet as S",
            ("2 1", "1 1"),
        ),
        (
            "current:rich",
            "def main():\n    from rich.tables import Table\n    print(Table().row_count)",
            "from rich.table import Table",
            ("0", "1"),
        ),
    ],
)
def test_code_runs_with_the_only_place_of_a_name_and_the_record_says_so(
    tmp_path: Path, target: str, code: str, moved: str, keys: tuple[str, str]
) -> None:
    options = {"A": f"`{keys[0]}`", "B": f"`{keys[1]}`"}
    asked = "What does this code print when `main()` is called?" if "main" in code else None
    question = ask(code, *([asked] if asked else []), options=options)
    found = verify(tmp_path, target, question)
    assert found["verdict"] == "Valid"
    (note,) = found["notes"]
    assert note.startswith("broken-snippet: `from ")
    assert note.endswith(f"the code is run with `{moved}`")


def test_a_name_with_two_places_or_none_is_only_told(tmp_path: Path) -> None:
    for number, name in enumerate(("Parsed", "overlays")):
        folder = tmp_path / str(number)
        folder.mkdir()
        found = verify(folder, "current:jinja2", ask(f"from jinja2.utils import {name}\nprint(1)"))
        assert found["verdict"] == "Unproven"
        (note,) = found["notes"]
        assert note.startswith(f"broken-snippet: `from jinja2.utils import {name}` cannot")
        assert "is run with" not in note


def test_verification_says_nothing_where_the_question_is_about_the_failure(tmp_path: Path) -> None:
    options = {"A": "`ImportError`", "B": "`ValueError`", "C": "No exception"}
    question = ask(BROKEN, "Which exception does this code raise?", options=options)
    found = verify(tmp_path, "current:jinja2", question)
    assert found["notes"] == []
    assert found["verdict"] in ("Valid", "Unproven")
