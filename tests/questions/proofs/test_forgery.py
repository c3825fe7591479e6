"""Bogus proofs of false claims settle nothing as true, and honest proofs of every kind settle."""

from __future__ import annotations

import asyncio

import pytest
from _pytest.mark import ParameterSet

from assay.questions.model import Question
from assay.questions.proofs.forgery import check_forgery, read_given
from assay.questions.proofs.proof_file import UnfitProofError
from assay.questions.proofs.proving import Trial, try_proof
from assay.questions.verdict.option_findings import Truth
from assay.sandbox import ProofRunner, Target, environment
from tests.questions.proofs.corpus import Sample, read_corpus

BOGUS = read_corpus("bogus.txt", "bogus_fresh.txt", "blind_bogus.txt", "blind_hostile.txt")
REFUTING = read_corpus("blind_refuting.txt")
HONEST = read_corpus("honest.txt", "honest_fresh.txt", "blind_honest.txt")
EVERY = BOGUS + REFUTING + HONEST
IMPORTS = ("attrs", "click", "httpx", "jinja2", "packaging", "pydantic", "sortedcontainers", "yaml")
# What still gets through, or is still refused, and why no rule is made of it.
LEFT = {
    "exception-by-base": "it shows something true of another class than its claim is about",
    "another-home-of-settings": "variables of the environment may be set, for what needs a key",
    "switched-before": "a setting of the target may be the subject of a question",
    "the-element-raises": "an error of a callback passes through the target, as it may have to",
    "only-one-item": "its example cannot tell the last from the first, which only a reader sees",
    "exists-but-refuses": "that it exists is necessary and not sufficient, which the relation says",
    "none-stands-for-it": "a signature says None where the code puts something else",
    "texts-compared": "it compares texts where the claim is about values",
    "a-slip-that-says-the-word": "an error that names the parameter for another reason",
    "a-refused-keyword": "a side may fail by a check of its own alone, as the documentation says",
    "a-class-of-tests": "the tests of a proof are functions, as the documentation says",
}


@pytest.fixture(scope="module")
def trials() -> dict[str, Trial]:
    """Every proof of the corpus, run as `verify` runs it."""

    async def try_all() -> list[Trial]:
        built = environment(Target(current=True))
        async with ProofRunner(built, imports=IMPORTS, concurrency=2) as runner:
            tried = (try_proof(one.proof, runner, question=one.question) for one in EVERY)
            return await asyncio.gather(*tried)

    found = asyncio.run(try_all())
    return {one.name: trial for one, trial in zip(EVERY, found, strict=True)}


def params(samples: list[Sample]) -> list[ParameterSet]:
    return [
        pytest.param(
            one,
            id=one.name,
            marks=[pytest.mark.xfail(strict=True, reason=LEFT[one.name])]
            if one.name in LEFT
            else [],
        )
        for one in samples
    ]


@pytest.mark.parametrize("sample", params(BOGUS))
def test_a_bogus_proof_never_settles_as_true(sample: Sample, trials: dict[str, Trial]) -> None:
    settled = trials[sample.name].settled
    assert settled.truth is not Truth.TRUE
    assert settled.reason


@pytest.mark.parametrize("sample", params(REFUTING))
def test_a_proof_that_does_not_look_everywhere_refutes_nothing(
    sample: Sample, trials: dict[str, Trial]
) -> None:
    settled = trials[sample.name].settled
    assert settled.truth is not Truth.FALSE
    assert settled.reason


@pytest.mark.parametrize("sample", params(HONEST))
def test_an_honest_proof_settles_as_it_should(sample: Sample, trials: dict[str, Trial]) -> None:
    settled = trials[sample.name].settled
    assert settled.truth is Truth[sample.expected], settled.reason


def test_the_corpora_are_large_enough() -> None:
    assert len(BOGUS) >= 45
    assert len(HONEST) >= 45
    assert (
        len({one.proof.source for one in EVERY}) == len(EVERY) == len({one.name for one in EVERY})
    )


FEEDING = '''\
"""Option A: the port is 8080."""
import httpx
DISPUTED = 8080
def test_option_A_holds():
    assert httpx.URL("http://example.org", port=8080).port == DISPUTED
def test_option_A_fails():
    assert httpx.URL("http://example.org", port=8080).port != DISPUTED
'''


@pytest.mark.parametrize(
    ("text", "option", "is_refused"),
    [
        ("Which port is used by default?", "8080", True),
        ('What is `httpx.URL("http://example.org", port=8080).port`?', "8080", False),
        ("Which call gives a URL with this port?", "`httpx.URL('', port=8080)`", False),
    ],
)
def test_a_proof_may_repeat_only_what_the_question_shows(
    text: str, option: str, is_refused: bool
) -> None:
    given = read_given(Question("one", text, {"A": option, "B": "Another."}), "A")
    if is_refused:
        with pytest.raises(UnfitProofError, match="brings the disputed value along: 8080"):
            check_forgery(FEEDING, given)
    else:
        check_forgery(FEEDING, given)


OVERRIDING = '''\
"""Option A: `model_dump` gives a list."""
from pydantic import BaseModel
DISPUTED = ["Ada"]
class User(BaseModel):
    name: str
    def model_dump(self):
        return list(super().model_dump().values())
def test_option_A_holds():
    assert User(name="Ada").model_dump() == DISPUTED
def test_option_A_fails():
    assert User(name="Ada").model_dump() != DISPUTED
'''


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("What does a subclass have to override?", Truth.TRUE),
        ("What does this `model_dump` give?", Truth.TRUE),
        ("What happens here?", Truth.OPEN),
    ],
)
def test_names_of_the_target_are_overridden_only_where_that_is_the_question(
    text: str, truth: Truth
) -> None:
    sample = HONEST[0]
    claim = sample.proof.claim
    proof = type(sample.proof)(claim, "test_option_A.py", OVERRIDING)
    question = Question("one", text, {"A": "A list.", "B": "A dictionary."})

    async def attempt() -> Trial:
        async with ProofRunner(environment(Target(current=True)), concurrency=1) as runner:
            return await try_proof(proof, runner, question=question)

    settled = asyncio.run(attempt()).settled
    assert settled.truth is truth, settled.reason
    if truth is Truth.OPEN:
        assert "overrides a name of the target and then asks for it: model_dump" in settled.reason
