"""Calibration with a model: mutants are proven by it anew, and a spent budget ends it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.models.scripted_server import Received, Reply, ScriptedServer, calls
from tests.questions.model_prover.conftest import Run
from tests.questions.model_prover.scripted import Case, Model, has_name, proves, text_of
from tests.questions.model_prover.test_remediation import analyst
from tests.questions.model_prover.test_workflow import question, suite

MEANT = {"what models are made from": "BaseModel", "what nobody has ever made": "BaseThing"}


def engineer(received: Received) -> Reply:
    """Proves what it is asked for by the words of the option, wherever that stands."""
    text = text_of(received)
    option = text.partition("The option to work on: ")[2].partition("\\n")[0]
    said = text.partition(f"\\n{option}: ")[2].partition("\\n")[0]
    if said not in MEANT:
        return calls(("give_up", {"reason": f"nobody said what is meant by {said}"}))
    return proves(option, has_name(option, MEANT[said]))


def test_a_model_can_be_calibrated(assay_here: Run, tmp_path: Path) -> None:
    (tmp_path / "work" / "suite.json").write_text(suite(question("one", "mark-one")))
    model = Model(Case("mark-one", analyst, dict.fromkeys("ABC", engineer)))
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
