"""The fix loop through the real command: what is proposed is linted, proven blind, then kept."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.models.scripted_server import Received, Reply, ScriptedServer, calls, says, says_json
from tests.questions.model_prover.conftest import Ended, Run
from tests.questions.model_prover.scripted import (
    Case,
    Model,
    limit,
    listed,
    proves,
    reviews,
    text_of,
    tool_results,
)
from tests.questions.model_prover.test_workflow import verdicts

EXPLANATION = "EXPLANATIONCANARY7712"
SUITE = f"""\
# Kept by hand: comments, odd quoting and folds must stay.
target: "current:pydantic"
benchmarks:
  - id: doubled    # two of its options are there
    question: >-
      A number is held against a limit of its own size. Of the limits that
      pydantic knows, which one refuses it? (mark-doubled)
    options:
      A:   'the limit gt'
      B: "the limit ge"   # a distractor
      C: the limit lt
    correct_answer: A
    explanation: |
      {EXPLANATION}

  - id: hopeless
    question: "Which limit of pydantic refuses a number of its own size? (mark-hopeless)"
    options: {{A: the limit ge, B: the limit gt}}
    correct_answer: A

  - id: open
    question: Which of the two is nicer? (mark-open)
    options:
      A: this one
      B: that one
    correct_answer: B
