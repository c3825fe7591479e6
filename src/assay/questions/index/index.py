"""Queries on an index: by name, by members of a class, and by the words of a question."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property
from pathlib import Path

from assay.questions.index import ranking
from assay.questions.index.ranking import find_identifiers
from assay.questions.index.store import Store
from assay.questions.index.symbols import Failure, Symbol, plainness

_PART = re.compile(r"[^\W\d]\w*")
_CLASSES = ("class", "exception")
_DEFINED = (*_CLASSES, "function", "constant", "module")
_ALIKE = 0.7
# What a member adds to its class in the ranking, and what naming a thing outright is worth.
_MEMBER_SHARE = 0.6
_NAMED = 1.5
_SHOWN_MEMBERS = 5


@dataclass(frozen=True)
class Hit:
    """A symbol that matches a query, and its best matching members."""

    symbol: Symbol
    score: float
    members: tuple[Symbol, ...] = ()


# No path of a package is deeper; a text that only looks like one may be.
_DEEPEST = 40


class SymbolIndex:
    """Answers from the files of one built index; nothing is run, and little is loaded."""

    def __init__(self, folder: Path) -> None:
        self._store = Store(folder)

    def __len__(self) -> int:
        return len(self._store)

    def close(self) -> None:
        self._store.close()

    @property
    def versions(self) -> Mapping[str, str]:
        """The target's distributions with their versions."""
        return dict(self._store.summary["versions"])

    @property
    def foreign(self) -> tuple[str, ...]:
        """The outermost packages and modules of everything else that is installed."""
        return tuple(self._store.summary["foreign"])

    @property
    def is_complete(self) -> bool:
        """False if the time ran out before every module was indexed."""
        return bool(self._store.summary["complete"])

    @cached_property
    def modules(self) -> Mapping[str, Symbol]:
        """The target's modules by name."""
        return {one.path: one for one in self._store.of_kind("module")}

    @cached_property
    def unavailable(self) -> Mapping[str, Failure]:
        """The modules that could not be imported, with the reason."""
        return {name: one.failure for name, one in self.modules.items() if one.failure}

    def is_foreign(self, dotted: str) -> bool:
        """Return whether a dotted name belongs to another distribution that is installed."""
        return any(dotted == one or dotted.startswith(f"{one}.") for one in self.foreign)

    def occurs(self, token: str, *, everywhere: bool = False) -> bool:
        """Return whether an identifier occurs in any file of the target or as any known name.

        Of anything longer, such as a dotted name, every part must. `everywhere` looks into the
        sources of all that is installed as well.
        """
        parts = _PART.findall(token)
        return bool(parts) and all(self._occurs(part, everywhere) for part in parts)

    def _occurs(self, word: str, everywhere: bool) -> bool:
        # Too short to have been noted; nothing is to be concluded from a single letter.
        if len(word) < 2 or self._store.has_name(word):
            return True
        return word in self._store.words or (everywhere and word in self._store.installed_words)

    def resolve(self, dotted: str) -> Symbol | None:
        """Return what a full path leads to: a module, a definition or a member."""
        if dotted.count(".") > _DEEPEST:
            return None
        exact = self._store.by_path(dotted)
        if exact:
            return min(exact, key=_preference)
        owner, _, name = dotted.rpartition(".")
        found = self.resolve(owner) if owner else None
        return self._inside(found, name) if found is not None else None

    def origin(self, dotted: str) -> str | None:
        """Return where a name is defined that a module of the target has only imported."""
        module, _, name = dotted.rpartition(".")
        found = self.modules.get(module)
        return found.foreign_names.get(name) if found is not None else None

    def find(self, name: str, kinds: Collection[str] = ()) -> list[Symbol]:
        """Return everything with this name: a name, or the last components of a path.

        Members are found on every class that has them, parameters on what takes them. Public and
        plain paths come first.
        """
        name = name.strip().removesuffix("()")
        found = {(one.path, one.kind): one for one in reversed(self._find(name))}
        wanted = [one for one in found.values() if not kinds or one.kind in kinds]
        return sorted(wanted, key=_preference)

    def _find(self, name: str) -> list[Symbol]:
        if " " in name:
            return [
                one
                for one in self._store.by_name(name.split()[-1])
                if any(f" {path}".endswith(f" {name}") for path in _spellings(one))
            ]
        owner, _, last = name.rpartition(".")
        if not owner:
            taking = self._store.with_parameter(last)
            return [*self._store.by_name(last), *(_as_parameter(one, last) for one in taking)]
        ending = f".{name}"
        found = [
            one
            for one in self._store.by_name(last)
            if any(path == name or path.endswith(ending) for path in (one.path, *one.paths))
        ]
        inner = (self._inside(one, last) for one in self._find(owner))
        return [*found, *(one for one in inner if one is not None)]

    def _inside(self, symbol: Symbol, name: str) -> Symbol | None:
        """Return the member or parameter of that name."""
        if symbol.kind in _CLASSES:
            member = self.members(symbol.path).get(name)
            if member is not None:
                return member
        if symbol.parameter(name) is not None:
            return _as_parameter(symbol, name)
        return None

    def nearest(self, dotted: str, count: int = 3) -> list[str]:
        """Return the paths most like one that leads nowhere.

        For a member of a class that exists, its most similar members; else what has the same name
        elsewhere; else what is called nearly so.
        """
        owner, _, name = dotted.rpartition(".")
        holder = self.resolve(owner) if owner else None
        if holder is not None and holder.kind != "module":
            taken = {*self.members(holder.path), *(one.name for one in holder.parameters or ())}
            return get_close_matches(name, sorted(taken), count, _ALIKE)
        public = [one for one in self.of_kinds(_DEFINED) if not one.foreign and not one.is_private]
        same = [one for one in public if one.name == name]
        if not same:
            close = get_close_matches(name, {one.name for one in public}, count, _ALIKE)
            same = [one for word in close for one in public if one.name == word]
        paths = sorted((one.import_path for one in same), key=lambda one: _likeness(one, dotted))
        return list(dict.fromkeys(paths))[:count]

    def of_kinds(self, kinds: Collection[str]) -> list[Symbol]:
        """Everything of these kinds, in the order of the paths."""
        return [one for kind in kinds for one in self._store.of_kind(kind)]

    def members(self, path: str) -> dict[str, Symbol]:
        """Return all members of a class by name and by alias, what it inherits included.

        The nearest class in the order of inheritance wins; foreign bases count.
        """
        symbol = self.resolve(path)
        if symbol is None:
            return {}
        if symbol.kind not in _CLASSES:
            return {one.name: one for one in self._store.by_owner(symbol.path)}
        found: dict[str, Symbol] = {}
        for place in (symbol.path, *symbol.bases):
            for member in self._find_owned(place):
                found.setdefault(member.name, member)
        for member in list(found.values()):
            for alias in member.aliases:
                found.setdefault(alias, member)
        return found

    def _find_owned(self, place: str) -> list[Symbol]:
        owned = self._store.by_owner(place)
        if owned:
            return owned
        # A class may be listed under another path than the one it says it has.
        elsewhere = self._store.by_path(place)
        return self._store.by_owner(elsewhere[0].path) if elsewhere else []

    def search(self, query: str, limit: int = 10, kinds: Collection[str] = ()) -> list[Hit]:
        """Return the best matches for a question in plain words.

        Members are returned with their class, unless `kinds` asks for certain kinds: then each hit
        is one of them.
        """
        scores = self._scores(query)
        if kinds:
            hits = [
                Hit(symbol, value)
                for place, value in _best(scores, 50 * limit)
                if (symbol := self._store.symbol(place)).kind in kinds
            ]
            return hits[:limit]
        named = {name.rpartition(".")[2] for name in find_identifiers(query)}
        hits = [
            replace(hit, score=hit.score * _NAMED) if _is_called(hit.symbol, named) else hit
            for hit in self._group(scores)
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.symbol.path))[:limit]

    def _scores(self, query: str) -> dict[int, float]:
        priors = self._store.priors()
        scores = ranking.score(query, self._store.postings, len(priors))
        return {place: value * priors[place] for place, value in scores.items()}

    def _group(self, scores: dict[int, float]) -> list[Hit]:
        """Group members under their class, which gets a share of the best member's score."""
        own: dict[str, float] = {}
        inner: dict[str, list[tuple[float, Symbol]]] = {}
        for place, value in _best(scores, 400):
            symbol = self._store.symbol(place)
            if symbol.owner:
                inner.setdefault(symbol.owner, []).append((value, symbol))
            else:
                own[symbol.path] = value
        hits = []
        for path in {**own, **inner}:
            symbol_or_none = self.resolve(path)
            if symbol_or_none is None:
                continue
            best = inner.get(path, [])
            worth = own.get(path, 0.0) + (_MEMBER_SHARE * best[0][0] if best else 0.0)
            shown = tuple(symbol for _, symbol in best[:_SHOWN_MEMBERS])
            hits.append(Hit(symbol_or_none, worth, shown))
        return hits


