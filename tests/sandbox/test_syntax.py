"""A tree that is remembered is walked like a new one."""

from __future__ import annotations

import ast
import inspect

import pytest

from assay.sandbox import parse_proof, walk_tree

SOURCES = (
    "",
    "x = 1",
    "def f(a, *b):\n    return [a + c for c in b if not c]",
    inspect.getsource(ast),
)


@pytest.mark.parametrize("source", SOURCES, ids=["nothing", "a line", "a function", "a module"])
def test_every_node_is_walked_in_the_order_of_ast(source: str) -> None:
    tree = parse_proof(source)
    assert parse_proof(source) is tree
    for node in ast.walk(tree):
        assert list(walk_tree(node)) == list(ast.walk(node))
        assert walk_tree(node) == walk_tree(node)


def test_what_is_not_python_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(SyntaxError):
            parse_proof("def f(:")
