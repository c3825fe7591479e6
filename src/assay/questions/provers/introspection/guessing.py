"""Which installed distribution a question is about, where the target is `current` and says nothing."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import packages_distributions
from pathlib import Path

from assay.questions.model import Question

_LONGEST = 20_000
_IMPORT = re.compile(r"^\s*(?:import|from)\s+([A-Za-z_]\w*)", re.MULTILINE)
_QUOTED = re.compile(r"`(?:import |from )?([A-Za-z_]\w*)(?=[.` ])")
_WORD = re.compile(r"\b[a-z]\w+\b")
_NAME = re.compile(r"\b(?:[A-Z]\w*[a-z]\w*|[a-z]\w*_\w+|[A-Z][a-z]+)\b")


def mentioned_distributions(question: Question) -> tuple[str, ...]:
    """By the packages it imports or quotes, else by a word of it, else by the names it uses."""
    snippet = question.snippet
    text = "\n".join([question.text, *question.options.values()])[:_LONGEST]
    code = "\n".join([*snippet.imports, snippet.code]) if snippet else ""
    known = _installed()
    for words in (
        [*_IMPORT.findall(f"{text}\n{code}"), *_QUOTED.findall(text)],
        _WORD.findall(question.text[:_LONGEST]),
    ):
        found = sorted({known[word] for word in words if word in known})
        if found:
            return tuple(found)
    return _by_names(_NAME.findall(question.text[:_LONGEST]))


def _by_names(names: Iterable[str]) -> tuple[str, ...]:
    """The one distribution whose package offers more of these names than any other does."""
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
    """The words in a package's own file; nothing is imported for it."""
    try:
        spec = importlib.util.find_spec(package)
        text = Path(spec.origin).read_text("utf-8") if spec and spec.origin else ""
    except (ImportError, ValueError, OSError):
        return frozenset()
    return frozenset(re.findall(r"[^\W\d]\w+", text))
