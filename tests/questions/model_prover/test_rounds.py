"""The rounds of a proof engineer over real HTTP, with proofs that are only said to be run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from assay.models import ModelFailed, ModelSettings, ResponseCache
from assay.questions.model import Question
from assay.questions.model_prover import engineer
from assay.questions.model_prover.adk_callbacks import AgentSession, ModelAccess
from assay.questions.model_prover.adk_models import close_clients
from assay.questions.model_prover.engineer import (
    ENGINEER_TURNS,
    ProofDesk,
    ProofEngineer,
    TrialResult,
)
from assay.questions.model_prover.library_tools import LibraryTools
from assay.questions.model_prover.reading import ProgramClaim
from assay.questions.model_prover.structured import run_alone
from assay.questions.model_prover.transcripts import Transcript
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.claims import Proof
from assay.questions.proofs.proving import Trial
from assay.questions.verdict.option_findings import Settled, Truth
from tests.models.scripted_server import Reply, ScriptedServer, calls, says, says_json
from tests.questions.model_prover.scripted import listed, proves, rounds_told
from tests.waiting import PATIENCE

QUESTION = Question("q", "Which one is it?", {"A": "this", "B": "that"})
Attempt = Callable[[Question, Proof, TargetRunner], Awaitable[TrialResult]]


def result(proof: Proof, truth: Truth) -> TrialResult:
    trial = Trial(proof, Settled(proof.claim, truth))
    return TrialResult(proof, f"it ends {truth.value}", trial)


def run_rounds(
    folder: Path, monkeypatch: pytest.MonkeyPatch, attempt: Attempt, *replies: Reply
) -> tuple[ProofDesk, ScriptedServer]:
    """The desk after an engineer has given these answers."""
    monkeypatch.setattr(engineer, "attempt", attempt)
    programs = {one: ProgramClaim(says=f"{one} works") for one in "AB"}
    runner = TargetRunner(cast("Any", None))
    desk = ProofDesk(QUESTION, programs, runner)

    async def run(url: str) -> None:
        access = ModelAccess(ModelSettings("m", url), cache=ResponseCache(folder))
        session = AgentSession(access, Transcript())
        tools = LibraryTools("no names are known", None)
        asked = ProofEngineer(desk, QUESTION, tools, session, is_negated=False)

        async def node(ctx: Any, node_input: Any = None) -> str:
            await asked.run(ctx)
            return "done"

        try:
            await run_alone(session, "rounds", node)
        finally:
            await close_clients()

    with ScriptedServer(replies) as server:
        asyncio.run(run(server.url))
    return desk, server


@pytest.mark.parametrize(
    "reply",
    [
        proves(("A", "x"), ("B", "y")),
        says_json({"proofs": [{"option": "A", "source": "x"}, {"option": "b)", "source": "y"}]}),
    ],
    ids=["tool calls", "text"],
)
def test_the_proofs_of_one_answer_are_run_at_the_same_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    together = asyncio.Barrier(2)

    async def attempt(question: Question, proof: Proof, runner: TargetRunner) -> TrialResult:
        await asyncio.wait_for(together.wait(), PATIENCE)
        return result(proof, Truth.TRUE)

    desk, server = run_rounds(tmp_path, monkeypatch, attempt, reply)
    assert desk.is_done
    assert server.calls == 1


def test_a_round_is_told_of_what_is_open_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def attempt(question: Question, proof: Proof, runner: TargetRunner) -> TrialResult:
        return result(proof, Truth.TRUE if "good" in proof.source else Truth.OPEN)

    desk, server = run_rounds(
        tmp_path,
        monkeypatch,
        attempt,
        calls(("inspect_fqn", {"name": "pkg.Thing"})),
        proves(("A", "good = 1"), ("B", "bad = 1")),
        says('```json\n{"option": "B", "proof": "bad = 2"}\n```'),
        proves(("B", "good = 2")),
    )
    assert desk.is_done
    looked, _, second, third = [one.messages for one in server.requests]
    assert str(looked[-1]["content"]).endswith(f"Turns left: {ENGINEER_TURNS}")
    told = [rounds_told(one) for one in server.requests]
    assert told[:2] == ["", ""]
    assert "Option B:\nyour proof:\nbad = 1\nrefused:\nit ends open" in told[2]
    assert "good = 1" not in json.dumps([second, third])
    # What was looked up is not to be looked up again, and the turns go down.
    assert "inspect_fqn(name='pkg.Thing')" in str(second[-1]["content"])
    assert f"Turns left: {ENGINEER_TURNS - 2}" in told[2]
    assert [listed(one, "The claims to be proven, by option") for one in server.requests] == [
        ["A", "B"], ["A", "B"], ["B"], ["B"],
    ]  # fmt: skip
    assert 'call `prove`, or answer with {"proofs"' in told[3]
    assert f"Turns left: {ENGINEER_TURNS - 3}" in told[3]


def test_turns_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def attempt(question: Question, proof: Proof, runner: TargetRunner) -> TrialResult:
        return result(proof, Truth.OPEN)

    replies = [proves(("A", f"x = {number}")) for number in range(ENGINEER_TURNS)]
    desk, server = run_rounds(tmp_path, monkeypatch, attempt, *replies)
    assert server.calls == ENGINEER_TURNS
    assert rounds_told(server.requests[-1]).endswith("Turns left: 1")
    assert desk.reasons() == {"A": "it ends open", "B": "the proof engineer wrote no proof"}


def test_a_role_has_its_own_patience_with_an_answer(tmp_path: Path) -> None:
    """Both are answered after a second; who has less time than that has no answer."""

    async def ask(url: str) -> list[str]:
        settings = ModelSettings("m", url, timeout=PATIENCE, patience=0.0)
        hasty = replace(settings, timeout=0.3)
        access = ModelAccess(replace(settings, roles={"engineer": hasty}))
        found = []
        try:
            for agent in ("reader", "proof_engineer"):
                model = access.model_of(agent)
                try:
                    answers = [one async for one in model.generate_content_async(request(model))]
                    found.append(answers[0].content.parts[0].text)
                except ModelFailed as error:
                    found.append(str(error))
        finally:
            await close_clients()
        return found

    with ScriptedServer(says("yes", delay=1.0)) as server:
        patient, hasty = asyncio.run(ask(server.url))
    assert patient == "yes"
    assert "within 0.3 s" in hasty


def request(model: Any) -> Any:
    from google.adk.models.llm_request import LlmRequest
    from google.genai import types

    content = types.Content(role="user", parts=[types.Part(text="Well?")])
    return LlmRequest(model=model.model, contents=[content])
