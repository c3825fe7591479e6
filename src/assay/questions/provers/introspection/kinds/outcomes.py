"""Outcomes: what the code of a question or option raises, prints or returns."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from assay.questions.proofs.claims import Relation
from assay.questions.provers.introspection.drafts import Draft, ProofParts
from assay.questions.provers.introspection.library import CLASSES
from assay.questions.provers.introspection.proof_helpers import (
    CONTROL,
    LOOSE,
    OUTCOME,
    PROGRAM_IMPORTS,
    RAISED,
    VALUE,
    literal,
)
from assay.questions.provers.introspection.reading import (
    CodeForm,
    Mention,
    Noun,
    ParsedOption,
    ParsedQuestion,
)
from assay.questions.provers.introspection.reading.programs import (
    Program,
    make_program,
    needs_new_interpreter,
    read_program,
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

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        if parsed.focus.noun not in (Noun.EXCEPTION, Noun.OUTCOME, Noun.OTHER):
            return
        program = read_program(parsed)
        if isinstance(program, str):
            return
        fresh = needs_new_interpreter(program, parsed.library)
        for option in parsed.options.values():
            draft = _draft(option, program, parsed)
            if draft is not None:
                yield replace(draft, fresh=fresh)


_PRINTING = ("import contextlib", "import io", *PROGRAM_IMPORTS)


def _draft(option: ParsedOption, program: Program, parsed: ParsedQuestion) -> Draft | None:
    found = _raising(option, program, parsed)
    if found is not None:
        relation = Relation.NECESSARY if _says_more(option) else Relation.EQUIVALENT
        return Draft(option.letter, relation, found)
    if _ANY_ERROR.search(option.text) and not option.mentions:
        return _equivalent(option, prove_ending(program, "raises"))
    if _NO_ERROR.fullmatch(option.text):
        return _equivalent(option, prove_ending(program, "runs"))
    printed = _find_output(option, parsed)
    if printed is not None:
        return _equivalent(option, _printing(program, printed, parsed))
    value = _literal_of(option)
    if value is not None and program.expression and _ASKS_VALUE.search(parsed.focus.prose):
        return _equivalent(option, prove_value(program, value))
    if _ASKS_OUTPUT.search(parsed.focus.prose) and not option.mentions:
        return _equivalent(option, _printing_words(program, option, parsed))
    return None


def _equivalent(option: ParsedOption, text: ProofParts) -> Draft:
    return Draft(option.letter, Relation.EQUIVALENT, text)


def _says_more(option: ParsedOption) -> bool:
    return option.whole is None and _MESSAGE.search(option.text) is not None


# --- Exceptions --------------------------------------------------------------------------------


def _raising(option: ParsedOption, program: Program, parsed: ParsedQuestion) -> ProofParts | None:
    mention = _exception_mention(option, parsed)
    return None if mention is None else prove_raising(mention, program, parsed)


def prove_raising(mention: Mention, program: Program, parsed: ParsedQuestion) -> ProofParts | None:
    """Return the proof that a program raises a certain exception."""
    found = exception_class(mention.name, program, parsed)
    if found is None:
        return None
    return ProofParts(
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


def _exception_mention(option: ParsedOption, parsed: ParsedQuestion) -> Mention | None:
    """Return the exception an option names, be it alone or in "it raises …"."""
    if option.whole is not None:
        is_name = option.whole.form in (CodeForm.NAME, CodeForm.CALL)
        return (
            option.whole if is_name and parsed.focus.noun is Noun.EXCEPTION else _find_bare(option)
        )
    names = [one for one in option.mentions if one.form in (CodeForm.NAME, CodeForm.CALL)]
    if len(names) == 1 and _RAISES.search(option.text) and not option.is_negated:
        return names[0]
    return None


def _find_bare(option: ParsedOption) -> Mention | None:
    """Return a whole option that can be nothing but an exception."""
    whole = option.whole
    assert whole is not None
    is_error = whole.form is CodeForm.NAME and whole.last.endswith(("Error", "Exception"))
    return whole if is_error else None


def exception_class(name: str, program: Program, parsed: ParsedQuestion) -> _Exception | None:
    """Return an exception class as a proof writes it: built in, of the target, or imported."""
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
    symbol = parsed.library.owner(name, CLASSES)
    if symbol is None or not _is_exception(symbol.kind, symbol.bases):
        return None
    place = parsed.library.place(symbol)
    return _Exception(place.expression, (place.statement,))


def _is_exception(kind: str, bases: tuple[str, ...]) -> bool:
    return kind == "exception" or any(one.rpartition(".")[2] == "Exception" for one in bases)


# --- Endings, output and values ----------------------------------------------------------------


def prove_ending(program: Program, ending: str) -> ProofParts:
    """Return the proof that a program runs to its end, or that it does not."""
    runs = ending == "runs"
    return ProofParts(
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


def _find_output(option: ParsedOption, parsed: ParsedQuestion) -> str | None:
    """Return the output an option says the code has."""
    said = _PRINTS.fullmatch(option.text)
    if said:
        return said[1]
    if not _ASKS_PRINT.search(parsed.focus.prose) or option.whole is None:
        return None
    return option.whole.code if option.whole.form is not CodeForm.IMPORT else None


def _printing(program: Program, printed: str, parsed: ParsedQuestion) -> ProofParts:
    others = [_find_output(one, parsed) for one in parsed.options.values()]
    alike = [
        one
        for one in others
        if one is not None and one != printed and _loose(one) == _loose(printed)
    ]
    fails = (
        "assert outcome() != DISPUTED" if alike else "assert loose(outcome()) != loose(DISPUTED)"
    )
    return ProofParts(
        statement=f"the code prints `{printed}`",
        imports=(*_PRINTING, *(() if alike else ("import ast",))),
        disputed=repr(printed),
        constants=_constants(program),
        helpers=(OUTCOME, *(() if alike else (LOOSE,))),
        holds="assert outcome() == DISPUTED",
        fails=fails,
        controls=(CONTROL,),
    )


def _printing_words(program: Program, option: ParsedOption, parsed: ParsedQuestion) -> ProofParts:
    """Write the proof for an option that is the output itself, or words about it.

    Words are refuted only where what is printed is, to the letter, one of the other options.
    """
    texts = tuple(one.text.strip("`") for one in parsed.options.values())
    return ProofParts(
        statement=f"the code prints `{option.text}`",
        imports=_PRINTING,
        disputed=repr(option.text.strip("`")),
        constants=(*_constants(program), ("OPTIONS", _format_tuple(texts))),
        helpers=(OUTCOME,),
        holds="assert outcome() == DISPUTED",
        fails="printed = outcome()\nassert printed in OPTIONS\nassert printed != DISPUTED",
        controls=(CONTROL,),
    )


def _format_tuple(texts: tuple[str, ...]) -> str:
    lines = "".join(f"\n    {one!r}," for one in texts)
    return f"({lines}\n)"


def _loose(text: str) -> str:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return " ".join(text.split())
    return value if isinstance(value, str) else repr(value)


def _literal_of(option: ParsedOption) -> str | None:
    whole = option.whole
    if whole is None or whole.form is not CodeForm.LITERAL:
        return "None" if option.text.strip("`. ") == "None" else None
    return repr(ast.literal_eval(whole.code))


def prove_value(program: Program, value: str) -> ProofParts:
    """Return the proof that an expression has a value."""
    return ProofParts(
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
_OPTION_RAISES = re.compile(
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

    def drafts(self, parsed: ParsedQuestion) -> Iterable[Draft]:
        if parsed.code:
            return
        asking = re.split(r"(?<=[.?!])\s+(?=[A-Z])", parsed.focus.prose)[-1]
        for option in parsed.options.values():
            draft = _call_draft(asking, option, parsed)
            if draft is not None:
                yield draft


def _call_draft(asking: str, option: ParsedOption, parsed: ParsedQuestion) -> Draft | None:
    whole = option.whole
    if whole is None or whole.form not in (CodeForm.CALL, CodeForm.CODE):
        return None
    value = _parse_value(asking)
    program = make_program(whole.code, parsed.library, has_value=value is not None)
    text = None if program is None else _text(asking, value, program, parsed)
    if program is None or text is None:
        return None
    fresh = needs_new_interpreter(program, parsed.library)
    return Draft(option.letter, Relation.EQUIVALENT, text, fresh=fresh)


def _text(
    asking: str, value: str | None, program: Program, parsed: ParsedQuestion
) -> ProofParts | None:
    if value is not None:
        return prove_value(program, value)
    if _RUNS.search(asking):
        return prove_ending(program, "runs")
    if _FAILS.search(asking):
        return prove_ending(program, "raises")
    if found := _OPTION_RAISES.search(asking):
        return prove_raising(Mention(found[1], CodeForm.NAME, found[1]), program, parsed)
    return None


def _parse_value(asking: str) -> str | None:
    """Return the value an option has to have, as Python writes it."""
    if found := _TRUE.search(asking):
        return found[1].capitalize()
    found = _GIVES.search(asking)
    if found is None:
        return None
    try:
        return repr(ast.literal_eval(found[1].strip("`")))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
