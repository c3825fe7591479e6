"""`assay questions` through the real command: what is stored, replayed, judged and refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.questions.examination import to_stored
from assay.questions.model import Question
from assay.questions.proofs.proving import Trial
from assay.questions.proofs.store import ProofStore
from assay.questions.suite.suite import load_suites
from assay.questions.verdict.option_findings import Settled, Truth
from tests.commands import run_forked
from tests.conftest import Command
from tests.waiting import PATIENCE, wait_until

KEY_CANARY = "KEYCANARY5121"
EXPLANATION_CANARY = "EXPLANATIONCANARY9034"

SUITE = f"""\
target: current
benchmarks:
- id: field
  question: Which parameter of `Field` is used for validation only?
  options:
    A: validation_alias
    B: check_alias
    C: None of the above
  correct_answer: A
  explanation: {EXPLANATION_CANARY}
- id: wrong
  question: Which class does pydantic offer to make models from?
  options:
    A: BaseThing
    B: BaseModel
  correct_answer: A
- id: open
  question: Which one is nicer?
  options:
    A: this
    B: that
  correct_answer: A
"""
PARAMETER = '''\
"""Option {option}: `Field` takes `{name}`."""

import inspect

import pydantic

DISPUTED = "{name}"
INSTEAD = "default"


def test_option_{option}_holds():
    assert DISPUTED in inspect.signature(pydantic.Field).parameters


def test_option_{option}_fails():
    assert DISPUTED not in inspect.signature(pydantic.Field).parameters
'''
CLASS = '''\
"""Option {option}: pydantic has a class `{name}`."""

import pydantic

DISPUTED = "{name}"
INSTEAD = "RootModel"


def test_option_{option}_holds():
    assert hasattr(pydantic, DISPUTED)


def test_option_{option}_fails():
    assert not hasattr(pydantic, DISPUTED)
'''
PROOFS = (
    ("field", "A", PARAMETER, "validation_alias"),
    ("field", "B", PARAMETER, "check_alias"),
    ("wrong", "A", CLASS, "BaseThing"),
    ("wrong", "B", CLASS, "BaseModel"),
)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.yaml"
    path.write_text(SUITE)
    return path


@pytest.fixture(scope="module")
def kept(preloaded: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the suite and a proof for every option of its first two questions."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "suite.yaml").write_text(SUITE)
    for question, option, template, name in PROOFS:
        file = folder / f"test_{question}_{option}.py"
        file.write_text(template.format(option=option, name=name))
        about = (f"suite.yaml::{question}", "--option", option, "--file", file.name)
        words = ("questions", "prove", *about)
        run_forked(preloaded, words, folder, os.environ).check_returncode()
    return folder


@pytest.fixture
def proven(kept: Path, tmp_path: Path) -> Path:
    """The suite with its proofs, in the folder of the test."""
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    return tmp_path / "suite.yaml"


def files(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rebind(suite: Path, case: str, option: str) -> None:
    """Bind an edited proof again as one that holds, without a run."""
    (found,) = load_suites([suite])
    (question,) = (one.question for one in found.entries if one.id == case)
    assert isinstance(question, Question)
    store = ProofStore(suite)
    (lock,) = (store.root / "locks").iterdir()
    (proof,) = (one.proof for one in store.inspect(question) if one.proof.claim.option == option)
    new = to_stored(Trial(proof, Settled(proof.claim, Truth.TRUE)))
    store.save(question, [new], lock.read_text(), beside=True)


def quality(run: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((run / "quality_report.json").read_text())
    return {question["id"].partition("::")[2]: question for question in report["questions"]}


@pytest.mark.real_start
def test_stored_proofs_are_replayed_and_judged(
    proven: Path, assay: Command, tmp_path: Path
) -> None:
    before = files(tmp_path / "proofs")
    run = tmp_path / "run"
    result = assay(
        "questions", "verify", proven, "--out", run,
        "--report", f"junit={tmp_path}/j.xml", "--report", f"sarif={tmp_path}/s.json",
    )  # fmt: skip
    assert result.returncode == 1, result.stderr
    assert "3 questions: 1 Incorrect, 1 Unproven, 1 Valid" in result.stdout
    found = quality(run)
    assert {name: one["verdict"] for name, one in found.items()} == {
        "field": "Valid",
        "wrong": "Incorrect",
        "open": "Unproven",
    }
    assert found["wrong"]["answers"] == ["B"]
    assert (found["wrong"]["grounds"], found["wrong"]["author"]) == ("executed", "person")
    assert "assay questions verify suite.yaml::open --target" in found["open"]["advice"]
    assert found["wrong"]["options"]["B"]["proofs"][0]["tests"][0]["status"] == "passed"
    assert files(tmp_path / "proofs") == before
    assert '<testsuite name="' in (tmp_path / "j.xml").read_text()
    (incorrect,) = [
        one
        for one in json.loads((tmp_path / "s.json").read_text())["runs"][0]["results"]
        if one["level"] == "error"
    ]
    region = incorrect["locations"][0]["physicalLocation"]["region"]
    assert proven.read_text().splitlines()[region["startLine"] - 1] == "- id: wrong"
    markdown = (run / "quality_report.md").read_text()
    assert (
        markdown.index("## Incorrect") < markdown.index("## Unproven") < markdown.index("## Valid")
    )


def test_unproven_fails_only_where_it_is_asked_to(proven: Path, assay: Command) -> None:
    chosen = ("questions", "verify", proven, "--case", "open", "--quiet")
    assert assay(*chosen).returncode == 0
    assert assay(*chosen, "--fail-on", "unproven").returncode == 1


def test_every_stored_file_runs_under_plain_pytest(proven: Path) -> None:
    (folder,) = [path.parent for path in proven.parent.glob("proofs/suite/field/proof.json")]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "2 passed, 2 failed" in result.stdout or "2 failed, 2 passed" in result.stdout


def test_another_key_changes_the_verdict_and_no_proof(
    proven: Path, assay: Command, tmp_path: Path
) -> None:
    before = files(tmp_path / "proofs")
    for key in ("B", "C"):
        proven.write_text(
            SUITE.replace(
                "correct_answer: A\n  explanation", f"correct_answer: {key}\n  explanation"
            )
        )
        run = tmp_path / f"run-{key}"
        assay("questions", "verify", proven, "--case", "field", "--out", run)
        assert quality(run)["field"]["verdict"] == "Incorrect"
    assert files(tmp_path / "proofs") == before


def test_another_wording_of_an_option_leaves_only_that_option_open(
    proven: Path, assay: Command, tmp_path: Path
) -> None:
    proven.write_text(SUITE.replace("B: check_alias", "B: verify_alias"))
    run = tmp_path / "run"
    assay("questions", "verify", proven, "--case", "field", "--out", run)
    options = quality(run)["field"]["options"]
    assert options["A"]["state"] == "HOLDS"
    assert "another wording" in options["B"]["reason"] or options["B"]["proofs"]
    assert not [one for one in options["B"]["proofs"] if one["prover"] == "written"]


def test_the_key_is_nowhere_before_the_verdict(
    proven: Path, assay: Command, tmp_path: Path
) -> None:
    """Not in claims or proofs, and not in what the sandbox sees: its proofs look for it."""
    proven.write_text(
        SUITE.replace(
            "correct_answer: A\n  explanation", f"correct_answer: {KEY_CANARY}\n  explanation"
        )
    )
    spy = tmp_path / "test_spy.py"
    spy.write_text(
        '"""Option A: `Field` takes `validation_alias`, and nothing in sight tells the key."""\n\n'
        "import inspect\nimport os\nimport pydantic\n"
        'DISPUTED = "validation_alias"\n'
        "def seen():\n"
        "    texts = list(os.environ.values())\n"
        # The folder of the proof itself, not what is mounted below it; and where the suite lies.
        "    places = [os.path.join('.', name) for name in os.listdir('.')]\n"
        f"    for folder, _, names in os.walk({str(tmp_path)!r}):\n"
        "        places += [os.path.join(folder, name) for name in names]\n"
        "    for place in filter(os.path.isfile, places):\n"
        "        with open(place, errors='replace') as file:\n"
        "            texts.append(file.read())\n"
        "    marks = ['KEY' + 'CANARY', 'EXPLANATION' + 'CANARY']\n"
        "    return any(mark in text for text in texts for mark in marks)\n"
        "def parameters():\n    return inspect.signature(pydantic.Field).parameters\n"
        "def test_option_A_holds():\n    assert not seen()\n    assert DISPUTED in parameters()\n"
        "def test_option_A_fails():\n    assert DISPUTED not in parameters()\n"
        "def test_option_A_control():\n    assert parameters() and not seen()\n"
    )
    result = assay("questions", "prove", f"{proven}::field", "--option", "A", "--file", spy)
    assert result.returncode == 0, result.stderr
    assert "the claim is true" in result.stdout
    result = assay("questions", "verify", proven, "--case", "field", "--out", tmp_path / "run")
    assert quality(tmp_path / "run")["field"]["options"]["A"]["state"] == "HOLDS"
    for path, (data, _) in files(tmp_path / "proofs").items():
        assert KEY_CANARY.encode() not in data, path
        assert EXPLANATION_CANARY.encode() not in data, path
    for data, _ in files(tmp_path / "run").values():
        assert EXPLANATION_CANARY.encode() not in data


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ('"""B: x."""\nDISPUTED = 1\ndef test_x_holds():\n    assert DISPUTED\n', "one side only"),
        (
            PARAMETER.replace("assert DISPUTED in", "assert DISPUTED or"),
            "both sides of the proof pass|vacuous|says the same",
        ),
        (
            CLASS.replace(
                "    assert not hasattr(pydantic, DISPUTED)\n",
                "    with pytest.raises(AttributeError, match=DISPUTED):\n"
                "        getattr(pydantic, DISPUTED)\n",
            )
            .replace('INSTEAD = "RootModel"\n', "")
            .replace("import pydantic", "import pydantic\nimport pytest"),
            "`raises` without a control",
        ),
        (PARAMETER.replace("import inspect", "import inspect, sys\nsys.exit"), "ends the process"),
    ],
)
def test_a_proof_that_proves_nothing_is_refused(
    suite: Path, assay: Command, source: str, reason: str
) -> None:
    file = suite.with_name("test_b.py")
    file.write_text(source.replace("{option}", "B").replace("{name}", "BaseModel"))
    result = assay("questions", "prove", f"{suite}::wrong", "--option", "B", "--file", file)
    assert result.returncode == 2, result.stdout
    assert any(one in result.stderr for one in reason.split("|")), result.stderr
    assert not (suite.parent / "proofs").exists()


def test_derived_and_unknown_options_take_no_proof(suite: Path, assay: Command) -> None:
    file = suite.with_name("test_c.py")
    file.write_text(PARAMETER.format(option="C", name="default"))
    for option, told in (("C", "is derived"), ("X", "has no option 'X'")):
        result = assay("questions", "prove", f"{suite}::field", "--option", option, "--file", file)
        assert result.returncode == 2
        assert told in result.stderr


@pytest.mark.real_start
def test_a_question_is_shown_with_its_proofs(proven: Path, assay: Command) -> None:
    result = assay("questions", "show", f"{proven}::wrong")
    assert result.returncode == 0, result.stderr
    for told in ("Which class does pydantic offer", "← the key", "FAILS", "HOLDS", "Incorrect: "):
        assert told in result.stdout
    assert '│ DISPUTED = "BaseModel"' in result.stdout
    assert result.stdout.index("Incorrect: ") < result.stdout.index("Which class does pydantic")
    assert result.stdout.count("HOLDS (executed, by a person)") == 1
    assert "proofs/suite/wrong/test_option_B.py" in result.stdout
    near = assay("questions", "show", f"{proven}::wrog")
    assert near.returncode == 2
    assert "did you mean 'wrong'?" in near.stderr


@pytest.mark.real_start
def test_a_target_that_cannot_be_built_writes_no_verdict(
    proven: Path, assay: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    run = tmp_path / "run"
    result = assay("questions", "verify", proven, "--target", "pydantic==2.9.0", "--out", run)
    assert result.returncode == 3, result.stderr
    assert not run.exists()


def test_nothing_selected_and_nothing_readable_are_errors_of_the_input(
    suite: Path, assay: Command
) -> None:
    result = assay("questions", "verify", suite, "--case", "feild")
    assert result.returncode == 2
    assert "did you mean 'field'?" in result.stderr
    suite.write_text("benchmarks: [}")
    result = assay("questions", "verify", suite)
    assert result.returncode == 2
    assert f"{suite.name}:1" in result.stderr


def test_an_interrupted_run_repeats_nothing(proven: Path, assay: Command, tmp_path: Path) -> None:
    names = [f"field-{number}" for number in range(12)]
    block = SUITE.split("- ")[1]
    proven.write_text(
        "target: current\nbenchmarks:\n"
        + "".join("- " + block.replace("id: field", f"id: {name}") for name in names)
    )
    original = tmp_path / "proofs" / "suite" / "field"
    for name in names:
        copy = original.with_name(name)
        shutil.copytree(original, copy)
        manifest = copy / "proof.json"
        manifest.write_text(manifest.read_text().replace('"field"', f'"{name}"'))
    # One of them takes its time, so that the interrupt comes before the end.
    slow = original.with_name(names[6]) / "test_option_A.py"
    slow.write_text(slow.read_text().replace("holds():", "holds():\n    time.sleep(4)"))
    slow.write_text(slow.read_text().replace("import inspect", "import inspect\nimport time"))
    rebind(proven, names[6], "A")
    run = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", "questions", "verify", proven, "--out", run, "-j", "1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path,
    )  # fmt: skip
    journal = run / "journal.jsonl"
    wait_until(lambda: journal.exists() and journal.read_text().count("\n") >= 3, process)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    kept = journal.read_text().splitlines()
    assert 3 <= len(kept) < len(names)
    result = assay("runs", "resume", run)
    assert result.returncode == 0, result.stderr
    lines = journal.read_text().splitlines()
    assert lines[: len(kept)] == kept
    assert len(lines) == len(names)
    assert {one["verdict"] for one in quality(run).values()} == {"Valid"}


@pytest.mark.real_start
def test_lint_tells_code_place_and_advice(suite: Path, assay: Command, tmp_path: Path) -> None:
    suite.write_text(SUITE.replace("id: wrong", "id: field").replace("B: that", "B: this"))
    result = assay("questions", "lint", suite)
    assert result.returncode == 1
    assert f"{suite}:11: duplicate-id:" in result.stdout
    assert "doubled-option" in result.stdout
    told = json.loads(assay("questions", "lint", suite, "--format", "json").stdout)
    assert {one["code"] for one in told["findings"]} >= {"duplicate-id", "doubled-option"}
    sarif = json.loads(assay("questions", "lint", suite, "--format", "sarif").stdout)
    assert sarif["version"] == "2.1.0"
    (tmp_path / "assay.toml").write_text('[questions]\nignore = ["doubled-option"]\n')
    result = assay("questions", "lint", suite, "--ignore", "duplicate-id")
    assert (result.returncode, result.stdout) == (0, "nothing found\n")
    result = assay("questions", "lint", suite, "--ignore", "duplicate-idd")
    assert result.returncode == 2
    assert "did you mean 'duplicate-id'?" in result.stderr


def test_the_schema_is_printed(assay: Command) -> None:
    schema = json.loads(assay("questions", "schema").stdout)
    assert schema["$schema"].endswith("2020-12/schema")
