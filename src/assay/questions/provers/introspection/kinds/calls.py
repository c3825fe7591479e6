"""Calls and expressions as options: which of them runs, raises, is true or gives a value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.kinds.kind import Draft
from assay.questions.provers.introspection.kinds.outcomes import (
    ending_text,
    raising_text,
    valued_text,
)
from assay.questions.provers.introspection.reading import Form, Mention, Offer, Reading
from assay.questions.provers.introspection.reading.programs import (
    Program,
    needs_new_interpreter,
    program_of,
)
from assay.questions.provers.introspection.writing import ProofText

_ONE = (
    r"^(?:which|what)(?: one)?(?: of (?:these|the following))? "
    r"(?:calls?|expressions?|statements?|lines?|snippets?|constructor calls?)(?: of code)?"
)
_END = r"\s*\?$"
_NOT = r"(?: (?:does|do|will|is|are) not|n't)?"
_RUNS = re.compile(
    rf"{_ONE}(?:{_NOT} (?:works?|runs?|succeeds?)|(?: is| are)(?: not)? valid)"
    rf"(?: without (?:any |an )?(?:errors?|exceptions?))?{_END}",
    re.IGNORECASE,
)
_FAILS = re.compile(
    rf"{_ONE}{_NOT} (?:fails?|raises? an? (?:error|exception)|raises?|throws?){_END}", re.IGNORECASE
)
_RAISES = re.compile(
    rf"{_ONE}{_NOT} (?:raises?|throws?) (?:an? |the )?`([\w.]+)`{_END}", re.IGNORECASE
)
_TRUE = re.compile(rf"{_ONE} (?:is|are|evaluates? to)(?: not)? (true|false){_END}", re.IGNORECASE)
_GIVES = re.compile(
    rf"{_ONE}{_NOT} (?:gives?|returns?|evaluates? to|equals?|produces?)"
    rf"(?: the (?:string|value|number|integer|result|list))? (`[^`]+`|\"[^\"]*\""
    rf"|'[^']*'|-?\d+){_END}",
    re.IGNORECASE,
)


class Calls:
    """Options that are code, where the question asks what becomes of each when it runs."""

    name = "call"

    def drafts(self, reading: Reading) -> Iterable[Draft]:
        if reading.code:
            return
        asking = re.split(r"(?<=[.?!])\s+(?=[A-Z])", reading.asked.prose)[-1]
        for offer in reading.offers.values():
            draft = _draft(asking, offer, reading)
            if draft is not None:
                yield draft


def _draft(asking: str, offer: Offer, reading: Reading) -> Draft | None:
    whole = offer.whole
    if whole is None or whole.form not in (Form.CALL, Form.CODE):
        return None
    value = _wanted_value(asking)
    program = program_of(whole.code, reading.library, has_value=value is not None)
    text = None if program is None else _text(asking, value, program, reading)
    if program is None or text is None:
        return None
    fresh = needs_new_interpreter(program, reading.library)
    return Draft(offer.option, Relation.EQUIVALENT, text, fresh=fresh)


def _text(asking: str, value: str | None, program: Program, reading: Reading) -> ProofText | None:
    if value is not None:
        return valued_text(program, value)
    if _RUNS.search(asking):
        return ending_text(program, "runs")
    if _FAILS.search(asking):
        return ending_text(program, "raises")
    if found := _RAISES.search(asking):
        return raising_text(Mention(found[1], Form.NAME, found[1]), program, reading)
    return None


def _wanted_value(asking: str) -> str | None:
    """The value an option has to have, as Python writes it."""
    if found := _TRUE.search(asking):
        return found[1].capitalize()
    found = _GIVES.search(asking)
    if found is None:
        return None
    try:
        return repr(ast.literal_eval(found[1].strip("`")))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
