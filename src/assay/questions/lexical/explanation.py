"""Explains how the prover read a question: what it understood, tried, and left open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.questions.examination import Examination, examine
from assay.questions.lexical.names import Reading
from assay.questions.lexical.parsed_question import ParsedOption, ParsedQuestion, parse_question
from assay.questions.lexical.prover import LexicalProver, why_open
from assay.questions.lexical.reader import choose, read_claims
from assay.questions.lexical.stem import Tie
from assay.questions.model import Question
from assay.questions.proof_runners import TargetRunner
from assay.questions.verdict.exceptions import ExceptionMatch
from assay.questions.verdict.stems import classify

_LONGEST = 100


async def explain(
    question: Question, runner: TargetRunner, exception_match: ExceptionMatch
) -> list[str]:
    """Return the lines of an explanation; the proofs are run for it, and nothing is stored."""
    prover = LexicalProver()
    library = await prover.library(question, runner)
    if isinstance(library, str):
        return [f"nothing was tried: {library}"]
    parsed = parse_question(question, list(question.options), library)
    readings = read_claims(parsed)
    examination = await examine(question, [], replace(runner, provers=(prover,)), exception_match)
    return [*_question_lines(parsed), *_option_lines(parsed, readings, examination)]


def _question_lines(parsed: ParsedQuestion) -> Iterator[str]:
    asked, stem = parsed.stem, classify(parsed.question.text)
    words = f" (by {stem.sign!r})" if stem.sign else ""
    yield f"the stem: {stem.kind.value}{words}"
    whose = ""
    if parsed.owner is not None:
        how = {Tie.OWN: "of", Tie.NEAR: "probably of", Tie.NONE: "perhaps of"}[parsed.tie]
        whose = f", {how} {parsed.owner.path}"
    enough = "; to be one is all that is asked" if parsed.is_whole else ""
    yield f"it asks for: {asked.word or asked.noun.value}{whose}{enough}"
    for name, symbol in sorted(parsed.types.items()):
        yield f"it says that {name} is a {symbol.path}"
    yield f"looked up in: {', '.join(parsed.library.distributions)}"


def _option_lines(
    parsed: ParsedQuestion, readings: dict[str, list[Reading]], examination: Examination
) -> Iterator[str]:
    for letter, text in parsed.question.options.items():
        yield ""
        yield f"{letter}: {_short(text)}"
        option = parsed.options.get(letter)
        if option is None:
            yield "  made of other options: derived, never proven"
            continue
        yield f"  read as: {_format_option(option)}"
        yield from _format_attempt(letter, parsed, readings[letter])
        finding = examination.findings[letter]
        yield f"  {finding.state.value}: {finding.reason}"


def _format_attempt(
    letter: str, parsed: ParsedQuestion, readings: Sequence[Reading]
) -> Iterator[str]:
    chosen = choose(readings)
    if chosen is None:
        yield f"  tried: nothing, for {why_open(letter, parsed)}"
        return
    claim = chosen.claim
    how = f"{claim.kind}, {claim.relation.value}, {claim.grounds.value}"
    yield f"  tried: {claim.statement} ({how})"
    for other in readings:
        if other is not chosen:
            yield f"  not needed: {other.claim.statement} ({other.claim.kind})"


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
