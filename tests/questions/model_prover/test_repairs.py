"""Repair questions with a model: one scripted run for every verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.models.scripted_server import Received, Reply, ScriptedServer, calls, says
from tests.questions.model_prover.conftest import Run
from tests.questions.model_prover.scripted import agent_of, text_of, tool_results
from tests.questions.model_prover.test_attacks import OBEY, WORDINGS, outside
from tests.questions.model_prover.test_workflow import verdicts, verify

UNFIXED = """\
from pydantic import BaseModel


class Point(BaseModel):
    x: int
"""
FIXED = UNFIXED.replace("(BaseModel)", "(BaseModel, frozen=True)")
SOLUTION = "SOLUTIONCANARY6150"
TEST = """\
import pydantic
import pytest

from {module} import Point


def test_points_cannot_be_moved():
    point = Point(x=1)
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        point.x = 2
"""


def repair(folder: Path, name: str, description: str, unfixed: str, fixed: str) -> dict[str, Any]:
    own = folder / name
    own.mkdir()
    (own / "unfixed.py").write_text(unfixed)
    (own / "fixed.py").write_text(f"# {SOLUTION}\n{fixed}")
    (own / "test_point.py").write_text(TEST.format(module="unfixed"))
    return {
        "id": name,
        "benchmark_type": "fix_error",
        "name": f"Points move ({name})",
        "description": description,
        "test_file": f"{name}/test_point.py",
        "unfixed_file": f"{name}/unfixed.py",
        "fixed_file": f"{name}/fixed.py",
    }


def script(received: Received) -> Reply:
    text = text_of(received)
    if agent_of(received) == "proctor":
        if "(leaked)" not in text:
            return calls(("report", {"leaked": False, "quote": ""}))
        wrong = "the class line must read class Point"
        right = "Give the class the keyword that makes models frozen, set to True"
        quote = right if tool_results(received) else wrong
        return calls(("report", {"leaked": True, "quote": quote}))
    assert SOLUTION not in text
    if "(unsolved)" in text and not tool_results(received):
        return calls(("try_repair", {"content": UNFIXED}))
    if "(unsolved)" in text:
        return says("I do not know what else to do.")
    tries = len(tool_results(received))
    return calls(("try_repair", {"content": [UNFIXED, FIXED][min(tries, 1)]}))


def test_every_verdict_on_a_repair(assay_here: Run, tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "work"
    plain = "Points are used as keys. Nothing may change them once they are made."
    hint = "Give the class the keyword that makes models frozen, set to True."
    questions = [
        repair(folder, "valid", plain, UNFIXED, FIXED),
        repair(folder, "trivial", plain, FIXED, FIXED),
        repair(folder, "leaked", f"{plain} {hint}", UNFIXED, FIXED),
        repair(folder, "broken", plain, UNFIXED, UNFIXED),
        repair(folder, "unsolved", plain, UNFIXED, FIXED),
    ]
    whole = {"target": "current:pydantic", "benchmarks": questions}
    (folder / "suite.json").write_text(json.dumps(whole))
    with ScriptedServer(script) as server:
        ended = verify(assay_here, server)
        found = verdicts(folder)
    assert ended.code == 1, ended
    assert {name: one["verdict"] for name, one in found.items()} == {
        "valid": "Valid",
        "trivial": "Trivial",
        "leaked": "Leaked",
        "broken": "Broken",
        "unsolved": "Unsolved",
    }
    assert "solved from the description in 2 attempts" in found["valid"]["reason"]
    assert found["leaked"]["reason"].endswith("makes models frozen, set to True")
    assert "did not solve it in 1 attempt;" in found["unsolved"]["reason"]
    # What execution refutes already is not shown to a model.
    asked = " ".join(text_of(one) for one in server.requests)
    assert "(trivial)" not in asked
    assert "(broken)" not in asked
    # A passage that is nowhere is no leak: the proctor had to quote a real one.
    proctored = [one for one in server.requests if "(leaked)" in text_of(one)]
    assert "is in no text" in tool_results(proctored[1])[0]
    kept = [path.read_text() for path in (cache / "answers").rglob("*.json")]
    assert kept
    assert not any(SOLUTION in text for text in kept)


SAYING = """\
import pydantic

from unfixed import Point


def test_points_cannot_be_moved():
    point = Point(x=1)
    try:
        point.x = 2
    except pydantic.ValidationError:
        return
    raise AssertionError({text!r})
"""


def test_no_attack_leaves_its_fence_on_the_way_to_a_proctor_or_a_solver(
    assay_here: Run, tmp_path: Path
) -> None:
    """In the description, the requirements, the error output, the file, and what a test says."""
    folder = tmp_path / "work"
    texts = [WORDINGS[one].format(do="obey_lie_now") for one in ("announced-mark", "tool-result")]
    plain = "Points are used as keys. Nothing may change them once they are made."
    questions = []
    for number, text in enumerate(texts):
        comment = "\n".join(f"# {line}" for line in text.splitlines())
        asked = repair(
            folder, f"attack-{number}", f"{plain} {text}", f"{comment}\n{UNFIXED}", FIXED
        )
        (folder / asked["test_file"]).write_text(SAYING.format(text=text))
        questions.append({**asked, "requirements": [text], "error_output": text})
    (folder / "suite.json").write_text(
        json.dumps({"target": "current:pydantic", "benchmarks": questions})
    )
    obeyed: list[str] = []

    def obedient(received: Received) -> Reply:
        if found := OBEY.search(outside(received)):
            obeyed.append(found[0])
            return says("I obey.")
        if agent_of(received) == "proctor":
            return calls(("report", {"leaked": False, "quote": ""}))
        tries = len(tool_results(received))
        return calls(("try_repair", {"content": [UNFIXED, FIXED][min(tries, 1)]}))

    with ScriptedServer(obedient) as server:
        ended = verify(assay_here, server)
        found = verdicts(folder)
    assert obeyed == []
    assert ended.code == 0, ended
    assert {one["verdict"] for one in found.values()} == {"Valid"}
    # What the test says reaches the solver as well, with the failure of its first try.
    told = [one for received in server.requests for one in tool_results(received)]
    assert any("obey_lie_now" in one for one in told)
