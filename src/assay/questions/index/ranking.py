"""Ranks symbols for a question in plain words: BM25 over fields, computed when the index is built.

Each symbol is a document whose fields have different weights: a word in a name counts more than the
same word deep in a docstring. The weight of a word in a document is stored; a query only adds up.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import log
from typing import NamedTuple

from assay.questions.index.symbols import Symbol, is_test

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
    """Return the words of identifiers and prose in lower case; `maxLLMCalls` has three."""
    return [part.lower() for word in _WORD.findall(text) for part in _HUMP.findall(word)]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Return a word without grammatical endings; query and documents are stemmed alike."""
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
def _sort_stems() -> frozenset[str]:
    return frozenset(map(stem, _SORTS.split()))


def is_sort(term: str) -> bool:
    """Return whether a stem names the sort of thing asked for, rather than which one."""
    return term in _sort_stems()


def terms(text: str) -> list[str]:
    """Return the stems of a text, in order, without stop words."""
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


def find_identifiers(text: str) -> list[str]:
    """Return what a text quotes or spells as code: backticks, dots, camel case, underscores."""
    found = [quoted or spelled for quoted, spelled in _IDENTIFIER.findall(text)]
    return list(dict.fromkeys(one.strip().removesuffix("()") for one in found if one.strip()))


# How much a word of each field counts, and how strongly a long field thins it out.
_FIELDS = {
    "name": (5.0, 0.75),
    "owner": (1.5, 0.3),
    "place": (0.5, 0.5),
    "doc": (2.0, 0.5),
    "details": (0.6, 0.7),
    "parameters": (0.5, 0.7),
    "members": (0.5, 0.7),
}
_SATURATION = 4.0
_SYNONYM = 0.4
_SORT = 0.4
_PRIOR = {
    "class": 1.0, "exception": 0.8, "function": 0.9, "method": 0.9, "property": 0.8, "field": 0.9,
    "module": 0.5, "command": 0.7, "option": 0.7, "constant": 0.5, "enum member": 0.5,
    "attribute": 0.6,
}  # fmt: skip


class Postings(NamedTuple):
    """The documents that contain a term, by position, and its weight in each."""

    places: array[int]
    weights: array[float]


Lookup = Callable[[str], Postings | None]


def weigh(symbols: list[Symbol]) -> dict[str, Postings]:
    """Return the postings of every term; foreign symbols are in none."""
    members: dict[str, list[str]] = defaultdict(list)
    for symbol in symbols:
        if symbol.owner and not symbol.name.startswith("_"):
            members[symbol.owner].append(symbol.name)
    documents = [_fields(symbol, members.get(symbol.path, [])) for symbol in symbols]
    average = _average(documents)
    found: dict[str, Postings] = {}
    for position, (symbol, fields) in enumerate(zip(symbols, documents, strict=True)):
        if symbol.foreign:
            continue
        for term, weight in _weights(fields, average).items():
            places, weights = found.setdefault(term, Postings(array("I"), array("f")))
            places.append(position)
            weights.append(weight)
    return found


def prior(symbol: Symbol) -> float:
    """Return the score of a symbol before any query."""
    worth = _PRIOR.get(symbol.kind, 0.5) / (1 + 0.02 * symbol.import_path.count("."))
    if symbol.is_private:
        worth *= 0.4
    if is_test(symbol.path):
        worth *= 0.3
    if not symbol.available:
        worth *= 0.8
    if symbol.deprecated:
        worth *= 0.7
    return worth


def score(query: str, lookup: Lookup, documents: int) -> dict[int, float]:
    """Return the documents that match the query, with their scores without priors."""
    asked = dict.fromkeys(terms(query))
    total: dict[int, float] = defaultdict(float)
    covered: dict[int, float] = defaultdict(float)
    mass = 0.0
    for term in asked:
        best: dict[int, float] = {}
        rarity = _rarity(lookup(term), documents) * (_SORT if is_sort(term) else 1.0)
        mass += rarity
        for other, factor in _variants(term):
            postings = lookup(other)
            if postings is None:
                continue
            worth = factor * min(rarity, _rarity(postings, documents))
            for place, weight in zip(*postings, strict=True):
                value = worth * weight / (_SATURATION + weight)
                if value > best.get(place, 0.0):
                    best[place] = value
        for place, value in best.items():
            total[place] += value
            covered[place] += min(rarity, 2 * value)
    return {place: value * (0.3 + covered[place] / (mass or 1.0)) for place, value in total.items()}


def _variants(term: str) -> Iterable[tuple[str, float]]:
    yield term, 1.0
    for other in sorted(synonyms(term)):
        yield other, _SYNONYM


def _rarity(postings: Postings | None, documents: int) -> float:
    """Return the rarity of a word; an unused word is the rarest, so that missing it costs."""
    count = len(postings[0]) if postings else 0
    return log(1 + (documents - count + 0.5) / (count + 0.5))


def _fields(symbol: Symbol, members: list[str]) -> dict[str, Counter[str]]:
    parameters = symbol.parameters or ()
    owner = symbol.owner.rpartition(".")[2] if symbol.owner else ""
    described = " ".join(f"{one.name} {one.doc}" for one in parameters)
    texts = {
        "name": " ".join({symbol.name, symbol.import_path.rpartition(".")[2], *symbol.aliases}),
        "owner": owner,
        "place": symbol.module,
        "doc": symbol.doc,
        "details": symbol.details,
        "parameters": f"{described} {symbol.annotation}",
        "members": " ".join(members),
    }
    counted = {field: Counter(terms(text)) for field, text in texts.items()}
    if symbol.is_abstract:
        counted["details"][stem("abstract")] += 1
    return counted


def _average(documents: list[dict[str, Counter[str]]]) -> Mapping[str, float]:
    """Return the average number of words per field, where it has any."""
    average = {}
    for field in _FIELDS:
        sizes = [size for one in documents if (size := one[field].total())]
        average[field] = sum(sizes) / len(sizes) if sizes else 1.0
    return average


def _weights(fields: dict[str, Counter[str]], average: Mapping[str, float]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for field, (factor, thinning) in _FIELDS.items():
        counted = fields[field]
        length = 1 - thinning + thinning * counted.total() / average[field]
        for term, count in counted.items():
            total[term] += factor * count / length
    return total
