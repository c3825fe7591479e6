"""Which installed distribution a question is about, where the target is `current`."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import packages_distributions
from pathlib import Path

from assay.documents import LARGEST_SOURCE, UnreadableFileError, read_text
from assay.questions.model import Question
from assay.questions.provers.introspection.reading import mentions

_LONGEST = 20_000
_IMPORT = re.compile(r"^\s*(?:import|from)\s+([A-Za-z_]\w*)", re.MULTILINE)
_QUOTED = re.compile(r"`(?:import |from )?([A-Za-z_]\w*)(?=[.` ])")
_DOTTED = re.compile(r"`(?:import |from )?([A-Za-z_]\w*)(?=\.)")
_WORD = re.compile(r"\b[a-z]\w+\b")


def named_distributions(question: Question) -> tuple[str, ...]:
    """The distributions whose packages the question imports, quotes or else calls by name."""
    snippet = question.snippet
    asked, options = question.text[:_LONGEST], "\n".join(question.options.values())[:_LONGEST]
    code = "\n".join([*snippet.imports, snippet.code]) if snippet else ""
    # A bare word in an option is what is offered, and only by chance the name of a package.
    quoted = [*_QUOTED.findall(asked), *_DOTTED.findall(options)]
    known = _installed()
    for words in (
        [*_IMPORT.findall(f"{asked}\n{options}\n{code}"), *quoted],
        _WORD.findall(question.text[:_LONGEST]),
    ):
        found = sorted({known[word] for word in words if word in known})
        if found:
            return tuple(found)
    return ()


def guessed_distributions(question: Question) -> tuple[str, ...]:
    """The one distribution whose package offers more of the question's names than any other."""
    text = question.text[:_LONGEST]
    wanted = {one.name.partition(".")[0] for one in mentions(text) if one.name}
    return _offering(wanted) or _offering({name for name in wanted if name[:1].isupper()})


def _offering(names: Iterable[str]) -> tuple[str, ...]:
    wanted = frozenset(names)
    scores: dict[str, int] = {}
    for package, distribution in _installed().items():
        count = len(wanted & _offered(package))
        scores[distribution] = max(count, scores.get(distribution, 0))
    best = max(scores.values(), default=0)
    found = [name for name, count in scores.items() if count == best]
    return tuple(found) if best and len(found) == 1 else ()


@lru_cache(maxsize=1)
def _installed() -> dict[str, str]:
    found = packages_distributions().items()
    return {name: distributions[0] for name, distributions in found if not name.startswith("_")}


@lru_cache(maxsize=1024)
def _offered(package: str) -> frozenset[str]:
    """What a package's own file defines or exports; nothing is imported for it."""
    try:
        spec = importlib.util.find_spec(package)
        text = read_text(Path(spec.origin), LARGEST_SOURCE) if spec and spec.origin else ""
        tree = ast.parse(text)
    except (ImportError, ValueError, OSError, SyntaxError, RecursionError, UnreadableFileError):
        return frozenset()
    return frozenset(_exports(tree))


def _exports(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
                parts = ast.walk(node)
                yield from (str(one.value) for one in parts if isinstance(one, ast.Constant))
