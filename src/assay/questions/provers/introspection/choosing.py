"""Which of the drafts on a question become proofs: as few as settle what can be settled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from assay.questions.proofs.claims import Claim, Grounds, Proof, Relation
from assay.questions.proofs.store import proof_name
from assay.questions.provers.introspection.kinds import KINDS, Draft
from assay.questions.provers.introspection.kinds.calls import Calls
from assay.questions.provers.introspection.reading import Reading
from assay.questions.provers.introspection.writing import write_proof

PROVER = "introspection"


@dataclass(frozen=True)
class Considered:
    """A draft, and the kind of claim that made it."""

    kind: str
    draft: Draft


def consider(reading: Reading) -> dict[str, list[Considered]]:
    """Every draft that any kind of claim makes, by option."""
    found: dict[str, list[Considered]] = {option: [] for option in reading.offers}
    for kind in KINDS:
        # What fails is claimed only by the kind that says of a call that it raises.
        if reading.is_elsewhere or (reading.asks_for_failure and not isinstance(kind, Calls)):
            continue
        for draft in kind.drafts(reading):
            found[draft.option].append(Considered(kind.name, draft))
    return found


def choose(considered: Sequence[Considered]) -> Considered | None:
    """The draft that says most about an option: a refutation, a decision, a confirmation."""
    ranked = sorted(enumerate(considered), key=lambda one: (_weight(one[1].draft), one[0]))
    return ranked[0][1] if ranked else None


def _weight(draft: Draft) -> int:
    if draft.expected is False and draft.relation is not Relation.SUFFICIENT:
        return 0
    if draft.relation is Relation.EQUIVALENT:
        return 1
    return 2 if draft.grounds is Grounds.DOCUMENTED else 3


def proofs_of(considered: Mapping[str, Sequence[Considered]]) -> tuple[Proof, ...]:
    """One proof for every option of which something can be said."""
    return tuple(_proofs(considered))


def _proofs(considered: Mapping[str, Sequence[Considered]]) -> Iterable[Proof]:
    for option, drafts in considered.items():
        chosen = choose(drafts)
        if chosen is None:
            continue
        draft = chosen.draft
        claim = Claim(
            option=option,
            statement=draft.statement,
            relation=draft.relation,
            kind=chosen.kind,
            grounds=draft.grounds,
            fresh=draft.fresh,
            absent_path=draft.absent_path,
        )
        yield Proof(claim, proof_name(option), write_proof(option, draft.text), PROVER)
