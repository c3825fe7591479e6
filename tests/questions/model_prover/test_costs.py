"""What a run says it cost is what the server was asked: calls, tokens, and what was not asked."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from assay.runs import Run as AssayRun
from benchmarks.model_round import main
from tests.models.scripted_server import Received, Reply, ScriptedServer, fails, says
from tests.questions.model_prover.conftest import Run
from tests.questions.model_prover.scripted import Case, Model
from tests.questions.model_prover.test_workflow import BOTH, PROOFS, question, suite, verdicts

LABELS = """\
labels:
  right: {label: Valid, answers: [A]}
  wrong: {label: Incorrect, answers: [A]}
"""


def test_a_round_costs_what_the_server_was_asked(assay_here: Run, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "suite.json").write_text(
        suite(question("right", "mark-right"), question("wrong", "mark-wrong", correct_answer="B"))
    )
    (folder / "labels.yaml").write_text(LABELS)
    commands: list[list[str]] = []

    def execute(words: list[str], out: Path) -> int:
        commands.append(words)
        # A server that waits for a person may take its time, and nothing is known from before.
        assert "timeout = 3000.0" in (out / "assay.toml").read_text()
        assert not (out / "cache" / "answers").exists()
        return assay_here(*words).code

    model = Model(Case("mark-right", BOTH, PROOFS), Case("mark-wrong", BOTH, PROOFS))
    table = folder / "round" / "table.md"
    with ScriptedServer(model) as server:
        words = ["suite.json", "--out", "round", "--model-url", server.url, "--timeout", "3000"]
        assert main(words, execute) == 0
        first = table.read_text()
    assert main(["suite.json", "--out", "round", "--labels", "labels.yaml"], execute) == 0
    second = table.read_text()
    assert len(commands) == 1
    roles = "proof_engineer 1, reader 1"
    assert f"| right | Valid |  | 2 | {roles} | 20 | 10 | key-holds |" in first
    assert f"| wrong | Incorrect |  | 3 | {roles}, reviewer 1 | 30 | 15 | key-fails |" in first
    assert f"2 questions: on average {server.calls / 2:.1f} calls, 38 tokens" in first
    assert "labelled" not in first
    assert "| wrong | Incorrect | Incorrect |" in second
    assert "defects found: 1 of 1 (wrong)" in second
    assert "sound questions accused: 0 of 1" in second


PRICES = "[models]\ninput_price = 2.0\noutput_price = 10.0\n"
PRICE_IN, PRICE_OUT = 2.0e-6, 10.0e-6


class Till:
    """Answers as a model does, each answer with a price of its own, and counts what it sold."""

    def __init__(self, model: Model, trouble: dict[int, int]) -> None:
        self._model = model
        self._trouble = trouble
        self.received = 0
        self.clear()

    def clear(self) -> None:
        self.answered = self.tokens_in = self.tokens_out = 0

    def __call__(self, received: Received) -> Reply:
        number, self.received = self.received, self.received + 1
        if number in self._trouble:
            return fails(self._trouble[number], retry_after=0)
        given, made = 1_000 + 7 * number, 50 + number
        self.answered += 1
        self.tokens_in += given
        self.tokens_out += made
        usage = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
        return replace(self._model(received), usage=usage)

    def line(self, *, cached: int) -> str:
        """The line that a run must print."""
        cost = self.tokens_in * PRICE_IN + self.tokens_out * PRICE_OUT
        tokens = self.tokens_in + self.tokens_out
        return (
            f"model: {self.answered} calls, {cached} from the cache, {tokens:,} tokens "
            f"for {cost:.4f} US dollars"
        )


def used(folder: Path, name: str) -> float:
    """What all records of the newest run say of one amount."""
    newest = AssayRun(max((folder / ".assay" / "runs").iterdir()))
    return sum(
        float((newest.read_packed(row)["usage"] or {}).get(name, 0.0)) for row in newest.rows()
    )


def test_the_cost_line_is_the_servers_own_count(
    assay_here: Run, cache: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    (folder / "assay.toml").write_text(PRICES)
    (folder / "suite.json").write_text(
        suite(question("right", "mark-right"), question("wrong", "mark-wrong", correct_answer="B"))
    )
    # A malformed answer is paid like any other; what fails is not, and is asked again.
    malformed = [says("I think A is right."), BOTH, BOTH]
    model = Model(Case("mark-right", malformed, PROOFS), Case("mark-wrong", BOTH, PROOFS))
    till = Till(model, {1: 429, 3: 500})
    words = ("questions", "verify", "suite.json", "--model", "m", "--jobs", "1")
    with ScriptedServer(till) as server:
        command = (*words, "--model-url", server.url)
        first = assay_here(*command, "--proofs", "one")
        assert till.line(cached=0) in first.out, (till.line(cached=0), first)
        assert (till.received, till.answered) == (8, 6)
        for name, amount in (
            ("calls", till.answered),
            ("input tokens", till.tokens_in),
            ("output tokens", till.tokens_out),
            ("cached calls", 0),
        ):
            assert used(folder, name) == amount
        # What was answered before costs nothing, with what came back on the way.
        till.clear()
        again = assay_here(*command, "--proofs", "two")
        kept = int(used(folder, "cached calls"))
        assert till.line(cached=kept) in again.out
        assert (till.answered, kept) == (0, 6)

        # A run that stops in the middle and goes on: each command has its own line.
        shutil.rmtree(cache / "answers")
        till.clear()
        stopped = assay_here(*command, "--proofs", "three", "--max-tokens", "4000")
        assert stopped.code == 3
        sold, before = till.answered, till.tokens_in + till.tokens_out
        assert f"the model has used {before:,} of the 4,000 tokens it may use" in stopped.err
        till.clear()
        resumed = assay_here("runs", "resume", "latest")
        kept = int(used(folder, "cached calls"))
        assert till.line(cached=kept) in resumed.out, resumed
        assert 0 < kept < sold
        assert {one["verdict"] for one in verdicts(folder).values()} == {"Valid", "Incorrect"}
