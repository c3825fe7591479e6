"""What the index knows of the names in a question, in few words: it is paid with every call."""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.questions.claims import CLASSES, Library
from assay.questions.index import Symbol
from assay.questions.model import Question

_FACTS = 3_000
_FEWEST = 4
_MEANINGS = 3
_SIGNATURE = 260
_MEMBERS = 14
_DOC = 140
_NAME = re.compile(
    r"`([A-Za-z_][\w.]*)|\b((?:\w+\.)*[A-Z][a-z0-9]+(?:[A-Z]\w*)+)|\b((?:\w+\.)+\w+|\w+_\w+)\b"
)
_PARTS = ("method", "field", "property", "attribute", "parameter", "function")
_PATH = re.compile(r"\b(?:\w+\.)+(?=\w)")


def describe_names(library: Library, question: Question, more: str = "") -> str:
    """Return what the index knows of the names in a question and in `more`, a line each.

    Where that is little, the names follow that fit the question best.
    """
    code = question.snippet.program if question.snippet else ""
    said = "\n".join([question.text, *question.options.values(), code, more])
    found: dict[str, Symbol] = {}
    for name in dict.fromkeys(_find_names(said)):
        found |= {one.path: one for one in _find_meanings(library, name)}
    lines = dict.fromkeys(_describe(library, one) for one in found.values())
    if len(lines) < _FEWEST:
        hits = (hit.symbol for hit in library.index.search(said[:2_000], 3 * _FEWEST))
        near = [one for one in hits if not one.is_private and one.path not in found]
        lines |= dict.fromkeys(_mention(one) for one in near[: _FEWEST - len(lines)])
    return "\n".join(lines)[:_FACTS]


def _find_names(text: str) -> Iterator[str]:
    """Yield what looks like a name of code: in backticks, or with dots, capitals, underscores."""
    for found in _NAME.finditer(text):
        yield (found[1] or found[2] or found[3]).strip(".")


def _find_meanings(library: Library, name: str) -> list[Symbol]:
    """Return what a name can mean: one thing, or the few members that are called so."""
    owner = library.owner(name)
    if owner is not None and not owner.foreign:
        return [owner]
    head, _, last = name.rpartition(".")
    holder = library.owner(head, CLASSES) or library.receiver(head.rpartition(".")[2])
    if head and holder is not None:
        member = library.members(holder).get(last)
        return [holder, *([member] if member is not None else [])]
    if head or "_" not in last:
        return []
    named = [one for one in library.index.find(last, _PARTS) if not (one.foreign or one.is_private)]
    return sorted(named, key=lambda one: (len(one.path), one.path))[:_MEANINGS]


def _describe(library: Library, symbol: Symbol) -> str:
    default = f" = {symbol.default}" if symbol.default is not None else ""
    annotation = f": {shorten(symbol.annotation)}" if symbol.annotation else ""
    signature = shorten_signature(symbol) if symbol.parameters is not None else annotation
    bases = ", ".join(one.rpartition(".")[2] for one in symbol.bases[:3])
    said = f"{symbol.kind} {symbol.import_path}{signature}{default}"
    parts = [said, f"bases: {bases}" if bases else "", _list_members(library, symbol)]
    return "; ".join([*filter(None, parts), *_quote(symbol, _DOC)])


def _mention(symbol: Symbol) -> str:
    return "; ".join([f"{symbol.kind} {symbol.import_path}", *_quote(symbol, _DOC)])


def _quote(symbol: Symbol, most: int) -> list[str]:
    doc = " ".join(symbol.doc.split())
    return [doc if len(doc) <= most else f"{doc[:most]}…"] if doc else []


def _list_members(library: Library, symbol: Symbol) -> str:
    """Return the names of what a class has beside the parameters of its constructor."""
    if symbol.kind not in CLASSES:
        return ""
    given = {one.name for one in symbol.parameters or ()}
    members = library.members(symbol).items()
    names = [
        name
        for name, one in members
        if not name.startswith("_") and name not in given and not one.foreign
    ]
    more = f", … {len(names) - _MEMBERS} more" if len(names) > _MEMBERS else ""
    return f"has {', '.join(names[:_MEMBERS])}{more}" if names else ""


def shorten(annotation: str) -> str:
    """Return a type without the modules that its names are from."""
    return _PATH.sub("", annotation)


def shorten_signature(symbol: Symbol, most: int = _SIGNATURE) -> str:
    """Return a signature without modules; a long one also without types, or cut."""
    whole = shorten(symbol.signature)
    if len(whole) <= most:
        return whole
    untyped = [one.model_copy(update={"annotation": ""}) for one in symbol.parameters or ()]
    bare = symbol.model_copy(update={"parameters": tuple(untyped), "returns": ""}).signature
    bare = bare.replace(" = ", "=")
    return bare if len(bare) <= 2 * most else f"{bare[: 2 * most]}…"