"""


def proposes(**fields: Any) -> Reply:
    return calls(("update_benchmark_case", {"answer": fields}))


def fixer(received: Received) -> Reply:
    """Proposes what lint refuses, then what is as ambiguous as before, then what is right."""
    refused = tool_results(received)
    if "Corrections that were tried" in text_of(received):
        return says_json({"options": {**OPTIONS, "C": "the limit le"}})
    if not refused:
        return proposes(options={**OPTIONS, "C": "The limit gt."})
    return proposes(options={**OPTIONS, "C": "that limit, lt"})


OPTIONS = {"A": "the limit gt", "B": "the limit ge", "C": "the limit lt"}


def engineer(received: Received) -> Reply:
    """Reads what its options say, and proves that the limit refuses the number or does not."""
    text = text_of(received)
    proofs = []
    for option in listed(received, "The claims to be proven, by option"):
        said = text.partition(f"\\n{option}: ")[2].partition("\\n")[0]
        words = [word for word in re.findall(r"\w+", said) if word in ("gt", "ge", "lt", "le")]
        if not words:
            return says("a matter of taste")
        proofs.append((option, limit(option, words[-1])))
    return proves(*proofs)


def hopeless(received: Received) -> Reply:
    number = text_of(received).count("Incorrect: the key")
    return proposes(options={"A": f"the limit ge{'!' * number}", "B": "the limit gt"})


def model() -> Model:
    return Model(
        Case("mark-doubled", engineers=engineer, fixer=fixer),
        Case("mark-hopeless", engineers=engineer, fixer=hopeless),
        Case("mark-open", engineers=engineer),
    )


def fix(run: Run, server: ScriptedServer, *more: str) -> Ended:
    return run(
        *("questions", "verify", "suite.yaml", "--model", "scripted", "--model-url", server.url),
        *("--fix", "--proofs", "proofs", *more),
    )


def test_a_fix_is_kept_if_it_is_proven_blind_and_only_where_it_was_asked_for(
    assay_here: Run, cache: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    (folder / "suite.yaml").write_text(SUITE)
    scripted = model()
    with ScriptedServer(scripted) as server:
        ended = fix(assay_here, server)
        found = verdicts(folder)
        made = server.calls
        _check_patch(ended, found, folder)
        _check_tries(found, scripted)
        _check_who_saw_the_key(scripted, cache, folder)

        applied = fix(assay_here, server, "--apply")
        assert applied.code == 1, applied
        assert verdicts(folder)["doubled"]["verdict"] == "Valid"
        assert verdicts(folder)["doubled"]["fix"]["kept"] == "applied"
        changed = (folder / "suite.yaml").read_text()
        assert changed == SUITE.replace("C: the limit lt", "C: the limit le")

        _check_commit(assay_here, server, folder)
    # All that came after the first run was answered from the cache.
    assert server.calls == made


def _check_patch(ended: Ended, found: dict[str, Any], folder: Path) -> None:
    """Without --apply nothing but a patch is written, and the question stays what it is."""
    assert ended.code == 1, ended
    assert (folder / "suite.yaml").read_text() == SUITE
    assert found["doubled"]["verdict"] == "Ambiguous"
    patch = next((folder / ".assay" / "runs").glob("*/fixes.patch"))
    assert "corrections: 1 fixed, 1 needs human review" in ended.out
    assert f"patch: {patch.relative_to(folder)}" in ended.out
    report = patch.with_name("quality_report.md").read_text()
    assert "**needs human review**" in report
    assert "try 3: Incorrect" in report
    changed = [line for line in patch.read_text().splitlines() if line[:1] in "+-"]
    assert changed == [
        "--- a/suite.yaml",
        "+++ b/suite.yaml",
        "-      C: the limit lt",
        "+      C: the limit le",
    ]
    subprocess.run(["git", "apply", "--check", str(patch)], cwd=folder, check=True)


def _check_tries(found: dict[str, Any], scripted: Model) -> None:
    doubled, hopeless_, open_ = found["doubled"], found["hopeless"], found["open"]
    assert doubled["fix"]["status"] == "fixed"
    assert [one["verdict"] for one in doubled["fix"]["tries"]] == ["Ambiguous", "Valid"]
    assert doubled["fix"]["changes"] == {"options.C": "the limit le"}
    asked = [one for one in scripted.of("remediation_engineer") if "mark-doubled" in text_of(one)]
    # Two options that say the same were refused before anything was verified.
    assert "two of its options say the same" in tool_results(asked[1])[0]
    # The second try sees what was proven about the first.
    assert "that limit, lt" in text_of(asked[2])
    assert text_of(asked[2]).count("Ambiguous: the key A holds, and so d") == 2

    assert hopeless_["fix"]["status"] == "needs human review"
    assert [one["verdict"] for one in hopeless_["fix"]["tries"]] == ["Incorrect"] * 3
    assert len({one["definition"]["options"]["A"] for one in hopeless_["fix"]["tries"]}) == 3
    # What is only unproven is left alone.
    assert open_["verdict"] == "Unproven"
    assert "fix" not in open_
    assert not [one for one in scripted.of("remediation_engineer") if "mark-open" in text_of(one)]


def _check_who_saw_the_key(scripted: Model, cache: Path, folder: Path) -> None:
    """Only the remediation engineer saw key and explanation, in the first pass and after it."""
    for agent, received in scripted.asked:
        text = text_of(received)
        if agent == "remediation_engineer":
            assert "correct_answer" in text
            continue
        assert EXPLANATION not in text
        assert "correct_answer" not in text
        # Nor what was found, claimed or tried before.
        for word in ("Ambiguous", "Incorrect", "Corrections that were tried", "is the key"):
            assert word not in text
    explained = [
        one for one in scripted.of("remediation_engineer") if "mark-doubled" in text_of(one)
    ]
    assert all(EXPLANATION in text_of(one) for one in explained)
    for place in (cache / "answers", folder / "proofs"):
        files = [path for path in place.rglob("*") if path.is_file()]
        assert files
        for path in files:
            assert EXPLANATION.encode() not in path.read_bytes()
            assert b"correct_answer" not in path.read_bytes()


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *words]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def _check_commit(run: Run, server: ScriptedServer, folder: Path) -> None:
    (folder / "suite.yaml").write_text(SUITE)
    shutil.rmtree(folder / "proofs")
    (folder / "other.txt").write_text("1\n")
    _start_repository(folder)
    (folder / "other.txt").write_text("2\n")
    refused = fix(run, server, "--commit")
    assert refused.code == 2
    assert "the working tree has changes: other.txt" in refused.err
    git(folder, "checkout", "-q", "other.txt")
    committed = fix(run, server, "--commit", "--case", "doubled")
    assert committed.code == 0, committed
    assert git(folder, "log", "--format=%s").splitlines() == [
        "Fix question doubled: Ambiguous, now Valid",
        "start",
    ]
    message = git(folder, "log", "-1", "--format=%B")
    assert "Changed: options.C" in message
    assert "C FAILS: it is not true that what option C names refuses the number" in message
    assert EXPLANATION not in message
    assert 'DISPUTED = "le"' in git(folder, "show", "HEAD")
    # The lock on which it was proven belongs to the fix.
    assert "proofs/locks/" in git(folder, "show", "--name-only", "HEAD")
    assert git(folder, "status", "--porcelain", "--untracked-files=no") == ""


CODED = """\
target: "current:pydantic"
benchmarks:
  - id: {name}
    question: What does this code print? (mark-{name})
    options: {{A: '`3`', B: '`4`', C: '`5`'}}
    correct_answer: B
    code_snippet_ref: {{file: code.py, section: {name}}}
