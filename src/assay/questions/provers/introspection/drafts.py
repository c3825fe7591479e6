"""Drafts of proofs: the parts that a claim kind provides, and the file written from them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from assay.questions.proofs.claims import Grounds, Relation
from assay.questions.provers.introspection.reading import ParsedQuestion

_WIDTH = 96


@dataclass(frozen=True)
class ProofParts:
    """What is in a proof: `disputed`, `instead` and constants are Python expressions.

    `holds`, `fails` and `controls` are the bodies of its tests, `helpers` whole functions. Where
    there is something of which the claim does hold, `instead`, saying so is a control. The proof
    then needs no run of its own with that in place, which an INSTEAD would ask for.
    """

    statement: str
    disputed: str
    holds: str
    fails: str
    imports: tuple[str, ...] = ()
    instead: str | None = None
    constants: tuple[tuple[str, str], ...] = ()
    helpers: tuple[str, ...] = ()
    controls: tuple[str, ...] = ()


def write_proof(option: str, text: ProofParts) -> str:
    """Return the file as it is kept and run."""
    stem = "option_" + re.sub(r"\W+", "_", option, flags=re.ASCII)
    constants = [("DISPUTED", text.disputed)]
    constants += text.constants
    blocks = [
        _docstring(option, text.statement),
        "\n".join(_sort_imports(text.imports)),
        "\n".join(f"{name} = {value}" for name, value in constants),
    ]
    functions = [_clean(one) for one in text.helpers]
    functions.append(_test(f"test_{stem}_holds", text.holds))
    functions.append(_test(f"test_{stem}_fails", text.fails))
    for number, control in enumerate(_controls(text)):
        suffix = "" if number == 0 else f"_{number + 1}"
        functions.append(_test(f"test_{stem}_control{suffix}", control))
    head = "\n\n".join(block for block in blocks if block)
    return head + "\n\n\n" + "\n\n\n".join(functions) + "\n"


def _controls(text: ProofParts) -> tuple[str, ...]:
    if text.instead is None:
        return text.controls
    return (*text.controls, text.holds.replace("DISPUTED", text.instead))


def _docstring(option: str, statement: str) -> str:
    plain = " ".join(statement.replace("\\", "/").replace('"""', "'''").split())
    lines = textwrap.wrap(f"Option {option}: {plain}", _WIDTH - 7) or [f"Option {option}"]
    # A quotation mark at the end would run into the closing ones.
    lines[-1] += "." if not lines[-1].endswith((".", "?", "!")) else ""
    if len(lines) == 1:
        return f'"""{lines[0]}"""'
    return '"""' + "\n".join(lines) + '\n"""'


def _sort_imports(imports: tuple[str, ...]) -> list[str]:
    plain = sorted(one for one in set(imports) if one.startswith("import "))
    return plain + sorted(one for one in set(imports) if not one.startswith("import "))


def _clean(code: str) -> str:
    return textwrap.dedent(code).strip("\n")


def _test(name: str, body: str) -> str:
    return f"def {name}():\n{textwrap.indent(_clean(body), '    ')}"


@dataclass(frozen=True)
class Draft:
    """A claim about one option with its proof.

    `expected` is what the index says will come out, None where only running it can tell. It only
    chooses among drafts; what counts is what the proof does.
    """

    option: str
    relation: Relation
    text: ProofParts
    expected: bool | None = None
    grounds: Grounds = Grounds.EXECUTED
    fresh: bool = False
    absent_path: bool = False

    @property
    def statement(self) -> str:
        return self.text.statement


class ClaimKind(Protocol):
    """One sort of claim."""

    name: str

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        """Proofs for those options of a question that this kind of claim is about."""
        ...
