"""The lexical reader: from a parsed question to claims, without a model and without the key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from assay.questions.claims import kinds
from assay.questions.lexical.behaviour import read_behaviour
from assay.questions.lexical.documented import read_documented
from assay.questions.lexical.names import Reading, read_names
from assay.questions.lexical.parsed_question import ParsedQuestion
from assay.questions.lexical.values import read_values
from assay.questions.proofs.claims import Grounds, Relation

READERS: tuple[Callable[[ParsedQuestion], Iterator[Reading]], ...] = (
    read_behaviour,
    read_values,
    read_names,
    read_documented,
)


def read_claims(parsed: ParsedQuestion) -> dict[str, list[Reading]]:
    """Return every claim that can be read, by option."""
    found: dict[str, list[Reading]] = {letter: [] for letter in parsed.options}
    if parsed.is_outside_target:
        return found
    for read in READERS:
        # Of what fails only running it tells anything.
        if parsed.asks_for_failure and read is not read_behaviour:
            continue
        for reading in read(parsed):
            found[reading.option].append(reading)
    return found


def choose(readings: Sequence[Reading]) -> Reading | None:
    """Return the claim that says most: a refutation, a decision, a confirmation."""
    return min(readings, key=_weight) if readings else None


def _weight(reading: Reading) -> int:
    claim = reading.claim
    if reading.expected is False and claim.relation is not Relation.SUFFICIENT:
        return 0
    if claim.relation is Relation.EQUIVALENT:
        return 1
    if isinstance(claim, kinds.Experiment):
        return 2
    return 3 if claim.grounds is Grounds.DOCUMENTED else 4
