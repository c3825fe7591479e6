"""Claims: what an option asserts, how a proof settles it, and the proof for a dotted name.

Kinds of claims, and what writes their proofs, are in `questions.claims`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

# The prover of what a person wrote, that of what a person claims, and that of what a model did.
WRITTEN = "written"
PERSON = "person"
MODELLED = "modelled"
# Names that provers had when earlier versions stored their proofs.
FORMER_PROVERS = {"introspection": "lexical"}


class Relation(StrEnum):
    """What the truth of a claim means for its option."""

    NECESSARY = "necessary"  # false refutes the option, true leaves it open
    SUFFICIENT = "sufficient"  # true confirms the option, false leaves it open
    EQUIVALENT = "equivalent"  # both
    PREMISE = "premise"  # false: the question asks about something that is not there
    TWIN = "twin"  # true: two options are the same thing, so neither can be the only answer
    IMPLIED = "implied"  # true: if this option is an answer, so is its twin


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
    A premise is about the question as a whole and has no option; a claim that two options are the
    same, or that one implies the other, has a `twin`. They are read anew each time and never
    stored, nor are claims `by_person`.
    `model` names the model that made the claim, if one did and that is known, and `asks` how it
    reads the question, which counts where the words of the question leave a doubt. `reviewer` names
    the model that reviewed it, `agreed` the relation that this one sees (none, if the claim decides
    nothing) and `agreed_asks` how it reads the question.
    """

    option: str
    statement: str
    relation: Relation
    kind: str = WRITTEN
    grounds: Grounds = Grounds.EXECUTED
    fresh: bool = False
    absent_path: bool = False
    twin: str = ""
    model: str = ""
    asks: str = ""
    by_person: bool = False
    reviewer: str = ""
    agreed: str = ""
    agreed_asks: str = ""


@dataclass(frozen=True)
class Proof:
    """A claim and the plain pytest file that settles it."""

    claim: Claim
    file: str
    source: str
    prover: str = WRITTEN


def proof_name(option: str, number: int = 1) -> str:
    """Return the file name of an option's first, second, … proof."""
    letters = re.sub(r"\W+", "_", option, flags=re.ASCII)
    return f"test_option_{letters}{'' if number == 1 else f'_{number}'}.py"
