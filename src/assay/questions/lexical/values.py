"""Values in options: defaults, types, base classes, natures of members, constants."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

from assay.questions.claims import kinds
from assay.questions.claims.library import CALLABLES, CLASSES, normalize_type, path_of
from assay.questions.index import Parameter, Symbol
from assay.questions.lexical.mentions import CodeForm, read_literal
from assay.questions.lexical.names import Reading
from assay.questions.lexical.parsed_question import ParsedOption, ParsedQuestion, resolve
from assay.questions.lexical.stem import Noun, Token, word_set
from assay.questions.proofs.claims import Relation

_EQUIVALENT = Relation.EQUIVALENT


def read_values(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Yield what the values in the options claim, where the stem asks for one."""
    if parsed.code:
        return
    yield from _read_defaults(parsed)
    yield from _read_types(parsed)
    yield from _read_bases(parsed)
    yield from _read_natures(parsed)
    yield from _read_constants(parsed)


# --- Defaults ----------------------------------------------------------------------------------


def _read_defaults(parsed: ParsedQuestion) -> Iterator[Reading]:
    if not _asks_for_default(parsed):
        return
    found = find_parameter(parsed)
    default = read_literal(found[1].default) if found and found[1].default is not None else None
    if found is None or default is None:
        return
    owner, parameter = found
    values = {one.letter: _read_value(one, default[0]) for one in parsed.options.values()}
    is_offered = any(one and _is_equal(one[0], default[0]) for one in values.values())
    accounted = {"value", *re.findall(r"[a-z]+", parameter.name)}
    # Behind a None there may be another value that takes its place later; and words that are not
    # understood may ask for another value than that of the signature.
    rest = [one for one in parsed.residue if one not in accounted]
    if not is_offered and (default[0] is None or rest):
        return
    if default[0] is None and rest:
        return
    for letter, value in values.items():
        if value is not None:
            claim = kinds.DefaultIs(
                subject=path_of(owner),
                parameter=parameter.name,
                value=value[0],
                relation=_relation_of_value(parsed.options[letter]),
            )
            yield Reading(letter, claim, expected=_is_equal(value[0], default[0]))


def _asks_for_default(parsed: ParsedQuestion) -> bool:
    """Return whether the stem asks what holds if nothing is given, in whatever words."""
    stem = parsed.stem
    if stem.has("default*", "omit*", "unspecified", "unset"):
        return True
    denials = ("not", "no", "none", "nothing", "neither", "without", "unless", "otherwise")
    is_denied = stem.has(*denials) or any(one.text.endswith("n't") for one in stem.tokens)
    return is_denied and stem.has(
        "pass*", "specif*", "giv*", "set", "provid*", "told", "configur*", "arguments"
    )


def find_parameter(parsed: ParsedQuestion) -> tuple[Symbol, Parameter] | None:
    """Return the one parameter the stem names, with what takes it, in whatever words."""
    stem = parsed.stem
    owners = [one for one in parsed.subjects if one.kind in (*CLASSES, *CALLABLES)]
    owners += [
        holder
        for one in parsed.subjects
        if one.owner and (holder := parsed.library.index.resolve(one.owner)) is not None
    ]
    quoted = [one.last for one in stem.mentions if one.name]
    plain = [one.text for one in stem.tokens if one.mention is None and len(one.text) > 3]
    marked = [
        mention.last
        for number, mention in enumerate(stem.mentions)
        if stem.follows(number, Noun.PARAMETER)
    ]
    if not owners:
        owners = _find_takers(quoted, parsed)
    for names in (marked, quoted, plain):
        found = {
            (owner.path, name): (owner, parameter)
            for owner in owners
            for name in names
            if (parameter := owner.parameter(name)) is not None
        }
        if found:
            return next(iter(found.values())) if len(found) == 1 else None
    return None


def _find_takers(names: Sequence[str], parsed: ParsedQuestion) -> list[Symbol]:
    """Return what takes a parameter that the stem names alone, if all agree on its default."""
    for name in names:
        found = parsed.library.index.find(name, ("parameter",))
        public = [one for one in found if not one.foreign and one.available and not one.is_private]
        if public and len({one.default for one in public}) == 1:
            holder = parsed.library.index.resolve(public[0].owner)
            return [] if holder is None else [holder]
    return []


