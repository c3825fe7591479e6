"""Explains how the prover read a question: what it understood, tried, and left open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.questions.examination import Examination, examine
from assay.questions.model import Question
from assay.questions.proof_runners import TargetRunner
from assay.questions.provers.introspection.prover import (
    Candidate,
    IntrospectionProver,
    choose,
    consider,
    why_open,
)
from assay.questions.provers.introspection.reading import (
    ParsedOption,
    ParsedQuestion,
    Tie,
    parse_question,
)
from assay.questions.verdict.exceptions import ExceptionMatch
from assay.questions.verdict.stems import classify

_LONGEST = 100


async def explain(
    question: Question, runner: TargetRunner, exception_match: ExceptionMatch
) -> list[str]:
    """Return the lines of an explanation; the proofs are run for it, and nothing is stored."""
    prover = IntrospectionProver()
    library = await prover.library(question, runner)
    if isinstance(library, str):
        return [f"nothing was tried: {library}"]
    parsed = parse_question(question, list(question.options), library)
    candidates = consider(parsed)
    examination = await examine(question, [], replace(runner, provers=(prover,)), exception_match)
    return [*_question_lines(parsed), *_option_lines(parsed, candidates, examination)]


def _question_lines(parsed: ParsedQuestion) -> Iterator[str]:
    focus, stem = parsed.focus, classify(parsed.question.text)
    words = f" (by {stem.sign!r})" if stem.sign else ""
    yield f"the stem: {stem.kind.value}{words}"
    whose = ""
    if parsed.owner is not None:
        how = {Tie.OWN: "of", Tie.NEAR: "probably of", Tie.NONE: "perhaps of"}[focus.tie]
        whose = f", {how} {parsed.owner.path}"
    enough = "; to be one is all that is asked" if focus.is_whole else ""
    yield f"it asks for: {focus.word or focus.noun.value}{whose}{enough}"
    for name, symbol in sorted(parsed.types.items()):
        yield f"it says that {name} is a {symbol.path}"
    yield f"looked up in: {', '.join(parsed.library.distributions)}"


def _option_lines(
    parsed: ParsedQuestion, candidates: dict[str, list[Candidate]], examination: Examination
) -> Iterator[str]:
    for letter, text in parsed.question.options.items():
        yield ""
        yield f"{letter}: {_short(text)}"
        option = parsed.options.get(letter)
        if option is None:
            yield "  made of other options: derived, never proven"
            continue
        yield f"  read as: {_format_option(option)}"
        yield from _format_attempt(letter, parsed, candidates[letter])
        finding = examination.findings[letter]
        yield f"  {finding.state.value}: {finding.reason}"


def _format_attempt(
    letter: str, parsed: ParsedQuestion, candidates: Sequence[Candidate]
) -> Iterator[str]:
    chosen = choose(candidates)
    if chosen is None:
        yield f"  tried: nothing, for {why_open(letter, parsed)}"
        return
    draft = chosen.draft
    how = f"{chosen.kind}, {draft.relation.value}, {draft.grounds.value}"
    yield f"  tried: {draft.statement} ({how})"
    for other in candidates:
        if other is not chosen:
            yield f"  not needed: {other.draft.statement} ({other.kind})"


def _format_option(option: ParsedOption) -> str:
    if option.whole is not None:
        return f"{option.whole.form.value} `{_short(option.whole.code)}`"
    if not option.mentions:
        return "prose"
    negated = ", which its words may deny or leave open" if option.is_negated else ""
    names = ", ".join(f"{one.form.value} `{_short(one.code)}`" for one in option.mentions)
    return f"prose with {names}{negated}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
