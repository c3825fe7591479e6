"""Behaviour in options: what the code of a question, or of an option, does when it runs.

An option is compared with what is observed by what it plainly says: an exception class, that
nothing is raised, a literal that is printed or returned. A paraphrase decides nothing.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from assay.questions.claims import kinds
from assay.questions.claims.library import CLASSES, path_of
from assay.questions.lexical.mentions import CodeForm, Mention, read_literal
from assay.questions.lexical.names import Reading
from assay.questions.lexical.parsed_question import ParsedOption, ParsedQuestion
from assay.questions.lexical.programs import (
    Program,
    make_program,
    needs_new_interpreter,
    read_program,
)
from assay.questions.lexical.stem import Noun, word_set
from assay.questions.proofs.claims import Relation

_RAISES = re.compile(
    r"\b(?:rais(?:es?|ed|ing)|throw(?:s|n)?|fails? with|results? in|errors?|ends? with)\b",
    re.IGNORECASE,
)
_NO_ERROR = re.compile(
    r"\b(?:no (?:error|exception)s?|nothing is (?:raised|thrown)|raises? nothing"
    r"|(?:does|do|will) not (?:raise|fail)|doesn't (?:raise|fail)"
    r"|without (?:any |an |raising (?:any |an )?)?(?:errors?|exceptions?|problems?)"
    r"|(?:runs|works|executes|succeeds|completes)(?: fine| successfully| normally| silently)?)\b",
    re.IGNORECASE,
)
_GIVES = re.compile(
    r"\b(?:returns?|gives?|prints?|outputs?|yields?|evaluates? to|displays?|produces?)\b",
    re.IGNORECASE,
)
_GIVEN = re.compile(r"\b(?:returned|given|printed|yielded|displayed|produced)\b", re.IGNORECASE)
# "None, the second call is ignored": what is asked for does not come.
_NO_EXCEPTION = re.compile(r"(?:none|nothing)\b(?! of\b)", re.IGNORECASE)
_NO_OUTPUT = re.compile(r"(?:nothing|no output)\b", re.IGNORECASE)
_TROUBLE = re.compile(
    r"rais|throw|error|exception|fail|crash|reject|refus|abort|propagat|traceback|warn|hang|block"
    r"|deadlock|exit|terminat",
    re.IGNORECASE,
)
_SEQUENCE = re.compile(r"(?:[\s,;]|\bthen\b|\band\b|\bfollowed by\b)*", re.IGNORECASE)
_ANY_ERROR = re.compile(
    r"\W*(?:it |the code )?(?:raises?|throws?) an? (?:exception|error)\W*", re.IGNORECASE
)
# Words of an option that say no more than what happens.
_BARE = word_set(
    "it the this code snippet program function call a an is are be will gets raised raises raise"
    " throws thrown with exception error errors at runtime run when runs and of no nothing any"
    " fine successfully without normally returns return prints print outputs output value string"
    " integer number list result results in fails"
)
_PRINT_WORDS = ("print*", "output*", "display*", "show", "shows", "shown", "logged")
_VALUE_WORDS = (
    "return*", "evaluat*", "value", "result*", "give", "gives", "produce*", "yield*", "equal*",
    "outcome", "get", "happen*", "do", "does",
)  # fmt: skip


def read_behaviour(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Yield what the options say about the code of the question, or about their own."""
    program = read_program(parsed)
    if isinstance(program, str):
        if not parsed.code:
            yield from _read_option_code(parsed)
        return
    fresh = needs_new_interpreter(program, parsed.library)
    for option in parsed.options.values():
        for claim in _expectations(option, program, parsed):
            yield Reading(
                option.letter, claim.model_copy(update={"fresh_interpreter": fresh}), expected=None
            )


def _expectations(
    option: ParsedOption, program: Program, parsed: ParsedQuestion
) -> Iterator[kinds.Experiment]:
    shared = {"setup": program.setup, "code": program.code}
    words = _words_around(option)
    relation = Relation.EQUIVALENT if not words else Relation.NECESSARY
    if _NO_EXCEPTION.match(option.text) and parsed.stem.noun is Noun.EXCEPTION:
        yield kinds.Runs(**shared, relation=_relation_beyond(option, "none"))
        return
    exception = _find_exception(option, parsed)
    if exception is not None:
        found = exception_class(exception.name, program, parsed)
        if found is not None:
            yield kinds.Raises(**shared, value=found[0], imports=found[1], relation=relation)
        return
    claims = [] if program.is_unsteady else list(_claim_offered(option, program, parsed))
    if _ANY_ERROR.fullmatch(option.text):
        yield kinds.Raises(**shared, relation=Relation.EQUIVALENT)
    elif _NO_OUTPUT.match(option.text) and parsed.stem.has(*_PRINT_WORDS):
        if not program.is_unsteady:
            yield kinds.Prints(**shared, value="", relation=_relation_beyond(option, "printed"))
    elif _NO_ERROR.search(_prose(option)):
        yield kinds.Runs(**shared, relation=relation)
    elif claims:
        yield from claims
    elif option.whole is None and (_GIVES.search(_prose(option)) or _is_contrast(option, parsed)):
        yield kinds.Runs(**shared, relation=Relation.NECESSARY)
    elif program.is_unsteady or _find_offered(option, parsed) is not None:
        return
    elif program.expression and parsed.stem.has("string", "text") and not option.mentions:
        texts = tuple(one.text for one in parsed.options.values())
        yield kinds.Returns(**shared, value=option.text, among=texts, relation=Relation.EQUIVALENT)
    elif parsed.stem.has(*_PRINT_WORDS) and not option.mentions:
        among = tuple(one.text.strip("`") for one in parsed.options.values())
        yield kinds.Prints(
            **shared, value=option.text.strip("`"), among=among, relation=Relation.EQUIVALENT
        )


