"""How near documentation is to the words of a question.

Proofs contain copies of these functions, so they use only the standard library; the prover uses
them to choose the option to write such a proof for.
"""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Mapping, Sequence

# How much nearer than all others the nearest has to be.
MARGIN = 1.2


def words(text: str) -> list[str]:
    """Return the words of a text in lower case; identifiers are split."""
    return [one.lower() for one in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", text)]


def is_same(one: str, other: str) -> bool:
    """Return whether two words are forms of one: they begin alike."""
    length = min(len(one), len(other), 5)
    return one == other or (length > 2 and one[:length] == other[:length])


def has(text: str, forms: Sequence[str]) -> bool:
    """Return whether one of the forms of a word stands in a text."""
    return any(is_same(form, one) for form in forms for one in words(text))


def worth(name: str, text: str, forms: Sequence[str]) -> float:
    """Return a word in the name is worth more than one in the documentation, a synonym less."""
    if has(name, forms[:1]):
        return 2.0
    if has(text, forms[:1]) or has(name, forms[1:]):
        return 1.0
    return 0.5 if has(text, forms[1:]) else 0.0


def coverage(name: str, query: Sequence[Sequence[str]]) -> float:
    """Return which share of the words of a name the question uses."""
    own = words(name)
    used = [one for one in own if any(is_same(form, one) for forms in query for form in forms)]
    return len(used) / len(own) if own else 0.0


def nearness(texts: Mapping[str, str], query: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return how near each documented name is to the question; rare words count more."""
    near = dict.fromkeys(texts, 0.0)
    for forms in query:
        worths = {name: worth(name, text, forms) for name, text in texts.items()}
        having = sum(1 for one in worths.values() if one)
        rarity = math.log(1 + len(texts) / having) if having else 0.0
        for name, value in worths.items():
            near[name] += value * rarity
    return {name: value * (1 + coverage(name, query)) for name, value in near.items()}


def nearest(texts: Mapping[str, str], query: Sequence[Sequence[str]]) -> str | None:
    """Return the name that is nearest by a clear margin, if there is one."""
    near = nearness(texts, query)
    first, second = [*sorted(near, key=lambda name: -near[name]), None, None][:2]
    if first is None or not near[first]:
        return None
    return first if second is None or near[first] >= MARGIN * near[second] else None


def source() -> str:
    """Return the functions above without annotations, as a proof carries them."""
    functions = (words, is_same, has, worth, coverage, nearness, nearest)
    return "\n\n\n".join(_plain(inspect.getsource(one)) for one in functions)


def _plain(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)
