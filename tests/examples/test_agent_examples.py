"""The example agents do what their test files say of them: one passes, one fails in two ways."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import Command

ROOT = Path(__file__).parents[2]
GOOD, TIRED = "examples/agents/kiosk.hocon", "examples/agents/tired_kiosk.hocon"


def test_the_agent_that_works_passes(assay: Command, tmp_path: Path) -> None:
    words = ["agents", "verify", GOOD, "--out", tmp_path / "run", "--ratio", "20/20"]
    result = assay(*words, cwd=ROOT)
    assert (result.returncode, result.stderr) == (0, "")
    assert "20 samples: 20 passed" in result.stdout


def test_the_tired_one_has_its_rate_and_its_interval(assay: Command, tmp_path: Path) -> None:
    words = ["agents", "verify", TIRED, "--out", tmp_path / "run", "--all-samples"]
    result = assay(*words, cwd=ROOT)
    assert result.returncode == 1
    assert "20 samples: 14 passed, 6 failed\n  rate 70%, 95% interval 48% to 85%" in result.stdout


def test_the_tired_one_fails_in_exactly_the_planted_ways(assay: Command, tmp_path: Path) -> None:
    words = ["agents", "assess", TIRED, "--out", tmp_path / "run", "--json"]
    result = assay(*words, cwd=ROOT)
    [test] = json.loads(result.stdout)["tests"]
    found = [(mode["interaction"], mode["check"], len(mode["samples"])) for mode in test["modes"]]
    assert found == [(2, "text.keywords", 4), (2, "structure.total.value", 2)]
    assert test["modes"][1]["examples"][0] == {
        "sample": test["modes"][1]["samples"][0],
        "answer": "80",
        "expected": "84",
        "reason": "80 is not equal to 84",
    }
