"""Options of command lines: `--flag` of a command that the question or the option names."""

from __future__ import annotations

from collections.abc import Iterable

from assay.questions.index import Symbol
from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.reading import Form, Mention, Noun, Offer, Reading
from assay.questions.provers.introspection.writing import ProofText
from assay.questions.provers.introspection.writing.helpers import COMMAND


class Commands:
    """An option that offers a flag."""

    name = "command-option"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        for offer in reading.offers.values():
            command = command_of(offer, reading)
            flag = next((one for one in offer.named if one.form is Form.FLAG), None)
            if flag is not None and command is not None:
                yield _draft(offer, flag.name, command, reading)


def command_of(offer: Offer, reading: Reading) -> Symbol | None:
    """The command the option speaks of, or else the only one the question names."""
    for mentions in (offer.mentions, reading.asked.mentions):
        found = {one.path: one for one in _commands(mentions, reading)}
        if found:
            return next(iter(found.values())) if len(found) == 1 else None
    return None


def _commands(mentions: Iterable[Mention], reading: Reading) -> Iterable[Symbol]:
    for mention in mentions:
        if mention.form not in (Form.COMMAND, Form.NAME) or not mention.quoted:
            continue
        words = [word for word in mention.code.split() if not word.startswith("-")]
        found = reading.library.owner(" ".join(words), ("command",))
        if found is not None:
            yield found


def _draft(offer: Offer, flag: str, command: Symbol, reading: Reading) -> Draft:
    known = {name for name in reading.library.members(command) if name.startswith("-")}
    known |= {alias for one in reading.library.members(command).values() for alias in one.aliases}
    program, *subcommands = command.path.split()
    is_there = flag in known
    is_whole = reading.asked.is_whole and reading.asked.noun in (Noun.FLAG, Noun.FIELD)
    instead = None if is_there else next(iter(sorted(known - {"--help"})), "--help")
    return Draft(
        option=offer.option,
        relation=Relation.EQUIVALENT if is_whole else Relation.NECESSARY,
        text=ProofText(
            statement=f"`{command.path}` has the option `{flag}`",
            imports=("import click", "from importlib.metadata import entry_points"),
            disputed=repr(flag),
            instead=None if instead is None else repr(instead),
            constants=(("PROGRAM", repr(program)), ("SUBCOMMANDS", repr(tuple(subcommands)))),
            helpers=(COMMAND,),
            holds="assert DISPUTED in options()",
            fails="assert DISPUTED not in options()",
        ),
        expected=is_there,
    )
