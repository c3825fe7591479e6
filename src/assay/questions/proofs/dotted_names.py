"""The proof that a full dotted name can be reached: the one kind of claim the core itself makes."""

from __future__ import annotations

from assay.questions.proofs.claims import Claim, Proof, Relation
from assay.questions.proofs.store import proof_name

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

_TEMPLATE = '''\
"""`{name}` can be reached by its full name."""

import importlib

DISPUTED = {name!r}


{helpers}


def test_{test}_holds():
    assert exists(DISPUTED), f"{{DISPUTED}} cannot be reached"


def test_{test}_fails():
    assert not exists(DISPUTED), f"{{DISPUTED}} can be reached"


def test_{test}_control():
    assert exists({anchor!r})
'''


def existence_helpers() -> str:
    """Return the functions `exists` and what it uses, for proofs that look a path up."""
    return _HELPERS


def prove_dotted_name(option: str, name: str, number: int = 1) -> Proof:
    """Return the proof for a dotted name; its first part is what must be there in any case."""
    file = proof_name(option, number)
    claim = Claim(
        option=option,
        statement=f"`{name}` can be reached by its full name",
        relation=Relation.NECESSARY,
        kind="dotted-name",
        fresh=True,
        absent_path=True,
    )
    source = _TEMPLATE.format(
        name=name,
        helpers=_HELPERS.rstrip(),
        test=file.removeprefix("test_").removesuffix(".py"),
        anchor=name.partition(".")[0],
    )
    return Proof(claim, file, source, prover="core")