_AMOUNT = re.compile(r"(-?\d[\d_]*(?:\.\d+)?)\s+[^\d]+|(None|True|False)\s*[(,].*", re.IGNORECASE)
_UNITS = {
    "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "KiB": 2**10, "MiB": 2**20,
    "GiB": 2**30, "kB": 1000, "KB": 2**10, "MB": 2**20,
}  # fmt: skip
_COUNTS = {"once": "1", "twice": "2", "zero": "0", "one": "1", "two": "2", "three": "3"}


def _read_value(option: ParsedOption, like: object) -> tuple[object] | None:
    """Return the value an option is, in a tuple; a word where the value is a text."""
    text = option.text.strip().strip("`").rstrip(".").strip("`")
    found = read_literal(text)
    if found is not None:
        return found
    if isinstance(like, str) and re.fullmatch(r"[\w./:%+-]+", text):
        return (text,)
    first, _, rest = text.partition(" ")
    amount = _AMOUNT.fullmatch(f"{_COUNTS.get(first.lower(), first)} {rest}")
    value = read_literal(amount[1] or amount[2]) if amount else None
    unit = _UNITS.get(rest.rstrip(".").split(" ")[0].removesuffix("s"))
    if value is None or unit is None or not isinstance(value[0], int | float):
        return value
    return (value[0] * unit,)


def _relation_of_value(option: ParsedOption) -> Relation:
    """Return whether an option says a value with its unit, or more than that."""
    says_more = option.whole is None and re.search(r"[,;:(]|(?:\s+\S+){5}", option.text.strip("`."))
    return Relation.NECESSARY if says_more else _EQUIVALENT


def _is_equal(one: object, other: object) -> bool:
    numbers = all(isinstance(each, int | float) for each in (one, other))
    is_bool = isinstance(one, bool) == isinstance(other, bool)
    return one == other and is_bool and (numbers or type(one) is type(other))


# --- Types -------------------------------------------------------------------------------------

_TYPE_WORDS = word_set(
    "return returns returned declared annotated annotation hint typed static data given"
)


def _read_types(parsed: ParsedQuestion) -> Iterator[Reading]:
    stem = parsed.stem
    if not stem.has("type", "annotation", "annotated", "hint", "typed"):
        return
    if any(one not in _TYPE_WORDS for one in parsed.residue):
        return
    typed = list(_read_typed_parameters(parsed))
    if typed:
        yield from typed
        return
    found = _find_annotated(parsed)
    if found is None:
        return
    owner, name, annotation = found
    written = {
        one.letter: one.whole.code
        for one in parsed.options.values()
        if one.whole is not None and parsed.library.imports_of_type(one.whole.code) is not None
    }
    exact = normalize_type(annotation)
    is_offered = any(normalize_type(one) == exact for one in written.values())
    for letter, code in written.items():
        claim = kinds.AnnotationIs(
            subject=path_of(owner),
            parameter=name,
            value=code,
            exact=is_offered,
            relation=_EQUIVALENT,
        )
        yield Reading(letter, claim, expected=True if normalize_type(code) == exact else None)


