"""Modes that a model finds: proposed once, each failure placed by itself, causes never mixed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from assay.agents.assessment import Assessment, assess, name_modes
from assay.errors import InfrastructureError
from assay.model import AttributeResult, CaseRecord, Outcome, VerificationResult, VerifierReport
from assay.models import ModelClient, ModelSettings
from tests.models.scripted_server import Received, Reply, Script, ScriptedServer, says_json

# Four modes in which no two answers share a word that would give them away.
PLANTED = {
    "refuses": ["I cannot help.", "No way!", "That is against policy.", "Ask somebody else."],
    "wrong city": ["Lyon, of course.", "It must be Nice.", "Marseille"],
    "asks back": ["Which country?", "Could you be more precise?", "Say more, please"],
    "wrong language": ["Das weiß ich nicht", "Je ne sais pas", "No lo sé", "Nem tudom"],
}
ANSWERS = [(mode, answer) for mode, answers in PLANTED.items() for answer in answers]


def record(*failed: tuple[str, str, str]) -> CaseRecord:
    """Samples that failed a check for a value with an answer, and as many that passed."""
    reports = [
        VerifierReport(
            id="a", group="samples", type="Core", duration=0.0,
            results={check: AttributeResult.of(
                check, answer, value, VerificationResult.create("why", is_correct)
            )},
        )
        for is_correct in (False, True)
        for check, value, answer in failed
    ]  # fmt: skip
    return CaseRecord(id="t", subject="agents", outcome=Outcome.FAILED, reports=reports)


def named(assessment: Assessment, script: Script) -> tuple[Assessment, ScriptedServer]:
    async def name(client: ModelClient) -> Assessment:
        async with client:
            return await name_modes(assessment, client)

    with ScriptedServer(script) as model:
        client = ModelClient(ModelSettings("scripted", model.url, patience=0.0))
        return asyncio.run(name(client)), model


def knowing(received: Received) -> Reply:
    """A model that proposes what was planted and knows where each answer belongs."""
    told: dict[str, Any] = json.loads(received.last)
    if "failures" in told:
        modes = [{"title": mode, "description": f"It {mode}."} for mode in PLANTED]
        return says_json({"modes": modes})
    titles = [mode["title"] for mode in told["modes"]]
    planted = {answer: mode for mode, answer in ANSWERS}
    mode = planted.get(told["failure"]["answer"])
    return says_json({"mode": titles.index(mode) + 1 if mode else 0})


def test_planted_modes_with_paraphrases_are_found_pure_and_complete() -> None:
    failed = [("1.text.gist", "The answer is Paris.", answer) for _, answer in ANSWERS]
    found, model = named(assess(record(*failed)), knowing)
    assert {mode.title: len(mode.samples) for mode in found.modes} == {
        mode: len(answers) for mode, answers in PLANTED.items()
    }
    for mode in found.modes:
        assert {ANSWERS[sample - 1][0] for sample in mode.samples} == {mode.title}
        assert mode.description == f"It {mode.title}."
    # Proposed once; then every failure by itself, without the others.
    requests = [json.loads(request.last) for request in model.requests]
    assert [("failures" in one) for one in requests] == [True] + [False] * len(ANSWERS)
    assert len(requests[0]["failures"]) == len(ANSWERS)


def test_the_same_answer_is_placed_once_however_many_samples_gave_it() -> None:
    failed = [("1.text.gist", "Paris", "No way!")] * 5
    found, model = named(assess(record(*failed)), knowing)
    assert [(mode.title, mode.samples) for mode in found.modes] == [("refuses", (1, 2, 3, 4, 5))]
    assert model.calls == 2


def test_failures_of_different_checks_or_values_are_never_one_mode() -> None:
    failed = [
        ("1.text.gist", "one", "No way!"), ("1.text.gist", "two", "No way!"),
        ("2.text.gist", "one", "No way!"), ("1.text.keywords", "one", "No way!"),
    ]  # fmt: skip
    found, _ = named(assess(record(*failed)), knowing)
    assert [(mode.title, len(mode.samples)) for mode in found.modes] == [("refuses", 1)] * 4


@pytest.mark.parametrize("number", [0, 99])
def test_what_fits_no_proposed_mode_is_various(number: int) -> None:
    def unsure(received: Received) -> Reply:
        return knowing(received) if "failures" in received.last else says_json({"mode": number})

    failed = [("1.text.gist", "Paris", answer) for _, answer in ANSWERS[:3]]
    found, _ = named(assess(record(*failed)), unsure)
    assert [(mode.is_various, mode.title, mode.samples) for mode in found.modes] == [
        (True, "", (1, 2, 3))
    ]


def test_without_failures_nothing_is_asked_and_a_broken_model_is_told() -> None:
    _, model = named(assess(record()), knowing)
    assert model.calls == 0
    with pytest.raises(InfrastructureError):
        named(assess(record(("1.text.gist", "Paris", "x"))), says_json({"modes": []}))
