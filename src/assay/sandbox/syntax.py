"""The syntax tree of a proof, which many checks read: parsed once, and walked once."""

from __future__ import annotations

import ast
import functools

# As many proofs are under examination at a time, and a tree may take a few hundred kilobytes.
_TREES = 32
_WALKED = "_assay_walked"


@functools.lru_cache(_TREES)
def parse_proof(source: str) -> ast.Module:
    """Return the tree of a program, which the caller must not change."""
    return ast.parse(source)


def walk_tree(node: ast.AST) -> tuple[ast.AST, ...]:
    """Return a node and all below it, in the order of `ast.walk`; remembered in the node."""
    found: tuple[ast.AST, ...] | None = getattr(node, _WALKED, None)
    if found is None:
        found = tuple(ast.walk(node))
        setattr(node, _WALKED, found)
    return found
