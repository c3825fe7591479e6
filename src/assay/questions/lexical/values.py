"""Values in options: defaults and base classes."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterator, Sequence

from assay.questions.claims import kinds
from assay.questions.claims.library import CALLABLES, CLASSES, path_of
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
    yield from _read_bases(parsed)


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


# --- Base classes ------------------------------------------------------------------------------

_DOWN = ("inherit*", "extend*", "deriv*", "descend*", "subclass*", "child", "children")
_UP = ("base", "parent", "superclass*", "ancestor*", "super")
# "Which is caught by `except X`": a clause catches what inherits from its class.
_CAUGHT, _CATCHES = ("caught", "handled"), ("catches", "handles")
_BASE_WORDS = word_set(
    "direct directly immediate immediately inheritance hierarchy tree except clause clauses"
)


def _read_bases(parsed: ParsedQuestion) -> Iterator[Reading]:
    """Read which class is asked for by where the named one stands: before or after the verb."""
    stem = parsed.stem
    classes = [one for one in parsed.subjects if one.kind in CLASSES]
    places = {p: one for p, one in enumerate(stem.tokens) if one.mention is not None}
    is_clause = stem.has("except", "clause*")
    up = (*_UP, *(_CATCHES if is_clause else ()))
    related_words = (*_DOWN, *up, *(_CAUGHT if is_clause else ()))
    words = [p for p, one in enumerate(stem.tokens) if _is_one(one.text, related_words)]
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
    asks_for_base = is_first != _is_one(stem.tokens[words[0]].text, up)
    is_nearest = asks_for_base and not is_clause
    which = "direct" if stem.has("direct*", "immediate*") else "nearest" if is_nearest else "any"
    for option in parsed.options.values():
        offered = class_path(option, parsed)
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


def class_path(option: ParsedOption, parsed: ParsedQuestion) -> str | None:
    """Return the full path of the class that an option is: the target's or an installed one."""
    whole = option.whole
    if whole is None or whole.form is not CodeForm.NAME:
        return None
    if isinstance(getattr(builtins, whole.name, None), type):
        return whole.name
    is_standard = whole.name.partition(".")[0] in sys.stdlib_module_names
    if whole.head and (is_standard or parsed.library.index.is_foreign(whole.name)):
        return whole.name
    found = parsed.library.owner(parsed.expand(whole.name), CLASSES)
    return None if found is None else path_of(found)
