"""The small library, built once, and a runner for proofs about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.questions.claims import Library
from assay.questions.examination import examine
from assay.questions.index import build_index
from assay.questions.lexical import LexicalProver
from assay.questions.proof_runners import TargetRunner
from assay.questions.verdict.option_findings import OptionFinding
from assay.questions.verdict.stems import classify
from assay.questions.verdict.verdict import Judgement, judge
from assay.sandbox import Environment, ProofRunner, Target
from tests.questions.lexical.support import FILES, JudgeQuestion, Settle, question
from tests.sandbox.support import Background, build, write_files


@pytest.fixture(scope="session")
def lanterns(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = write_files(tmp_path_factory.mktemp("lanterns"), FILES)
    return build(Target(sources=(folder,)))


@pytest.fixture(scope="session")
def library(lanterns: Environment) -> Library:
    return Library(build_index(lanterns), ("lanterns",))


@pytest.fixture(scope="session")
def settle(lanterns: Environment) -> Iterator[Settle]:
    """Ask a question about the small library; the findings on its options come back."""
    yield from settling(lanterns, ("lanterns",))


@pytest.fixture(scope="session")
def judge_question(lanterns: Environment) -> Iterator[JudgeQuestion]:
    """Ask a question with its key about the small library; the verdict comes back."""
    background = Background()

    async def start() -> tuple[ProofRunner, LexicalProver]:
        runner = ProofRunner(lanterns, imports=("lanterns",), modules=("lanterns",), concurrency=2)
        return runner, LexicalProver()

    proof_runner, prover = background.run(start())
    runner = TargetRunner(proof_runner, lanterns, ("lanterns",), (prover,))

    def judge_question(key: str, text: str, *options: str) -> Judgement:
        asked = question(text, *options)
        found = background.run(examine(asked, [], runner))
        whole = [trial.settled for trial in found.whole]
        return judge(asked, classify(text), found.findings, key, whole)

    yield judge_question
    background.run(proof_runner.close())
    background.stop()


@pytest.fixture(scope="session")
def settle_here() -> Iterator[Settle]:
    """The same about what is installed beside Assay."""
    yield from settling(build(Target(current=True)), ())


def settling(environment: Environment, modules: tuple[str, ...]) -> Iterator[Settle]:
    background = Background()

    async def start() -> tuple[ProofRunner, LexicalProver]:
        runner = ProofRunner(environment, imports=modules, modules=modules or None, concurrency=2)
        return runner, LexicalProver()

    proof_runner, prover = background.run(start())
    runner = TargetRunner(proof_runner, environment, modules, (prover,))

    def settle(text: str, *options: str, snippet: str | None = None) -> dict[str, OptionFinding]:
        asked = question(text, *options, snippet=snippet)
        return dict(background.run(examine(asked, [], runner)).findings)

    yield settle
    background.run(proof_runner.close())
    background.stop()
