"""A package from outside adds one of each kind of plugin, and the real command uses them."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from assay import plugins
from assay.errors import InputError
from tests.conftest import Command

EXAMPLE = Path(__file__).parent / "example"


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the example package where Python finds it, here and in the command."""
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLE))


def test_the_command_lists_what_is_installed_and_names_what_is_broken(assay: Command) -> None:
    listed = assay("plugins")
    assert listed.returncode == 1
    assert "assay-example 1.0" in listed.stdout
    assert "the check 'broken' cannot be imported: ModuleNotFoundError" in listed.stdout
    found = json.loads(assay("plugins", "--json").stdout)["plugins"]
    assert {one["kind"] for one in found} == set(plugins.KINDS)
    assert [one["name"] for one in found if one["problem"]] == ["broken"]


def test_a_check_and_a_report_and_an_engine(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(
        "import assay\n"
        "cases = [('Anna', False), ('otto', True)]\n"
        "evaluation = assay.Evaluation(cases, str, check='palindrome')\n"
    )
    result = assay("run", "words.py", "--engine", "counting", "--report", "names=names.txt")
    assert result.returncode == 0, result.stderr
    assert "counting engine: evaluation" in result.stderr
    assert (tmp_path / "names.txt").read_text() == "Anna\notto\n"
    assert assay("report", "latest", "--format", "names").stdout == "Anna\notto\n"
    assert "palindrome" in assay("checks").stdout


def test_lint_rules_of_every_subject(assay: Command, tmp_path: Path) -> None:
    question = {"id": "a", "question": "Why?", "options": {"A": "x", "B": "y"}}
    suite = {"benchmarks": [{**question, "correct_answer": "A"}]}
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    (tmp_path / "test.hocon").write_text(
        "agent: a, interactions: [{text: hi, response.text.keywords: b}]"
    )
    assert assay("submissions", "new", "problem").returncode == 0
    linted = assay("questions", "lint", "suite.json")
    assert (linted.returncode, "warning: short-question" in linted.stdout) == (1, True)
    assert assay("questions", "lint", "suite.json", "--ignore", "short-question").returncode == 0
    assert "note: no-greeting" in assay("agents", "lint", "test.hocon").stdout
    assert "note: no-readme" in assay("submissions", "lint", "problem").stdout


def test_a_connection(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "test.hocon").write_text(
        "agent: bird, connections: parrot\n"
        'interactions: [{text: hello, response.text.value: "hello! hello!"}]'
    )
    result = assay("agents", "verify", "test.hocon")
    assert result.returncode == 0, result.stdout + result.stderr


PROBLEM = {
    "config.yaml": "entry_file: greet\nadapter: {adapter}\ncheckpoints: [one]\n",
    "one/config.yaml": "groups: [people]\n",
    "one/spec.md": "Greet everybody.\n",
    "one/people.yaml": """cases:
  two:
    arguments: [Ann, Bob]
    expected: {status_code: 0, output: "ahoy Ann\\nahoy Bob\\n"}
""",
}
PROGRAM = 'while read name; do echo "$GREETING $name"; done\n'


def write_problem(folder: Path, adapter: str) -> None:
    for name, text in PROBLEM.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("{adapter}", adapter))


def test_an_adapter_and_an_environment(assay: Command, tmp_path: Path) -> None:
    write_problem(tmp_path / "greetings", "lines")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/greet.sh").write_text(PROGRAM)
    (tmp_path / "shell.yaml").write_text("type: shell\nshell: {greeting: ahoy}\n")
    assert assay("submissions", "lint", "greetings").returncode == 0
    result = assay("submissions", "verify", "-s", "mine", "-p", "greetings", "-e", "shell.yaml")
    assert result.returncode == 0, result.stdout + result.stderr
    audited = assay("submissions", "audit", "-s", "mine", "-p", "greetings", "-e", "shell.yaml")
    assert audited.returncode == 0, audited.stdout + audited.stderr
    (tmp_path / "mine/greet.sh").unlink()
    result = assay("submissions", "verify", "-s", "mine", "-p", "greetings", "-e", "shell.yaml")
    assert (result.returncode, "there is no greet.sh" in result.stdout) == (1, True)
    assert '"lines"' in assay("submissions", "schema", "config").stdout


