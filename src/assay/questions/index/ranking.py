"""A ranking of symbols for a plain question: BM25 over fields, worked out when the index is built.

Each symbol is a document whose fields weigh differently: a word in a name says more than the same
word deep in a docstring. What a word is worth in a document is stored; a query only adds up.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from math import log
from typing import NamedTuple

from assay.questions.index.symbols import Symbol, is_test
from assay.questions.index.words import is_sort, stem, synonyms, terms

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
    """The documents a term is in, by position, and what it is worth in each."""

    places: array[int]
    weights: array[float]


Lookup = Callable[[str], Postings | None]


def weigh(symbols: list[Symbol]) -> dict[str, Postings]:
    """The postings of every term; foreign symbols are in none."""
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
    """What a symbol is worth before anything is asked: public, plainly reached and available."""
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
    """The documents that have anything of the query, with what they are worth without priors."""
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
    """A word nobody uses is as rare as can be, so that missing it costs."""
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
    """How many words each field has where it has any."""
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