def _relation_beyond(option: ParsedOption, *words: str) -> Relation:
    """Return whether an option says no more than these words and what happens."""
    said = set(re.findall(r"[a-z]+", option.text.lower()))
    return Relation.EQUIVALENT if said <= {*_BARE, *words} else Relation.NECESSARY


def _is_contrast(option: ParsedOption, parsed: ParsedQuestion) -> bool:
    """Return whether an option tells what happens instead of the exception that another names."""
    if _GIVEN.search(_prose(option)):
        return True
    return (
        parsed.stem.has("happen*", "outcome", "result*")
        and not _TROUBLE.search(option.text)
        and any(_find_exception(one, parsed) for one in parsed.options.values())
    )


def _words_around(option: ParsedOption) -> list[str]:
    """Return the words of an option that say more than what happens."""
    words = re.findall(r"[a-z]+", _prose(option).lower())
    return [one for one in words if one not in _BARE]


def _prose(option: ParsedOption) -> str:
    text = option.text
    for one in reversed(option.mentions):
        text = f"{text[: one.start]} {text[one.end :]}" if option.whole is None else ""
    return text


# --- Exceptions --------------------------------------------------------------------------------


def _find_exception(option: ParsedOption, parsed: ParsedQuestion) -> Mention | None:
    """Return the exception an option names, be it alone, in "it raises …" or first of all."""
    if option.whole is not None:
        whole = option.whole
        is_name = whole.form in (CodeForm.NAME, CodeForm.CALL)
        is_asked = parsed.stem.noun is Noun.EXCEPTION or parsed.stem.has("rais*", "throw*")
        return whole if is_name and (is_asked or _looks_like_one(whole)) else None
    names = [one for one in option.mentions if _is_exception(one, parsed)]
    if not names or len({one.name for one in names}) > 1 or _NO_ERROR.search(option.text):
        return None
    says_so = _RAISES.search(_prose(option)) or re.fullmatch(
        r"\W*(?:an?\s+|the\s+)?", option.text[: names[0].start], re.IGNORECASE
    )
    before = option.text[: names[0].start]
    is_denied = re.search(r"\b(?:not|never|no|instead|rather)\b|n't", before, re.IGNORECASE)
    return names[0] if says_so and not is_denied else None


def _looks_like_one(mention: Mention) -> bool:
    return mention.last.endswith(("Error", "Exception", "Warning"))


def _is_exception(mention: Mention, parsed: ParsedQuestion) -> bool:
    if mention.form not in (CodeForm.NAME, CodeForm.CALL):
        return False
    if _looks_like_one(mention) or _is_builtin_exception(mention.name):
        return True
    symbol = parsed.library.owner(parsed.expand(mention.name), CLASSES)
    return symbol is not None and symbol.kind == "exception"


def _is_builtin_exception(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, Exception)


def exception_class(name: str, program: Program, parsed: ParsedQuestion) -> tuple[str, str] | None:
    """Return an exception class as a proof writes it, with its import if that is not plain."""
    if _is_builtin_exception(name):
        return name, ""
    for line in program.setup.splitlines():
        if re.match(rf"from [\w.]+ import (?:.*\b)?{re.escape(name)}\b", line):
            return name, line
    path = parsed.expand(name)
    symbol = parsed.library.owner(path, CLASSES)
    if symbol is not None:
        is_one = symbol.kind == "exception" or any(
            one.rpartition(".")[2] in ("Exception", "BaseException") for one in symbol.bases
        )
        return (path_of(symbol), "") if is_one else None
    return _of_dependency(path, parsed)


def _of_dependency(path: str, parsed: ParsedQuestion) -> tuple[str, str] | None:
    """Return an exception of another package that is installed with the target."""
    module, _, last = path.rpartition(".")
    is_known = module and parsed.library.index.is_foreign(module) and _ends_like_one(last)
    return (last, f"from {module} import {last}") if is_known else None


def _ends_like_one(name: str) -> bool:
    return name.endswith(("Error", "Exception"))


# --- Output and values -------------------------------------------------------------------------


