"""Lint: every code is found in a folder that has it, and nothing is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.submissions.lint_rules import RULES, lint_problems
from assay.submissions.problems import read_problem
from tests.submissions.support import write_files

CONFIG = """
entry_file: main
checkpoints:
  one:
    groups: {core: {type: Core}}
"""
CASES = "cases:\n  a:\n    expected: {status_code: 0}\n"
LOADER = """
from slop_code.evaluation.loaders import BaseLoader

raise RuntimeError("lint must not run this")

class Loader(BaseLoader):
    def __call__(self, group, store):
        yield
"""
VERIFIER = """
raise RuntimeError("lint must not run this")

class Verifier:
    def __init__(self, checkpoint_config):
        pass

    def __call__(self, group_name, case_name, actual, expected):
        return {}
"""


def canonical(folder: Path, **changed: str) -> Path:
    files = {"config.yaml": CONFIG, "one/spec.md": "x", "one/core.yaml": CASES}
    return write_files(folder, {**files, **changed})


def programmed(folder: Path, loader: str = LOADER, verifier: str = VERIFIER) -> Path:
    return canonical(folder, **{"loader.py": loader, "verifier.py": verifier})


def told(folder: Path) -> list[str]:
    return [
        f"{one.place.file.relative_to(folder)}:{one.place.line} {one.code} {one.message}"
        for one in lint_problems([folder])
    ]


def test_good_folders_have_no_findings(tmp_path: Path) -> None:
    assert told(canonical(tmp_path / "canonical")) == []
    assert told(programmed(tmp_path / "programmed")) == []


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("config.yaml", "a: [\n", "config.yaml:2 unreadable"),
        ("config.yaml", CONFIG + "typo: 1\n", "config.yaml:5 unknown-key"),
        ("config.yaml", CONFIG.replace("Core", "Cor"), "config.yaml:4 wrong-value"),
        ("config.yaml", CONFIG + "    regressions: [none]\n", "config.yaml:5 unknown-name"),
        ("config.yaml", CONFIG + "static_assets: {a: b}\n", "config.yaml:5 missing-file"),
        ("config.yaml", CONFIG.replace("{core: {type: Core}}", "{}"), "config.yaml:4 no-cases"),
        ("one/core.yaml", CASES.replace("0", "{check: x, value: 1}"), "one/core.yaml:3 wrong-c"),
        ("one/core.yaml", CASES.replace("status_code: 0", "output: x"), "one/core.yaml:3 unver"),
        ("one/core.yaml", CASES.replace("0", "'{{static:a}}'"), "one/core.yaml:3 unknown-name"),
        (
            "config.yaml",
            CONFIG + "adapter: {type: api, arguments: ['{{static:a}}']}\n",
            "config.yaml:5 unknown-name",
        ),
        ("one/errors.yaml", CASES, "one/errors.yaml:1 unknown-name"),
    ],
)  # fmt: skip
def test_each_mistake_is_found_where_it_stands(
    tmp_path: Path, file: str, text: str, said: str
) -> None:
    findings = told(canonical(tmp_path, **{file: text}))
    assert any(one.startswith(said) for one in findings), findings


@pytest.mark.parametrize(
    ("loader", "said"),
    [
        ("x = (", "loader.py:1 unreadable is not valid Python"),
        ("class Loadr: ...", "loader.py:1 wrong-signature defines no class Loader"),
        ("class Loader: ...", "loader.py:1 wrong-signature Loader has no __call__"),
        (LOADER.replace("group, store", "group"), "loader.py:6 wrong-signature Loader.__call__"),
        (LOADER.replace("group, store", "group, store, more"), "needs `more`"),
    ],
)  # fmt: skip
def test_loaders_are_read_and_not_run(tmp_path: Path, loader: str, said: str) -> None:
    assert any(said in one for one in told(programmed(tmp_path, loader=loader)))


@pytest.mark.parametrize(
    ("verifier", "said"),
    [
        (VERIFIER.replace("Verifier", "MyVerifier"), "defines no class Verifier"),
        (VERIFIER.replace("self, checkpoint_config", "self"), "takes 0 arguments, and is given 1"),
        (VERIFIER.replace("case_name", "name"), "Verifier.__call__ does not take `case_name`"),
    ],
)
def test_verifiers_are_read_and_not_run(tmp_path: Path, verifier: str, said: str) -> None:
    assert any(said in one for one in told(programmed(tmp_path, verifier=verifier)))


@pytest.mark.parametrize(
    "verifier",
    [
        VERIFIER.replace("group_name, case_name, actual, expected", "**given"),
        VERIFIER.replace("actual, expected", "actual, expected, strict=True"),
        "from .shared import Verifier\n",
        "from shared import *\n",
        "class Base: ...\nclass Verifier(Base): ...\n",
    ],
)
def test_what_cannot_be_told_is_not_accused(tmp_path: Path, verifier: str) -> None:
    assert told(programmed(tmp_path, verifier=verifier)) == []


def test_a_folder_without_a_verifier_is_told(tmp_path: Path) -> None:
    folder = programmed(tmp_path)
    (folder / "verifier.py").unlink()
    assert told(folder) == ["verifier.py:1 missing-file does not exist"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("verifier.py", "raise RuntimeError\n"),
        ("verifier.py", VERIFIER),
        ("verifer.py", ""),
        ("Verifiers.py", ""),
        ("loaders.py", ""),
        ("lodaer.py", ""),
        ("verify.py", VERIFIER),
        ("one/verifier.py", VERIFIER),
        ("one/loader.py", "class Loader: ...\n"),
    ],
)
def test_code_that_nobody_calls_is_refused_where_cases_have_no_loader(
    tmp_path: Path, name: str, text: str
) -> None:
    folder = canonical(tmp_path, **{name: text})
    assert [one.partition(", because")[0] for one in told(folder)] == [
        f"{name}:1 unverified this file is not used"
    ]
    with pytest.raises(
        InputError, match=r"put loader\.py, .* and verifier\.py beside config\.yaml"
    ):
        read_problem(folder)


@pytest.mark.parametrize("name", ["reader.py", "header.py", "one/loader.py", "one/verifier.py"])
def test_other_code_beside_cases_is_nobodys_verifier(tmp_path: Path, name: str) -> None:
    # In a checkpoint it may be a file that cases are given.
    assert told(canonical(tmp_path, **{name: "x = 1\n"})) == []


@pytest.mark.parametrize(
    ("key", "line"), [("loader_script: lod.py", 1), ("loader_entrypoint: Loader", 1)]
)
def test_a_loader_that_is_named_and_not_there_is_missing(
    tmp_path: Path, key: str, line: int
) -> None:
    folder = canonical(tmp_path, **{"config.yaml": f"{key}\n{CONFIG.lstrip()}", "load.py": ""})
    assert told(folder)[0].startswith(f"config.yaml:{line} missing-file `{key.split(':')[0]}`")


def test_a_loader_beside_another_that_is_used_is_told(tmp_path: Path) -> None:
    config = f"loader_script: cases.py\n{CONFIG.lstrip()}"
    folder = programmed(tmp_path)
    write_files(folder, {"config.yaml": config, "cases.py": LOADER})
    assert told(folder) == [
        "loader.py:1 unverified this file is not used, because `loader_script` is cases.py"
    ]
    (folder / "cases.py").write_text("from .loader import Loader\n")
    assert told(folder) == []


def test_a_missing_file_is_told_with_the_one_that_may_be_it(tmp_path: Path) -> None:
    folder = programmed(tmp_path)
    (folder / "verifier.py").rename(folder / "verifer.py")
    (finding,) = lint_problems([folder])
    assert "did you mean 'verifer.py'?" in finding.advice


TWICE = """
entry_file: main
checkpoints:
  one:
    timeout: 3
    groups:
      core: {type: Error}
      core: {type: Core}
    timeout: 7
