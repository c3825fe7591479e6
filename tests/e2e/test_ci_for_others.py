"""What others use in their CI: the action, the GitLab template and the pre-commit hooks."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import Command

_ROOT = Path(__file__).parents[2]
_BIN = Path(sys.executable).parent

EVALUATION = """
import assay

CASES = [("one", "ONE"), ("two", "two")]
evaluation = assay.Evaluation(CASES, str.upper, check="exact")
"""


def _run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a step as a CI service does, with `assay` and `python` of this environment."""
    kept = {name: os.environ[name] for name in ("HOME", "ASSAY_CACHE") if name in os.environ}
    path = f"{_BIN}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env={**kept, "PATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def _use_action(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the step `verify` of the action with its inputs, as GitHub puts them in."""
    action = yaml.safe_load((_ROOT / "action.yml").read_text())
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()} | given
    (step,) = (one for one in action["runs"]["steps"] if one.get("id") == "verify")
    context = {f"inputs.{name}": value for name, value in inputs.items()}
    context["github.action_path"] = str(_ROOT)
    assert "${{" not in step["run"]
    variables = {
        name: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: context[found[1]], text)
        for name, text in step["env"].items()
    }
    summary, output = folder / "summary.md", folder / "output"
    return _run(
        step["run"],
        folder,
        **variables,
        GITHUB_STEP_SUMMARY=str(summary),
        GITHUB_OUTPUT=str(output),
    )


def test_the_action_fails_a_regression_and_passes_what_the_baseline_knows(tmp_path: Path) -> None:
    (tmp_path / "upper.py").write_text(EVALUATION)
    failed = _use_action(tmp_path, subject="run", paths="upper.py")
    assert (failed.returncode, "Failed: 1 of 2 cases passed" in failed.stdout) == (1, True), failed
    assert (tmp_path / "output").read_text() == "exit-code=1\n"
    assert "1 of 2 cases passed" in (tmp_path / "summary.md").read_text()
    names = {file.name for file in (tmp_path / "assay-run.reports").iterdir()}
    assert names == {"junit.xml", "report.html"}

    known = _run("assay run upper.py --out known --write-baseline known.json", tmp_path)
    assert known.returncode == 0, known
    passed = _use_action(
        tmp_path, subject="run", paths="upper.py", baseline="known.json", out="again"
    )
    assert passed.returncode == 0, passed
    assert (tmp_path / "output").read_text().endswith("exit-code=0\n")


def test_the_action_finds_a_planted_defect_in_questions(assay: Command, tmp_path: Path) -> None:
    assay("questions", "new", "mine")
    suite = tmp_path / "mine" / "suite.yaml"
    suite.write_text(suite.read_text().replace("correct_answer: B  ", "correct_answer: C  "))
    found = _use_action(
        tmp_path,
        subject="questions",
        paths="mine/suite.yaml",
        arguments="--case\nimport-*\n--proofs\nproofs",
    )
    assert found.returncode == 1, found
    sarif = json.loads((tmp_path / "assay-run.reports" / "findings.sarif").read_text())
    (result,) = sarif["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert place.endswith("mine/suite.yaml")


@pytest.mark.parametrize(
    "given",
    [{"subject": "question"}, {"subject": "run", "paths": "$(touch stolen)\n`touch stolen`"}],
)
def test_inputs_are_words_and_wrong_ones_are_wrong_input(
    given: dict[str, str], tmp_path: Path
) -> None:
    refused = _use_action(tmp_path, **given)
    assert refused.returncode == 2, refused
    assert not (tmp_path / "stolen").exists()


def test_the_gitlab_job_runs_the_same_script(tmp_path: Path) -> None:
    job: dict[str, Any] = yaml.safe_load((_ROOT / "ci" / "gitlab.yml").read_text())[".assay"]
    (tmp_path / "upper.py").write_text(EVALUATION)
    (tmp_path / "assay-source").symlink_to(_ROOT)
    script = "\n".join(job["script"])
    done = _run(
        script, tmp_path, ASSAY_SUBJECT="run", ASSAY_PATHS="upper.py", ASSAY_OUT="assay-run"
    )
    assert done.returncode == 1, done
    for path in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]):
        assert (tmp_path / path).exists(), path
    unset = _run(job["before_script"][0], tmp_path, ASSAY_SOURCE="")
    assert (unset.returncode, "set ASSAY_SOURCE" in unset.stderr) == (2, True)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with what pre-commit clones: the hooks and the package."""
    place = tmp_path_factory.mktemp("hooks")
    for name in (".pre-commit-hooks.yaml", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(_ROOT / name, place / name)
    shutil.copytree(
        _ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
    )
    _commit(place)
    return place


def _commit(folder: Path) -> str:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        done = subprocess.run(
            ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "--message", "All of it")
    return git("rev-parse", "HEAD")


def test_pre_commit_finds_planted_defects_and_passes_without_them(
    hooks: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for subject in ("questions", "agents", "submissions"):
        made = _run(f"assay {subject} new my_{subject}", project)
        assert made.returncode == 0, made
    wanted = [
        {"id": "assay-questions-lint", "args": ["my_questions"]},
        {"id": "assay-agents-lint", "args": ["my_agents"]},
        {"id": "assay-submissions-lint", "args": ["my_submissions"]},
    ]
    version = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=hooks, check=True, capture_output=True, text=True
    ).stdout.strip()
    config = {"repos": [{"repo": str(hooks), "rev": version, "hooks": wanted}]}
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    _commit(project)
    kept = {"PRE_COMMIT_HOME": str(tmp_path / "kept")}
    passed = _run("pre-commit run --all-files", project, **kept)
    assert (passed.returncode, passed.stdout.count("Passed")) == (0, 3), passed

    suite = project / "my_questions" / "suite.yaml"
    suite.write_text(suite.read_text().replace("correct_answer: B  ", "correct_answer: Z  "))
    conversation = project / "my_agents" / "conversation.hocon"
    conversation.write_text(conversation.read_text().replace('"keywords"', '"kewords"', 1))
    problem = project / "my_submissions" / "config.yaml"
    problem.write_text(problem.read_text().replace("timeout: 10", "timeout: soon"))
    found = _run("git add -A && pre-commit run", project, **kept)
    assert (found.returncode, found.stdout.count("Failed")) == (1, 3), found
    assert "key-not-an-option" in found.stdout
    assert "kewords" in found.stdout
    assert "timeout" in found.stdout
