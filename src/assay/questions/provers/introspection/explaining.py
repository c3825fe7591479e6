"""Explains a question as the prover saw it: what it understood, tried, and left open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.questions.examining import Bench, Examination, examine
from assay.questions.model import Question
from assay.questions.provers.introspection.choosing import Considered, choose, consider
from assay.questions.provers.introspection.prover import IntrospectionProver, why_open
from assay.questions.provers.introspection.reading import Offer, Reading, Tie, read_question
from assay.questions.verdict.stems import classify

_LONGEST = 100


async def explain(question: Question, bench: Bench) -> list[str]:
    """The lines of an explanation; the proofs are run for it, and nothing is stored."""
    prover = IntrospectionProver()
    library = await prover.library(question, bench)
    if isinstance(library, str):
        return [f"nothing was tried: {library}"]
    reading = read_question(question, list(question.options), library)
    considered = consider(reading)
    examination = await examine(question, [], _only(prover, bench))
    return [*_question_lines(reading), *_option_lines(reading, considered, examination)]


def _only(prover: IntrospectionProver, bench: Bench) -> Bench:
    return Bench(bench.runner, bench.environment, bench.modules, (prover,), bench.exception_match)


def _question_lines(reading: Reading) -> Iterator[str]:
    asked, stem = reading.asked, classify(reading.question.text)
    words = f" (by {stem.sign!r})" if stem.sign else ""
    yield f"the stem: {stem.kind.value}{words}"
    whose = ""
    if reading.owner is not None:
        how = {Tie.OWN: "of", Tie.NEAR: "probably of", Tie.NONE: "perhaps of"}[asked.tie]
        whose = f", {how} {reading.owner.path}"
    enough = "; to be one is all that is asked" if asked.is_whole else ""
    yield f"it asks for: {asked.word or asked.noun.value}{whose}{enough}"
    for name, symbol in sorted(reading.types.items()):
        yield f"it says that {name} is a {symbol.path}"
    yield f"looked up in: {', '.join(reading.library.distributions)}"


def _option_lines(
    reading: Reading, considered: dict[str, list[Considered]], examination: Examination
) -> Iterator[str]:
    for option, text in reading.question.options.items():
        yield ""
        yield f"{option}: {_short(text)}"
        offer = reading.offers.get(option)
        if offer is None:
            yield "  made of other options: derived, never proven"
            continue
        yield f"  read as: {_understood(offer)}"
        yield from _tried(option, reading, considered[option])
        finding = examination.findings[option]
        yield f"  {finding.state.value}: {finding.reason}"


def _tried(option: str, reading: Reading, considered: Sequence[Considered]) -> Iterator[str]:
    chosen = choose(considered)
    if chosen is None:
        yield f"  tried: nothing, for {why_open(option, reading)}"
        return
    draft = chosen.draft
    how = f"{chosen.kind}, {draft.relation.value}, {draft.grounds.value}"
    yield f"  tried: {draft.statement} ({how})"
    for other in considered:
        if other is not chosen:
            yield f"  not needed: {other.draft.statement} ({other.kind})"


def _understood(offer: Offer) -> str:
    if offer.whole is not None:
        return f"{offer.whole.form.value} `{_short(offer.whole.code)}`"
    if not offer.mentions:
        return "prose"
    negated = ", which its words may deny or leave open" if offer.is_negated else ""
    names = ", ".join(f"{one.form.value} `{_short(one.code)}`" for one in offer.mentions)
    return f"prose with {names}{negated}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
