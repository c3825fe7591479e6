"""Calibration with a model: mutants are proven by it anew, and a spent budget ends it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.models.scripted_server import ScriptedServer
from tests.questions.model_prover.conftest import Run
from tests.questions.model_prover.scripted import Case, Model
from tests.questions.model_prover.test_remediation import engineer
from tests.questions.model_prover.test_workflow import question, suite


def test_a_model_can_be_calibrated(assay_here: Run, tmp_path: Path) -> None:
    (tmp_path / "work" / "suite.json").write_text(suite(question("one", "mark-one")))
    model = Model(Case("mark-one", engineers=engineer))
    words = ("questions", "calibrate", "suite.json", "--model", "scripted", "--json")
    with ScriptedServer(model) as server:
        stopped = assay_here(*words, "--model-url", server.url, "--max-tokens", "15")
        ended = assay_here(*words, "--model-url", server.url)
    assert stopped.code == 3
    assert "of the 15 tokens it may use" in stopped.err
    assert ended.code == 0, ended
    found = {one["defect"]: one for one in json.loads(ended.out)["defects"]}
    # The key that was moved to the other option is found, by proofs of the model alone.
    assert found["key-swapped"]["found"] == 1
    assert found["key-swapped"]["missed"] == 0