def _likeness(path: str, dotted: str) -> tuple[float, str]:
    """Sorts paths from the one that is most like another."""
    return -SequenceMatcher(None, path, dotted).ratio(), path


def _spellings(option: Symbol) -> list[str]:
    return [option.path, *(f"{option.owner} {alias}" for alias in option.aliases)]


def _is_called(symbol: Symbol, names: Collection[str]) -> bool:
    return any(path.rpartition(".")[2] in names for path in (symbol.path, *symbol.paths))


def _best(scores: dict[int, float], limit: int) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda one: (-one[1], one[0]))[:limit]


def _preference(symbol: Symbol) -> tuple[object, ...]:
    return (
        symbol.foreign,
        symbol.kind in ("parameter", "command"),
        bool(symbol.owner),
        not symbol.available,
        plainness(symbol.import_path),
    )


def _as_parameter(symbol: Symbol, name: str) -> Symbol:
    """Return a parameter as a symbol of its own."""
    found = symbol.parameter(name)
    assert found is not None
    return Symbol(
        path=f"{symbol.path}.{name}",
        kind="parameter",
        module=symbol.module,
        owner=symbol.path,
        paths=tuple(f"{path}.{name}" for path in symbol.paths),
        doc=found.doc,
        annotation=found.annotation,
        default=found.default,
        required=found.default is None and not found.kind.startswith("var_"),
        available=symbol.available,
    )
