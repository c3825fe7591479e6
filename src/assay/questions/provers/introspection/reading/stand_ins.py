"""Stand-ins: what code is given that it does not show, where the target says what it has to be."""

from __future__ import annotations

import ast
import re

from assay.questions.index import Symbol
from assay.questions.provers.introspection.library import CALLABLES, CLASSES, Library

# Whatever is asked of a stand-in says nothing about the target, as if the network had been needed.
DEFINITION = '''
def stand_in(base):
    """Something that is a `base` and can do nothing."""
    import inspect
    import sys

    def refuse(*_, **__):
        sys.audit("socket.connect")
        raise ConnectionError(f"this {base.__name__} only stands in for a real one")

    members = {}
    for name in base.__abstractmethods__:
        is_property = isinstance(inspect.getattr_static(base, name), property)
        members[name] = property(refuse) if is_property else refuse
    return type(f"StandIn{base.__name__}", (base,), members)()
'''.strip()


def stand_in(name: str, tree: ast.Module, library: Library) -> list[str]:
    """The lines that make a name out of nothing, if it can only be of one abstract class."""
    base = _taken_as(name, tree, library)
    if base is None or not base.is_abstract or not base.available:
        return []
    place = library.place(base)
    return [place.statement, f"{name} = stand_in({place.expression})"]


def _taken_as(name: str, tree: ast.Module, library: Library) -> Symbol | None:
    """The class that a call of the target's declares for what it is given by that name."""
    found: dict[str, Symbol] = {}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        owner = library.owner(ast.unparse(call.func), (*CLASSES, *CALLABLES))
        for position, argument in enumerate(call.args):
            if owner is not None and _is(argument, name):
                taken = (owner.parameters or ())[position : position + 1]
                found |= declared(taken[0].annotation if taken else "", library)
        for keyword in call.keywords:
            if owner is not None and keyword.arg and _is(keyword.value, name):
                parameter = owner.parameter(keyword.arg)
                found |= declared(parameter.annotation if parameter else "", library)
    return next(iter(found.values())) if len(found) == 1 else None


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def declared(annotation: str, library: Library) -> dict[str, Symbol]:
    """The class an annotation names, whether or not it may be left out."""
    plain = re.sub(r"^Optional\[(.*)\]$|\s*\|\s*None$", r"\1", annotation.strip("'\""))
    found = library.owner(plain, CLASSES) if plain else None
    return {} if found is None else {found.path: found}
