"""Outcomes: what the code of a question raises, prints or returns, found out by running it."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.library import CLASSES
from assay.questions.provers.introspection.reading import Form, Mention, Noun, Offer, Reading
from assay.questions.provers.introspection.reading.programs import (
    Program,
    needs_new_interpreter,
    read_program,
)
from assay.questions.provers.introspection.writing import ProofText
from assay.questions.provers.introspection.writing.programs import (
    CONTROL,
    LOOSE,
    OUTCOME,
    PROGRAM_IMPORTS,
    RAISED,
    VALUE,
    literal,
)

_RAISES = re.compile(r"\b(?:raises?|raised|throws?|thrown|fails with|results? in)\b", re.IGNORECASE)
_ANY_ERROR = re.compile(r"\b(?:raises?|throws?) an? (?:\w+ )?(?:exception|error)\b", re.IGNORECASE)
_NO_ERROR = re.compile(
    r"\W*(?:no (?:error|exception)s?(?: (?:is|are|will be|gets) (?:raised|thrown))?(?: at all)?"
    r"|(?:it|the code|this|everything) (?:runs|works|executes|succeeds|completes)"
    r"(?: fine| successfully| without (?:any )?(?:errors?|exceptions?|problems?))?"
    r"|nothing is raised|it does not raise(?: anything| an (?:error|exception))?)\W*",
    re.IGNORECASE,
)
_PRINTS = re.compile(r"\W*(?:it |the code )?(?:prints?|outputs?)\s+`([^`]+)`\W*", re.IGNORECASE)
_ASKS_PRINT = re.compile(r"\b(?:print|printed|output|outputs)\b", re.IGNORECASE)
_ASKS_OUTPUT = re.compile(
    r"\bwhat (?:is|will be|gets) printed\b|\bwhat is the output\b"
    r"|\bwhat (?:does|will) (?:the|this|it|following|code|snippet|program|script|example|\s)+"
    r"(?:print|output)\b",
    re.IGNORECASE,
)
_ASKS_VALUE = re.compile(r"\b(?:return|returns|returned|evaluate|value|result)\b", re.IGNORECASE)
_MESSAGE = re.compile(r"\b(?:message|saying|says|because|since|with)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Exception:
    expression: str
    imports: tuple[str, ...] = ()


class Outcomes:
    """Options that say what happens when the code of the question runs."""

    name = "outcome"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        if reading.asked.noun not in (Noun.EXCEPTION, Noun.OUTCOME, Noun.OTHER):
            return
        program = read_program(reading)
        if isinstance(program, str):
            return
        fresh = needs_new_interpreter(program, reading.library)
        for offer in reading.offers.values():
            draft = _draft(offer, program, reading)
            if draft is not None:
                yield replace(draft, fresh=fresh)


_PRINTING = ("import contextlib", "import io", *PROGRAM_IMPORTS)


def _draft(offer: Offer, program: Program, reading: Reading) -> Draft | None:
    found = _raising(offer, program, reading)
    if found is not None:
        relation = Relation.NECESSARY if _says_more(offer) else Relation.EQUIVALENT
        return Draft(offer.option, relation, found)
    if _ANY_ERROR.search(offer.text) and not offer.mentions:
        return _equivalent(offer, ending_text(program, "raises"))
    if _NO_ERROR.fullmatch(offer.text):
        return _equivalent(offer, ending_text(program, "runs"))
    printed = _printed(offer, reading)
    if printed is not None:
        return _equivalent(offer, _printing(program, printed, reading))
    value = _literal_of(offer)
    if value is not None and program.expression and _ASKS_VALUE.search(reading.asked.prose):
        return _equivalent(offer, valued_text(program, value))
    if _ASKS_OUTPUT.search(reading.asked.prose) and not offer.mentions:
        return _equivalent(offer, _printing_words(program, offer, reading))
    return None


def _equivalent(offer: Offer, text: ProofText) -> Draft:
    return Draft(offer.option, Relation.EQUIVALENT, text)


def _says_more(offer: Offer) -> bool:
    return offer.whole is None and _MESSAGE.search(offer.text) is not None


# --- Exceptions --------------------------------------------------------------------------------


def _raising(offer: Offer, program: Program, reading: Reading) -> ProofText | None:
    mention = _exception_mention(offer, reading)
    return None if mention is None else raising_text(mention, program, reading)


def raising_text(mention: Mention, program: Program, reading: Reading) -> ProofText | None:
    """The proof that a program raises a certain exception."""
    found = exception_class(mention.name, program, reading)
    if found is None:
        return None
    return ProofText(
        statement=f"the code raises `{mention.name}`",
        imports=("import pytest", *PROGRAM_IMPORTS, *found.imports),
        disputed=found.expression,
        constants=_constants(program),
        helpers=(RAISED,),
        holds="""
error = raised()
assert isinstance(error, DISPUTED), f"it ends with {error!r}"
with pytest.raises(DISPUTED):
    raise error