def _read_typed_parameters(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Read options that are parameters, where the stem names the type that is looked for."""
    owner, library = parsed.owner, parsed.library
    types = [one.code for one in parsed.stem.mentions if _is_type(one.code, parsed)]
    if owner is None or len(types) != 1 or len(parsed.stem.mentions) != 2:
        return
    exact = normalize_type(types[0])
    offered = {
        option.letter: parameter
        for option in parsed.options.values()
        if option.whole and (parameter := owner.parameter(option.whole.name)) is not None
    }
    is_offered = any(normalize_type(one.annotation) == exact for one in offered.values())
    for letter, parameter in offered.items():
        if parameter.annotation and library.imports_of_type(types[0]) is not None:
            claim = kinds.AnnotationIs(
                subject=path_of(owner),
                parameter=parameter.name,
                value=types[0],
                exact=is_offered,
                relation=_EQUIVALENT,
            )
            yield Reading(letter, claim)


def _is_type(code: str, parsed: ParsedQuestion) -> bool:
    is_owner = parsed.owner is not None and code.rpartition(".")[2] == parsed.owner.name
    return not is_owner and parsed.library.imports_of_type(code) is not None


# Decorators that leave what a function returns as it is.
_HARMLESS = re.compile(r"(?:\w+\.)*(?:classmethod|staticmethod|property|abstractmethod|override)")


def _find_annotated(parsed: ParsedQuestion) -> tuple[Symbol, str | None, str] | None:
    """Return what has the annotation that is asked for, with its text."""
    functions = [one for one in parsed.subjects if one.kind in CALLABLES and one.available]
    if parsed.stem.has("return*"):
        if len(functions) != 1 or len(parsed.subjects) > 1 or not functions[0].returns:
            return None
        owner = functions[0]
        is_plain = not owner.is_async and all(map(_HARMLESS.fullmatch, owner.decorators))
        asks_for_text = parsed.stem.has("annotation", "annotated", "hint")
        return (owner, None, owner.returns) if is_plain or asks_for_text else None
    found = find_parameter(parsed)
    if found is not None and found[1].annotation:
        return found[0], found[1].name, found[1].annotation
    fields = [
        (holder, one)
        for holder in parsed.subjects
        if holder.kind in CLASSES
        for mention in parsed.stem.mentions
        if (one := parsed.library.members(holder).get(mention.last)) is not None
        if one.kind in ("field", "attribute", "property") and one.annotation
    ]
    if len(fields) != 1 or not all(map(_HARMLESS.fullmatch, fields[0][1].decorators)):
        return None
    return fields[0][0], fields[0][1].name, fields[0][1].annotation


# --- Base classes ------------------------------------------------------------------------------

_DOWN = ("inherit*", "extend*", "deriv*", "descend*", "subclass*", "child", "children")
_UP = ("base", "parent", "superclass*", "ancestor*", "super")
_BASE_WORDS = word_set("direct directly immediate immediately inheritance hierarchy tree")


def _read_bases(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Read which class is asked for by where the named one stands: before or after the verb."""
    stem = parsed.stem
    classes = [one for one in parsed.subjects if one.kind in CLASSES]
    places = {p: one for p, one in enumerate(stem.tokens) if one.mention is not None}
    words = [p for p, one in enumerate(stem.tokens) if _is_one(one.text, (*_DOWN, *_UP))]
    if not classes or len(words) != 1 or not places:
        return
    related = {stem.tokens[words[0]].text, *_BASE_WORDS}
    is_all = len(classes) == len(parsed.subjects) == len(places) == 1
    named, relation = classes[0], _EQUIVALENT
    if not is_all or any(one not in related for one in parsed.residue):
        # More is said of it, and "a subclass of `X`" must be true all the same.
        parent = _find_parent(words[0], parsed)
        if parent is None:
            return
        named, relation = parent, Relation.NECESSARY
    is_first = relation is _EQUIVALENT and next(iter(places)) < words[0]
    asks_for_base = is_first != _is_one(stem.tokens[words[0]].text, _UP)
    which = "direct" if stem.has("direct*", "immediate*") else "nearest" if asks_for_base else "any"
    for option in parsed.options.values():
        offered = _class_path(option, parsed)
        if offered is None:
            continue
        child, base = (path_of(named), offered) if asks_for_base else (offered, path_of(named))
        if hasattr(builtins, child):
            continue
        claim = kinds.InheritsFrom(subject=child, value=base, which=which, relation=relation)
        yield Reading(option.letter, claim)


def _find_parent(place: int, parsed: ParsedQuestion) -> Symbol | None:
    """Return the class that follows right after "subclass of" or "inherits from"."""
    word, link, *rest = (*parsed.stem.tokens[place : place + 3], Token(""))
    if not _is_one(word.text, _DOWN) or link.text not in ("of", "from"):
        return None
    number = rest[0].mention
    found = None if number is None else resolve(parsed.stem.mentions[number], parsed.library)
    return found if found is not None and found.kind in CLASSES else None


def _is_one(text: str, words: Sequence[str]) -> bool:
    return any(text.startswith(one[:-1]) if one.endswith("*") else text == one for one in words)


def _class_path(option: ParsedOption, parsed: ParsedQuestion) -> str | None:
    whole = option.whole
    if whole is None or whole.form is not CodeForm.NAME:
        return None
    if isinstance(getattr(builtins, whole.name, None), type):
        return whole.name
    if whole.head and parsed.library.index.is_foreign(whole.name):
        return whole.name
    found = parsed.library.owner(whole.name, CLASSES)
    return None if found is None else path_of(found)


# --- Natures of members ------------------------------------------------------------------------

_NATURES = {
    "class method": r"class[ -]?methods?",
    "static method": r"static[ -]?methods?",
    "property": r"propert(?:y|ies)",
    "asynchronous": r"async(?:hronous)?|coroutine|awaitable",
    "instance method": r"(?:(?:regular|ordinary|plain|normal) )?instance methods?",
}


def _read_natures(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Read options that are members, where a nature is asked for, or the other way round."""
    words = {"kind", "sort", "static", "async", "asynchronous", "coroutine", "awaitable", "regular"}
    if any(one not in words for one in parsed.residue):
        return
    asked = _find_nature(re.sub(r"`[^`]*`", "", parsed.stem.sentence))
    members = [one for one in parsed.subjects if one.owner and one.kind in (*CALLABLES, "property")]
    for option in parsed.options.values():
        whole = option.whole
        if asked and whole and whole.form in (CodeForm.NAME, CodeForm.CALL):
            holder = parsed.library.owner(whole.head, CLASSES) if whole.head else parsed.owner
            yield from _claim_nature(option.letter, holder, whole.last, asked, parsed)
        elif not asked and len(members) == 1 and parsed.stem.has("kind", "sort", "type"):
            nature = _find_nature(option.text, whole=True)
            holder = parsed.library.index.resolve(members[0].owner)
            if nature:
                yield from _claim_nature(option.letter, holder, members[0].name, nature, parsed)


def _find_nature(text: str, *, whole: bool = False) -> str | None:
    for nature, words in _NATURES.items():
        article, noun = r"(?:an? |the )?", r"(?: (?:methods?|functions?))?"
        if whole and re.fullmatch(rf"\W*{article}(?:{words}){noun}\W*", text, re.IGNORECASE):
            return nature
        if not whole and re.search(
            rf"\b(?:is|are)(?: not)? {article}(?:{words})\b", text, re.IGNORECASE
        ):
            return nature
    return None


def _claim_nature(
    option: str, holder: Symbol | None, name: str, nature: str, parsed: ParsedQuestion
) -> Iterator[Reading]:
    if holder is None or holder.kind not in CLASSES or not holder.available:
        return
    member = parsed.library.members(holder).get(name)
    if member is not None and member.kind in ("property", *CALLABLES):
        claim = kinds.IsOfNature(
            subject=path_of(holder), member=name, value=nature, relation=_EQUIVALENT
        )
        yield Reading(option, claim)


# --- Constants ---------------------------------------------------------------------------------


def _read_constants(parsed: ParsedQuestion) -> Iterator[Reading]:
    yield from _read_equal_constants(parsed)
    constants = [
        one for one in parsed.subjects if one.kind in ("constant", "enum member", "attribute")
    ]
    if len(constants) != 1 or len(parsed.subjects) > 2 or parsed.stem.has("default*"):
        return
    is_asked = parsed.stem.noun in (Noun.VALUE, Noun.OTHER, Noun.THING)
    words = {"equal", "equals", "string", "integer", "number", "underlying", "numeric", "enum"}
    if not is_asked or not parsed.stem.has("value", *words):
        return
    if any(one not in words for one in parsed.residue) or constants[0].on_instance:
        return
    for option in parsed.options.values():
        value = _read_value(option, "")
        if value is not None:
            claim = kinds.ConstantIs(
                subject=path_of(constants[0]),
                value=value[0],
                relation=_relation_of_value(option),
            )
            yield Reading(option.letter, claim)


def _read_equal_constants(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Read options that are constants, where the stem says which value they have."""
    owner = parsed.owner
    numbers = [one.text for one in parsed.stem.tokens if one.text.isdigit()]
    quoted = [one.code for one in parsed.stem.mentions if one.form is CodeForm.LITERAL]
    if owner is None or owner.kind != "module" or len(numbers) + len(quoted) != 1:
        return
    if not parsed.stem.has("equal*", "value", "number") or parsed.stem.has("not"):
        return
    if any(not one.startswith("equal") for one in parsed.residue):
        return
    value = ast.literal_eval((numbers or quoted)[0])
    for option in parsed.options.values():
        path = f"{owner.path}.{option.whole.name}" if option.whole else ""
        found = parsed.library.index.resolve(path) if path else None
        if found is not None and found.kind == "constant":
            yield Reading(
                option.letter,
                kinds.ConstantIs(subject=path, value=value, relation=_EQUIVALENT),
            )
