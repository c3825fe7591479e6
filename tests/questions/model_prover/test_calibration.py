"""Calibration with a model: what a user will meet, with its cost; a spent budget ends it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.models.scripted_server import ScriptedServer
from tests.questions.model_prover.conftest import Run
from tests.questions.model_prover.scripted import Case, Model, text_of
from tests.questions.model_prover.test_remediation import engineer
from tests.questions.model_prover.test_workflow import question, suite

LABELS = """\
labels:
  one: {label: Valid, answers: [A]}
  fresh: {label: Incorrect, answers: [A], reason: "gt refuses it"}
"""


def test_a_model_can_be_calibrated(assay_here: Run, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    fresh = question("fresh", "mark-fresh", correct_answer="B")
    (folder / "suite.json").write_text(suite(question("one", "mark-one"), fresh))
    (folder / "labels.yaml").write_text(LABELS)
    model = Model(
        Case("mark-one", engineers=engineer),
        Case("mark-fresh", engineers=engineer),
    )
    words = ("questions", "calibrate", "suite.json", "--model", "scripted")
    with ScriptedServer(model) as server:
        stopped = assay_here(*words, "--model-url", server.url, "--max-tokens", "15")
        asked = server.calls
        command = (*words, "--labels", "labels.yaml", "--model-url", server.url)
        ended = assay_here(*command)
        made = server.calls - asked
        again = assay_here(*command, "--json")
    assert stopped.code == 3
    assert "of the 15 tokens it may use" in stopped.err
    assert ended.code == 0, ended
    # On how many questions it rests, what was found of labelled ones, and what it cost.
    assert "calibrated with 1 of 2 questions; the others are not Valid: 1 Incorrect" in ended.out
    assert "labelled defects: 1, of which found 1" in ended.out
    assert "labelled sound questions: 1, of which confirmed 1, wrongly accused 0" in ended.out
    line = rf"model: {made} calls, \d+ from the cache, {15 * made} tokens of unknown price"
    assert re.search(line, ended.out)
    values = json.loads(again.out)
    found = {one["defect"]: one for one in values["defects"]}
    # The key that was moved to the other option is found, by proofs of the model alone, and
    # after a second opinion, as it is in a run.
    assert found["key-swapped"]["found"] == 1
    assert found["key-swapped"]["missed"] == 0
    assert [one for one in model.of("reviewer") if "mark-one" in text_of(one)]
    assert (values["of"], values["valid"]) == (2, 1)
    assert values["labelled"]["found"] == 1
    assert set(values["usage"]) == {"cached calls"}
    assert server.calls == asked + made