""",
        fails="assert not isinstance(raised(), DISPUTED)",
        controls=(CONTROL,),
    )


def _exception_mention(offer: Offer, reading: Reading) -> Mention | None:
    """The exception an option names, be it alone or in "it raises …"."""
    if offer.whole is not None:
        is_name = offer.whole.form in (Form.NAME, Form.CALL)
        return offer.whole if is_name and reading.asked.noun is Noun.EXCEPTION else _bare(offer)
    names = [one for one in offer.mentions if one.form in (Form.NAME, Form.CALL)]
    if len(names) == 1 and _RAISES.search(offer.text) and not offer.is_negated:
        return names[0]
    return None


def _bare(offer: Offer) -> Mention | None:
    """A whole option that can be nothing but an exception."""
    whole = offer.whole
    assert whole is not None
    is_error = whole.form is Form.NAME and whole.last.endswith(("Error", "Exception"))
    return whole if is_error else None


def exception_class(name: str, program: Program, reading: Reading) -> _Exception | None:
    """How a proof writes an exception class: Python's, the target's, or one the code imports."""
    builtin = getattr(builtins, name, None)
    if isinstance(builtin, type) and issubclass(builtin, Exception):
        return _Exception(name)
    imported = [
        line
        for line in program.setup.splitlines()
        if re.match(rf"from [\w.]+ import {re.escape(name)}$", line)
    ]
    if imported:
        return _Exception(name, (imported[0],))
    symbol = reading.library.owner(name, CLASSES)
    if symbol is None or not _is_exception(symbol.kind, symbol.bases):
        return None
    place = reading.library.place(symbol)
    return _Exception(place.expression, (place.statement,))


def _is_exception(kind: str, bases: tuple[str, ...]) -> bool:
    return kind == "exception" or any(one.rpartition(".")[2] == "Exception" for one in bases)


# --- Endings, output and values ----------------------------------------------------------------


def ending_text(program: Program, ending: str) -> ProofText:
    """The proof that a program runs to its end, or that it does not."""
    runs = ending == "runs"
    return ProofText(
        statement="the code runs to its end" if runs else "the code raises an exception",
        imports=PROGRAM_IMPORTS,
        disputed="None" if runs else "Exception",
        constants=_constants(program),
        helpers=(RAISED,),
        holds="assert raised() is DISPUTED" if runs else "assert isinstance(raised(), DISPUTED)",
        fails=(
            "assert raised() is not DISPUTED"
            if runs
            else "assert not isinstance(raised(), DISPUTED)"
        ),
        controls=(CONTROL,),
    )


def _printed(offer: Offer, reading: Reading) -> str | None:
    """The output an option says the code has."""
    said = _PRINTS.fullmatch(offer.text)
    if said:
        return said[1]
    if not _ASKS_PRINT.search(reading.asked.prose) or offer.whole is None:
        return None
    return offer.whole.code if offer.whole.form is not Form.IMPORT else None


def _printing(program: Program, printed: str, reading: Reading) -> ProofText:
    others = [_printed(one, reading) for one in reading.offers.values()]
    alike = [
        one
        for one in others
        if one is not None and one != printed and _loose(one) == _loose(printed)
    ]
    fails = (
        "assert outcome() != DISPUTED" if alike else "assert loose(outcome()) != loose(DISPUTED)"
    )
    return ProofText(
        statement=f"the code prints `{printed}`",
        imports=(*_PRINTING, *(() if alike else ("import ast",))),
        disputed=repr(printed),
        constants=_constants(program),
        helpers=(OUTCOME, *(() if alike else (LOOSE,))),
        holds="assert outcome() == DISPUTED",
        fails=fails,
        controls=(CONTROL,),
    )


def _printing_words(program: Program, offer: Offer, reading: Reading) -> ProofText:
    """An option that is the output itself, or words about it: those are refuted only where what
    is printed is, to the letter, one of the other options.
    """
    texts = tuple(one.text.strip("`") for one in reading.offers.values())
    return ProofText(
        statement=f"the code prints `{offer.text}`",
        imports=_PRINTING,
        disputed=repr(offer.text.strip("`")),
        constants=(*_constants(program), ("OPTIONS", _listed(texts))),
        helpers=(OUTCOME,),
        holds="assert outcome() == DISPUTED",
        fails="printed = outcome()\nassert printed in OPTIONS\nassert printed != DISPUTED",
        controls=(CONTROL,),
    )


def _listed(texts: tuple[str, ...]) -> str:
    lines = "".join(f"\n    {one!r}," for one in texts)
    return f"({lines}\n)"


def _loose(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return " ".join(text.split())
    return value if isinstance(value, str) else repr(value)


def _literal_of(offer: Offer) -> str | None:
    whole = offer.whole
    if whole is None or whole.form is not Form.LITERAL:
        return "None" if offer.text.strip("`. ") == "None" else None
    return repr(ast.literal_eval(whole.code))


def valued_text(program: Program, value: str) -> ProofText:
    """The proof that an expression has a value."""
    return ProofText(
        statement=f"the value of the expression is `{value}`",
        imports=PROGRAM_IMPORTS,
        disputed=value,
        constants=_constants(program),
        helpers=(VALUE,),
        holds="found = value()\nassert type(found) is type(DISPUTED)\nassert found == DISPUTED",
        fails="assert not may_be_told_as(value(), DISPUTED)",
        controls=(CONTROL,),
    )


def _constants(program: Program) -> tuple[tuple[str, str], ...]:
    return ("SETUP", literal(program.setup)), ("CODE", literal(program.code))
