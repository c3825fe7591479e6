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
    same has a `twin`. Both are read anew each time and never stored. `model` names the model that
    made the claim, if one did and that is known.
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


_HELPERS = '''\
def exists(path):
    """Import as much of a dotted path as is a module, and look the rest up in what it holds."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError as error:
            # Only that this very path has no such part is absence; all else is trouble of its own.
            if error.name is None or not f"{module}.".startswith(f"{error.name}."):
                raise
            continue
        return holds_all(found, parts[length:])
    return False


def holds_all(owner, names):
    for name in names[:-1]:
        if not hasattr(owner, name):
            return False
        owner = getattr(owner, name)
    return not names or hasattr(owner, names[-1]) or is_declared(owner, names[-1])


def is_declared(owner, name):
    """Whether a class declares a field that it does not carry as an attribute."""
    classes = getattr(owner, "__mro__", ())
    return any(name in vars(one).get("__annotations__", {}) for one in classes)
'''


def existence_helpers() -> str:
    """Return the functions `exists` and what it uses, for proofs that look a path up."""
    return _HELPERS