def _find_offered(option: ParsedOption, parsed: ParsedQuestion) -> str | None:
    """Return the literal or the output that an option is, or that its words give."""
    if option.whole is not None:
        return option.whole.code if option.whole.form is not CodeForm.IMPORT else None
    if len(option.mentions) > 1 and _SEQUENCE.fullmatch(_prose(option)):
        return "\n".join(one.code for one in option.mentions)
    found = re.match(
        rf"\W*(?:it |the (?:code|function|call) )?{_GIVES.pattern}\s+(?:the )?"
        r"(?:string |number |integer |list |value |text )?(?:`([^`]+)`|(\S+?))\s*(?:[.;,]|$)",
        option.text,
        re.IGNORECASE,
    )
    if found is None:
        return None
    return found[1] or (found[2] if read_literal(found[2]) is not None else None)


def _claim_offered(
    option: ParsedOption, program: Program, parsed: ParsedQuestion
) -> Iterator[kinds.Experiment]:
    offered = _find_offered(option, parsed)
    if offered is None:
        return
    is_part = option.whole is None and "\n" not in offered
    says_more = is_part and len(_words_around(option)) > 0
    relation = Relation.NECESSARY if says_more else Relation.EQUIVALENT
    shared = {"setup": program.setup, "code": program.code, "relation": relation}
    asks_for_output = parsed.stem.has(*_PRINT_WORDS) or re.search(r"print|output", option.text)
    value = read_literal(offered)
    if asks_for_output or not program.expression:
        if asks_for_output:
            yield kinds.Prints(**shared, value=offered, exact=_has_alike(offered, parsed))
    elif value is not None and parsed.stem.has(*_VALUE_WORDS):
        yield kinds.Returns(**shared, value=value[0])


def _has_alike(printed: str, parsed: ParsedQuestion) -> bool:
    """Return whether another option differs from this one in quotes and spaces only."""
    others = (_find_offered(one, parsed) for one in parsed.options.values())
    return any(one not in (None, printed) and _loose(one) == _loose(printed) for one in others)


def _loose(text: str | None) -> str:
    value = read_literal(text or "")
    if value is None:
        return " ".join((text or "").split())
    return value[0] if isinstance(value[0], str) else repr(value[0])


# --- Options that are code ---------------------------------------------------------------------

_PIECES = word_set("call calls expression expressions statement statements line lines snippet")
_WORKING = word_set("work works run runs succeed succeeds valid error errors exception without any")
_FAILING = word_set("fail fails raise raises throw throws")
_EQUAL = word_set(
    "give gives return returns evaluate evaluates equal equals produce produces true false string"
    " number integer"
)


def _read_option_code(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Read options that are code, where the question asks what becomes of each when it runs."""
    for option in parsed.options.values():
        whole = option.whole
        if whole is None or whole.form not in (CodeForm.CALL, CodeForm.CODE, CodeForm.KEYWORD):
            continue
        value = _asked_value(parsed)
        program = make_program(whole.code, parsed.library, has_value=value is not None)
        if program is None:
            continue
        claim = _claim_code(value, program, parsed)
        if claim is not None:
            fresh = needs_new_interpreter(program, parsed.library)
            yield Reading(option.letter, claim.model_copy(update={"fresh_interpreter": fresh}))


def _claim_code(
    value: tuple[object] | None, program: Program, parsed: ParsedQuestion
) -> kinds.Experiment | None:
    """Return what the stem asks of a piece of code, if it asks no more than that."""
    said = word_set("" if value is None else str(value[0]).lower())
    stem, understood = parsed.stem, _PIECES | _WORKING | _FAILING | _EQUAL | said
    shared = {"setup": program.setup, "code": program.code, "relation": Relation.EQUIVALENT}
    if not _PIECES & set(stem.asked) or any(one not in understood for one in parsed.residue):
        return None
    if value is not None:
        return kinds.Returns(**shared, value=value[0])
    names = [one for one in stem.mentions if one.form is CodeForm.NAME]
    if stem.has(*_FAILING) and len(names) == 1:
        named = exception_class(names[0].name, program, parsed)
        return None if named is None else kinds.Raises(**shared, value=named[0], imports=named[1])
    if stem.mentions:
        return None
    if stem.has(*_FAILING):
        return kinds.Raises(**shared)
    return kinds.Runs(**shared) if stem.has("work", "works", "run", "runs", "valid") else None


def _asked_value(parsed: ParsedQuestion) -> tuple[object] | None:
    """Return the value an option has to have, in a tuple."""
    stem = parsed.stem
    if not _EQUAL & {one.text for one in stem.tokens}:
        return None
    literals = [one.code for one in stem.mentions if one.form is CodeForm.LITERAL]
    literals += [one.text for one in stem.tokens if one.text.isdigit()]
    literals += [one.text.capitalize() for one in stem.tokens if one.text in ("true", "false")]
    literals += re.findall(r"(?<!\w)(\"[^\"]*\"|'[^']*')(?!\w)", stem.sentence)
    return read_literal(literals[0]) if len(literals) == 1 else None
