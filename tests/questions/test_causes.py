"""The causes of wrong verdicts that the language of claims removed, each by the real command.

Nothing here depends on names inside Assay, so that the file can be run with any version of it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LIMIT = 600


def assay(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `assay` in the interpreter and with the import path of the test."""
    path = os.pathsep.join(one for one in sys.path if one)
    return subprocess.run(
        [sys.executable, "-m", "assay", *map(str, words)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )


def write_suite(folder: Path, name: str, target: str, *questions: dict[str, Any]) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"target": target, "benchmarks": questions}))
    return path


def choice(name: str, text: str, key: str, **options: str) -> dict[str, Any]:
    return {"id": name, "question": text, "options": options, "correct_answer": key}


def api(name: str, text: str, answer: str, *paths: str) -> dict[str, Any]:
    given = {"answer_template": "StringMatchAnswer", "answer": answer}
    return {
        "id": name,
        "question": text,
        "benchmark_type": "api_understanding",
        "answers": [{**given, "fully_qualified_class_name": list(paths)}],
    }


# --- 1: a class that is handed over is no member of what it is handed to --------------------------

HANDED_OVER = {
    "httpx": [
        choice(
            "handed-client",
            "How do you limit how long a request may take?",
            "A",
            A="Pass a `Timeout` to the `Client`",
            B="Call `Client.set_time_limit`",
            C="Call `Client.expire_after`",
        )
    ],
    "jinja2": [
        choice(
            "handed-environment",
            "How do you decide where templates come from?",
            "A",
            A="Give a `FileSystemLoader` to the `Environment`",
            B="Call `Environment.use_folder`",
            C="Call `Environment.search_in`",
        )
    ],
    "click": [
        choice(
            "handed-command",
            "How do you restrict what a command takes?",
            "A",
            A="Hand an `IntRange` to the `Option`",
            B="Call `Option.only_between`",
            C="Call `Option.clamp_to`",
        )
    ],
}

# --- 2: code that only defines a function has done nothing until it is called ---------------------


def defined(name: str, code: str, raised: str = "ValueError") -> dict[str, Any]:
    """A question with a wrong key: the function raises as soon as it is called."""
    text = f"Which exception does this code raise when it runs?\n\n```python\n{code}\n```\n"
    return choice(name, text, "C", A="`KeyError`", B=f"`{raised}`", C="No exception is raised")


DEFINED = {
    "packaging": [
        defined(
            "defined-version",
            "from packaging.version import Version\n\ndef main():\n    return Version('not one')",
        )
    ],
    "idna": [
        defined("defined-domain", "import idna\n\ndef encode_it():\n    return idna.encode('a..b')")
    ],
    "jinja2": [
        defined(
            "defined-template",
            "from jinja2 import Template\n\nasync def main():\n    return Template('{% if %}')",
            "jinja2.TemplateSyntaxError",
        )
    ],
}

# --- 6: the answer of an API question is tested, not only its class -------------------------------