"""
SECTION = """\
# --8<-- [start:{name}]
print(pydantic.TypeAdapter(int).validate_python("3"))
# --8<-- [end:{name}]
"""


def test_the_code_of_a_question_is_corrected_where_it_stands(
    assay_here: Run, tmp_path: Path
) -> None:
    folder, names = tmp_path / "work", ("coded", "doubted")
    head, *rest = (CODED.format(name=name).partition("  - id") for name in names)
    whole = "".join(head) + "".join("  - id" + one[2] for one in rest)
    code = "import pydantic\n\n" + "\n".join(SECTION.format(name=name) for name in names)
    (folder / "suite.yaml").write_text(whole)
    (folder / "code.py").write_text(code)
    new = 'print(pydantic.TypeAdapter(int).validate_python("4"))\n'

    def doubt(received: Received) -> Reply:
        return reviews(received, wrong={"B": "that is another question"})

    scripted = Model(
        Case("mark-coded", fixer=proposes(code=new)),
        Case("mark-doubted", fixer=proposes(code=new), reviewer=doubt),
    )
    with ScriptedServer(scripted) as server:
        ended = fix(assay_here, server)
        found = verdicts(folder)
        changed = code.replace('"3"', '"4"', 1)
        patch = next((folder / ".assay" / "runs").glob("*/fixes.patch"))
        _check_code_patch(patch, folder, code, changed)
        _start_repository(folder)
        committed = fix(assay_here, server, "--commit", "--case", "coded")
    assert ended.code == 1, ended
    # What a program proved of a model's wording is kept only if the reviewer agrees with it.
    assert {name: one["verdict"] for name, one in found.items()} == dict.fromkeys(
        names, "Incorrect"
    )
    assert found["coded"]["author"] == "program"
    assert found["coded"]["fix"]["status"] == "fixed"
    assert found["coded"]["fix"]["code"]["section"] == "coded"
    assert found["doubted"]["fix"]["status"] == "needs human review"
    assert "that is another question" in json.dumps(found["doubted"]["fix"]["tries"])
    assert not scripted.of("reader")
    # The fixer sees the code with what it uses of its file; the reviewer sees the new code.
    (asked,) = scripted.of("remediation_engineer", "mark-coded")
    assert "What its code uses of the rest of its file" in text_of(asked)
    (reviewed,) = scripted.of("reviewer", "mark-coded")
    assert listed(reviewed, "The options to review") == ["A", "B", "C"]
    assert 'validate_python("4")' in reviewed.last
    assert committed.code == 0, committed
    assert (folder / "code.py").read_text() == changed
    assert (folder / "suite.yaml").read_text() == whole
    files = git(folder, "show", "--name-only", "--format=", "HEAD").split()
    assert {"code.py"} < set(files)
    assert all(one == "code.py" or one.startswith("proofs/") for one in files)
    assert "Changed: code" in git(folder, "log", "-1", "--format=%B")


def _check_code_patch(patch: Path, folder: Path, before: str, after: str) -> None:
    assert (folder / "code.py").read_text() == before
    subprocess.run(["git", "apply", str(patch)], cwd=folder, check=True)
    assert (folder / "code.py").read_text() == after
    (folder / "code.py").write_text(before)


def _start_repository(folder: Path) -> None:
    git(folder, "init", "-q")
    (folder / ".gitignore").write_text(".assay\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "start")
    for name, value in (("user.name", "n"), ("user.email", "e@example.org")):
        git(folder, "config", name, value)