"""


def test_a_key_that_stands_twice_is_a_finding_and_the_last_one_is_used(
    tmp_path: Path,
) -> None:
    folder = programmed(tmp_path)
    write_files(folder, {"config.yaml": TWICE})
    findings = lint_problems([folder])
    assert [(one.code, one.severity, one.place.line) for one in findings] == [
        ("unreadable", "warning", 7),
        ("unreadable", "warning", 8),
    ]
    warned: list[str] = []
    found = read_problem(folder, lambda finding: warned.append(str(finding.place.line)))
    assert (found.checkpoints["one"].timeout, warned) == (7, ["7", "8"])
    assert found.checkpoints["one"].groups["core"].type == "Core"
    # Cases of our own format were never run so by anybody: there it is a mistake as before.
    with pytest.raises(InputError, match="occurs twice"):
        read_problem(canonical(tmp_path / "canonical", **{"config.yaml": TWICE}))


def test_checkpoints_that_stand_twice_keep_the_order_of_the_first(tmp_path: Path) -> None:
    stages = "".join(f"  {name}: {{groups: [a], timeout: {n}}}\n" for n, name in TWO_OF_ONE)
    folder = programmed(tmp_path)
    write_files(folder, {"config.yaml": f"entry_file: main\ncheckpoints:\n{stages}"})
    found = read_problem(folder).checkpoints.values()
    assert [(one.name, one.order, one.timeout) for one in found] == [("one", 1, 3), ("two", 2, 2)]


TWO_OF_ONE = ((1, "one"), (2, "two"), (3, "one"))


def test_findings_are_told_in_three_formats(tmp_path: Path) -> None:
    folder = canonical(tmp_path, **{"config.yaml": CONFIG + "typo: 1\n"})
    findings = lint_problems([folder])
    assert "1 error\n" in findings.report("text")
    assert json.loads(findings.report("json"))["findings"][0]["line"] == 5
    sarif = json.loads(findings.report("sarif"))
    assert sarif["runs"][0]["results"][0]["ruleId"] == "unknown-key"
    assert not lint_problems([folder], ignore=["unknown-key"])
    with pytest.raises(InputError, match="unknown lint code"):
        lint_problems([folder], ignore=["typo"])


def test_every_code_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "problems.md").read_text(encoding="utf-8")
    for code in RULES:
        assert f"`{code}`" in page
