"""The table of a round with a model; a real round is in the tests of the model prover."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.questions.labels import Label, LabelKind
from benchmarks.model_round import Row, describe, main


def row(name: str, verdict: str, calls: int = 0) -> Row:
    return Row(name, verdict, "", Counter({"reader": calls} if calls else {}), 10 * calls, 0)


def test_what_is_said_is_compared_with_what_is_true() -> None:
    rows = [row("a", "Valid"), row("b", "Ambiguous", 2), row("c", "Valid"), row("d", "Unproven")]
    labels = {
        name: Label(label=LabelKind(kind))
        for name, kind in zip("abcd", ("Incorrect", "Incorrect", "Valid", "Valid"), strict=True)
    }
    told = list(describe(rows, labels))
    for line in (
        "4 questions: on average 0.5 calls, 5 tokens",
        "1 questions that a model was asked about: on average 2.0 calls, 20 tokens",
        "verdicts: 1 Ambiguous, 1 Unproven, 2 Valid",
        "labelled: 4 of 4, with 2 defects",
        "defects found: 0 of 2",
        "defects found under another name: 1 (b)",
        "defects called Valid: 1 (a)",
        "sound questions accused: 0 of 2",
        "sound questions confirmed: 1 of 2",
    ):
        assert line in told
    accused: dict[str, Any] = {"c": Label(label=LabelKind.VALID)}
    assert "sound questions accused: 1 of 1 (c)" in list(describe([row("c", "Incorrect")], accused))
    judged = {"c": Label(label=LabelKind.JUDGEMENT)}
    assert "sound questions accused: 0 of 0" in list(describe([row("c", "Incorrect")], judged))


def test_without_a_run_there_is_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["suite.json", "--out", str(tmp_path)])
    assert "name a server with --model-url" in capsys.readouterr().err
