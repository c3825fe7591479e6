"""Words as the ranking counts them: identifiers split, endings cut, near synonyms."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][^\W\dA-Z_])|[A-Z]?[^\W\dA-Z_]+|[A-Z]+|\d+")
_IDENTIFIER = re.compile(
    r"`([^`\n]+)`"
    r"|\b([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|[A-Za-z]\w*_\w+|[A-Z][a-z]+[A-Z]\w*|[A-Z]{2,}[a-z]\w*)\b"
)

_STOP_WORDS = """
    a about after all also am an and any are as at be because been being but by can could
    did do does each else etc for from had has have how i if in into is it its just like me
    more most must my no not of on one only or other our out over please s same should so
    some such t than that the their them then there these they this those to too up use used
    uses using was way we were what when where which while who why will with without would
    you your python library
"""
# Say what sort of thing is asked for, and seldom which.
_SORTS = """
    argument attribute class code field function kind method module name object option
    parameter property type value
"""
_STOP = frozenset(_STOP_WORDS.split())
# Words of the trade that stand for each other whatever the library; found by meaning, not by suite.
_SYNONYMS = (
    "max maximum limit", "min minimum", "delete remove", "create make new",
    "get fetch retrieve", "update modify change", "parallel concurrent simultaneous",
    "sequence order consecutive", "base abstract foundation interface", "callback hook",
    "save persist store", "repeat loop iterate", "config configuration setting option",
    "error exception failure", "dir directory folder", "auth authentication credential",
    "find search lookup", "start begin launch", "stop end terminate", "log logging trace",
    "wrap adapter wrapper", "json structured schema", "list collection", "timeout deadline",
    "retry attempt", "url uri address", "execute run",
)  # fmt: skip


def split_identifier(text: str) -> list[str]:
    """The words of identifiers and prose alike, in lower case: `maxLLMCalls` is max, llm, calls."""
    return [part.lower() for word in _WORD.findall(text) for part in _HUMP.findall(word)]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """A word without the endings that grammar gives it; both sides are cut alike."""
    for ending, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "eiy" else word


# Each with the letters that must be left; the longer of two that fit comes first.
_ENDINGS = (
    ("entially", 4), ("ential", 4), ("ences", 4), ("ence", 4), ("ations", 3), ("ation", 3),
    ("ating", 3), ("ators", 3), ("ator", 3), ("ates", 3), ("ated", 3), ("ate", 3), ("ions", 3),
    ("ion", 3), ("ingly", 3), ("ings", 3), ("ing", 3), ("ents", 4), ("ment", 4), ("ers", 3),
    ("er", 4), ("ors", 4), ("or", 4), ("edly", 3), ("ies", 2), ("ied", 2), ("ed", 3),
    ("ently", 4), ("ent", 4), ("ly", 3), ("al", 4), ("able", 4), ("es", 3), ("s", 3),
)  # fmt: skip


@lru_cache(maxsize=1)
def _sorts() -> frozenset[str]:
    return frozenset(map(stem, _SORTS.split()))


def is_sort(term: str) -> bool:
    """Whether a stem says what sort of thing is asked for, rather than which."""
    return term in _sorts()


def terms(text: str) -> list[str]:
    """The stems of a text, in order, without the words that say nothing."""
    return [stem(word) for word in split_identifier(text) if word not in _STOP and len(word) > 1]


@lru_cache(maxsize=1)
def _neighbours() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in _SYNONYMS:
        stems = {stem(word) for word in group.split()}
        for one in stems:
            found.setdefault(one, set()).update(stems - {one})
    return {one: frozenset(others) for one, others in found.items()}


def synonyms(term: str) -> frozenset[str]:
    """Stems that mean nearly the same."""
    return _neighbours().get(term, frozenset())


def identifiers(text: str) -> list[str]:
    """What a text quotes or spells as code: backticks, dots, camel case, underscores."""
    found = [quoted or spelled for quoted, spelled in _IDENTIFIER.findall(text)]
    return list(dict.fromkeys(one.strip().removesuffix("()") for one in found if one.strip()))
