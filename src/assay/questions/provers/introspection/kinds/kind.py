"""What a kind of claim is: it drafts proofs for those options of a reading it understands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from assay.questions.proofs.claims import Grounds, Relation
from assay.questions.provers.introspection.reading import Reading
from assay.questions.provers.introspection.writing import ProofText


@dataclass(frozen=True)
class Draft:
    """A claim about one option with its proof.

    `expected` is what the index says will come out, None where only running it can tell. It only
    chooses among drafts; what counts is what the proof does.
    """

    option: str
    relation: Relation
    text: ProofText
    expected: bool | None = None
    grounds: Grounds = Grounds.EXECUTED
    fresh: bool = False
    absent_path: bool = False

    @property
    def statement(self) -> str:
        return self.text.statement


class Kind(Protocol):
    """One sort of claim."""

    name: str

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        """Proofs for those options of a question that this kind of claim is about."""
        ...
