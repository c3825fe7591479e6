"""Claims: what an option asserts, how that relates to the option, and the proof that settles it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

# The prover of what a person wrote, and that of what a model did.
WRITTEN = "written"
MODELLED = "modelled"


class Relation(StrEnum):
    """What the truth of a claim means for its option."""

    NECESSARY = "necessary"  # false refutes the option, true leaves it open
    SUFFICIENT = "sufficient"  # true confirms the option, false leaves it open
    EQUIVALENT = "equivalent"  # both


class Grounds(StrEnum):
    """What a claim rests on.

    That the library's own documentation says so confirms an option but never accuses a question:
    documentation can lie, and words can be read in more than one way.
    """

    EXECUTED = "executed"
    DOCUMENTED = "documented"


@dataclass(frozen=True)
class Claim:
    """One testable statement about one option.

    `kind` names the sort of claim ("written" by hand, "import", "member", …). `fresh` asks for a
    new interpreter, as every question about imports must. `absent_path` marks the statement that a
    full dotted name exists, whose failure leaves no doubt about how the option is to be read.
    """

    option: str
    statement: str
    relation: Relation
    kind: str = WRITTEN
    grounds: Grounds = Grounds.EXECUTED
    fresh: bool = False
    absent_path: bool = False


@dataclass(frozen=True)
class Proof:
    """A claim and the plain pytest file that settles it."""

    claim: Claim
    file: str
    source: str
    prover: str = WRITTEN
