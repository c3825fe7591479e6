"""From what was seen inside the sandbox to symbols: documentation is spread to what it is about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import ValidationError

from assay.errors import InfrastructureError
from assay.questions.index.docstrings import Docstring, parse
from assay.questions.index.symbols import Parameter, Symbol, plainness

_LONGEST_REST = 2000
_LONGEST_ENTRY = 600


def read_facts(data: bytes) -> list[Symbol]:
    """The symbols of `facts.jsonl`, one per path; a last line that was cut off is left out."""
    documented: dict[str, Docstring] = {}
    found: dict[str, Symbol] = {}
    lines = data.split(b"\n")
    try:
        for number, line in enumerate(lines):
            if line:
                fact = _decoded(line, is_last=number >= len(lines) - 2)
                symbol = Symbol.model_validate(fact) if fact else None
                if symbol is not None and symbol.path not in found:
                    documented[symbol.path] = parse(symbol.doc)
                    found[symbol.path] = symbol
    except (ValueError, ValidationError) as error:
        raise InfrastructureError(f"what came out of the sandbox is no index: {error}") from None
    _inherit_constructor_docs(found, documented)
    return list(_completed(found, documented))


def _decoded(line: bytes, *, is_last: bool) -> dict[str, Any] | None:
    try:
        fact = json.loads(line)
    except ValueError:
        if is_last:
            return None
        raise
    return fact if isinstance(fact, dict) else None


def _inherit_constructor_docs(found: dict[str, Symbol], docs: dict[str, Docstring]) -> None:
    """What `__init__` says about its parameters is about the class's as well."""
    for path in found:
        owner = path.removesuffix(".__init__")
        if owner != path and owner in docs:
            docs[owner].names.update(
                (name, text) for name, text in docs[path].names.items() if text
            )


def _completed(found: dict[str, Symbol], docs: dict[str, Docstring]) -> Iterator[Symbol]:
    for path, symbol in found.items():
        own, around = docs[path], docs.get(symbol.owner, Docstring())
        said = around.names.get(symbol.name, "") if symbol.owner else ""
        first, rest = own.first, own.rest
        if not first:
            first, _, rest = said.partition("\n\n")
        yield symbol.model_copy(
            update={
                "doc": first[:_LONGEST_ENTRY],
                "details": rest[:_LONGEST_REST],
                "paths": _reached(symbol, found),
                "parameters": _documented(symbol.parameters, own),
                "deprecated": symbol.deprecated or own.deprecated or _marked(symbol),
            }
        )


def _reached(symbol: Symbol, found: dict[str, Symbol]) -> tuple[str, ...]:
    """The paths to a symbol, the best first; a member is reached through its class."""
    owner = found.get(symbol.owner)
    if owner is not None and symbol.kind not in ("command", "option"):
        return tuple(f"{path}.{symbol.name}" for path in _reached(owner, found))
    paths = {symbol.path, *symbol.paths}
    return tuple(
        sorted(paths, key=lambda path: (_by_accident(path, symbol, found), plainness(path)))
    )


def _by_accident(path: str, symbol: Symbol, found: dict[str, Symbol]) -> bool:
    """Whether a module has the name only because it needed it itself.

    A package that offers what is defined below it means to, with or without `__all__`.
    """
    module, _, name = path.rpartition(".")
    where = found.get(module)
    return not (
        path == symbol.path
        or symbol.module == module
        or symbol.module.startswith(f"{module}.")
        or (where is not None and name in where.exports)
    )


def _documented(
    parameters: Iterable[Parameter] | None, docs: Docstring
) -> tuple[Parameter, ...] | None:
    if parameters is None:
        return None
    return tuple(
        one.model_copy(update={"doc": docs.names.get(one.name, "")[:_LONGEST_ENTRY]})
        for one in parameters
    )


def _marked(symbol: Symbol) -> str:
    return next((one for one in symbol.decorators if "deprecated" in one.lower()), "")