ANSWERS = {
    "httpx": [
        api("api-gone", "Which method closes a client?", "shut_down", "httpx.Client.shut_down"),
        api("api-there", "Which method closes a client?", "close", "httpx.Client.close"),
    ],
    "click": [
        api("api-gone-2", "Which class is a command?", "Comand", "click.Comand"),
    ],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every question of causes 1, 2 and 6, verified once, by its id."""
    folder = tmp_path_factory.mktemp("causes")
    suites = [
        write_suite(folder, f"{cause}-{package}", f"current:{package}", *questions)
        for cause, asked in (("1", HANDED_OVER), ("2", DEFINED), ("6", ANSWERS))
        for package, questions in asked.items()
    ]
    result = assay("questions", "verify", *suites, "--out", folder / "run", cwd=folder)
    assert result.returncode in (0, 1), result.stderr
    report = json.loads((folder / "run" / "quality_report.json").read_text())
    return {one["id"].rpartition("::")[2]: one for one in report["questions"]}


@pytest.mark.parametrize("name", ["handed-client", "handed-environment", "handed-command"])
def test_cause_1_what_is_handed_over_is_no_member(
    found: dict[str, dict[str, Any]], name: str
) -> None:
    assert found[name]["verdict"] != "Incorrect"
    assert found[name]["options"]["A"]["state"] != "FAILS"
    assert found[name]["options"]["B"]["state"] == "FAILS"


@pytest.mark.parametrize("name", ["defined-version", "defined-domain", "defined-template"])
def test_cause_2_a_function_that_is_only_defined_is_called(
    found: dict[str, dict[str, Any]], name: str
) -> None:
    assert found[name]["verdict"] == "Incorrect"
    assert found[name]["options"]["C"]["state"] == "FAILS"


@pytest.mark.parametrize(
    ("name", "nearest"), [("api-gone", "httpx.Client"), ("api-gone-2", "click.Command")]
)
def test_cause_6_an_answer_that_is_not_there_is_incorrect(
    found: dict[str, dict[str, Any]], name: str, nearest: str
) -> None:
    assert found[name]["verdict"] == "Incorrect"
    assert nearest in found[name]["reason"]
    assert found["api-there"]["verdict"] == "Unproven"


# --- 3: a stored proof is believed only as long as it is the one that was taken in ----------------


def test_cause_3_an_edited_proof_is_named_and_decides_nothing(tmp_path: Path) -> None:
    text = "Which of these can be imported from `packaging.version`?"
    options = {"A": "`LegacyVersion`", "B": "`OldVersion`", "C": "`InvalidVersion`"}
    suite = write_suite(
        tmp_path, "edited", "current:packaging", choice("one", text, "A", **options)
    )
    first = assay("questions", "verify", suite, "--out", tmp_path / "first", cwd=tmp_path)
    assert first.returncode == 1
    assert "Incorrect" in first.stdout
    files = {one.name[12]: one for one in tmp_path.rglob("test_option_?.py")}
    assert files.keys() >= {"A", "C"}
    # What is there for what is not, and the other way round: the wrong key now looks right.
    for name, (old, new) in {
        "A": ("LegacyVersion", "InvalidVersion"),
        "C": ("InvalidVersion", "LegacyVersion"),
    }.items():
        files[name].write_text(files[name].read_text().replace(old, new))
    again = assay("questions", "verify", suite, "--out", tmp_path / "again", cwd=tmp_path)
    report = json.loads((tmp_path / "again" / "quality_report.json").read_text())
    assert again.returncode == 2
    assert report["questions"][0]["verdict"] == "Error"
    assert "changed after the proof was taken in" in report["questions"][0]["reason"]


# --- 7: lint looks imports up in the target -------------------------------------------------------


def test_cause_7_lint_knows_the_target_and_not_the_environment_of_assay(tmp_path: Path) -> None:
    package = tmp_path / "library" / "idna"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("class OnlyInTheTarget: ...\n")
    about = '[project]\nname = "x"\nversion = "1"\n'
    (tmp_path / "library" / "pyproject.toml").write_text(about)
    # Both Assay's environment and the target have an `idna`; each has one of the names.
    for name, is_told in (("OnlyInTheTarget", False), ("encode", True)):
        code = f"from idna import {name}\n# --8<-- [start:x]\nprint(1)\n# --8<-- [end:x]\n"
        (tmp_path / "code.py").write_text(code)
        question = choice("one", "What is printed?", "A", A="1", B="2", C="3")
        question["code_snippet_ref"] = {"file": "code.py", "section": "x"}
        suite = write_suite(tmp_path, "linted", "./library", question)
        result = assay("questions", "lint", suite, cwd=tmp_path)
        assert ("cannot be resolved" in result.stdout) is is_told, result.stdout


# --- 8: calibration says what it does not measure -------------------------------------------------


def test_cause_8_questions_that_stay_open_lower_the_recall_of_the_suite(tmp_path: Path) -> None:
    sound = choice(
        "sound", "Which of these can be imported from `packaging.version`?", "A",
        A="`InvalidVersion`", B="`OldVersion`", C="`AncientVersion`",
    )  # fmt: skip
    vague = choice(
        "vague", "Why do versions have parts?", "A",
        A="So that they can be compared", B="For decoration", C="By accident",
    )  # fmt: skip
    suite = write_suite(tmp_path, "measured", "current:packaging", sound, vague)
    words = ("questions", "calibrate", suite, "--mutants", 6, "--out", tmp_path / "run")
    told = " ".join(assay(*words, cwd=tmp_path).stdout.split())
    assert "suite recall" in told
    # The row of all defects has the recall, the precision and the recall of the suite.
    share = r"(\d+)% \([^)]*\) "
    row = re.search(rf"\ball [\d ]+ {share}\d+% \([^)]*\) (\d+)%", told)
    assert row, told
    assert int(row[2]) < int(row[1])