def test_an_unknown_adapter_or_environment_is_named_with_the_nearest(
    assay: Command, tmp_path: Path
) -> None:
    write_problem(tmp_path / "greetings", "{type: linse, port: 1}")
    linted = assay("submissions", "lint", "greetings")
    what = "greetings/config.yaml:2: wrong-value: `adapter`: there is no adapter 'linse'"
    assert (what in linted.stdout, "unknown-key" in linted.stdout) == (True, False)
    assert "did you mean 'lines'? (installed: api, cli, lines)" in linted.stdout
    write_problem(tmp_path / "greetings", "lines")
    (tmp_path / "mine").mkdir()
    (tmp_path / "shell.yaml").write_text("name: x\ntype: shel\n")
    result = assay("submissions", "verify", "-s", "mine", "-p", "greetings", "-e", "shell.yaml")
    assert result.returncode == 2
    assert "shell.yaml:2: `type`: there is no environment 'shel'" in result.stderr
    assert "did you mean 'shell'? (installed: docker, local, podman, shell)" in result.stderr


def test_a_problem_with_code_has_an_adapter_of_a_plugin(assay: Command, tmp_path: Path) -> None:
    write_problem(tmp_path / "greetings", "lines")
    (tmp_path / "greetings/loader.py").write_text(
        "from slop_code.evaluation.adapters import CLICase, CLIResult\n"
        "class Loader:\n"
        "    def __init__(self, problem, checkpoint, use_placeholders): pass\n"
        "    def __call__(self, group, store):\n"
        "        about = {'id': 'two', 'group': group.name}\n"
        "        case = CLICase(**about, arguments=['Ann', 'Bob'])\n"
        "        yield case, CLIResult(**about, output='hello Ann\\nhello Bob\\n')\n"
    )
    (tmp_path / "greetings/verifier.py").write_text(
        "from slop_code.evaluation.verifiers import VerificationResult\n"
        "class Verifier:\n"
        "    def __init__(self, checkpoint): pass\n"
        "    def __call__(self, group_name, case_name, actual, expected):\n"
        "        is_right = actual.output == expected.output\n"
        "        return {'output': VerificationResult.create(actual.output, is_right)}\n"
    )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/greet.sh").write_text(PROGRAM)
    (tmp_path / "shell.yaml").write_text("type: shell\n")
    result = assay("submissions", "verify", "-s", "mine", "-p", "greetings", "-e", "shell.yaml")
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_prover_is_asked_after_our_own() -> None:
    from assay.questions.provers import load_provers

    assert [one.name for one in load_provers()][-1] == "nobody"


def test_what_cannot_be_imported_costs_only_what_asks_for_it(
    assay: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(InputError, match=r"assay-example 1\.0"):
        plugins.find("checks", "broken")
    with caplog.at_level(logging.WARNING, "assay"):
        assert list(plugins.load_all("checks")) == ["palindrome"]
        assert list(plugins.load_all("checks")) == ["palindrome"]
    assert len(caplog.records) <= 1
    (tmp_path / "words.py").write_text(
        "import assay\nevaluation = assay.Evaluation([('a', 'a')], str, check='exact')\n"
    )
    assert assay("run", "words.py", "--quiet").returncode == 0


def test_an_unknown_engine_is_named_with_the_nearest(assay: Command, tmp_path: Path) -> None:
    (tmp_path / "words.py").write_text(
        "import assay\nevaluation = assay.Evaluation([('a', 'a')], str, check='exact')\n"
    )
    result = assay("run", "words.py", "--engine", "countin")
    assert (result.returncode, "did you mean 'counting'?" in result.stderr) == (2, True)
    assert not (tmp_path / ".assay").exists()
