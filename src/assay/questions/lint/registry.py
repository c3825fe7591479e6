"""The rules of lint, one small function each, by their codes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.errors import InputError, nearest
from assay.questions.model import Entry, Question
from assay.questions.suites.problems import LintFinding
from assay.questions.suites.suite import Suite

Level: TypeAlias = Literal["error", "warning", "note"]
# Whether a module has a name (or, for None, exists): yes, no, or nobody can tell.
Resolve: TypeAlias = Callable[[str, str | None], bool | None]


@dataclass(frozen=True)
class Linted:
    """What a rule looks at: all suites together, and how names can be looked up, if at all."""

    suites: Sequence[Suite]
    resolve: Resolve | None = None

    def questions(self) -> Iterator[tuple[Suite, Entry, Question]]:
        """Every multiple-choice question."""
        for suite in self.suites:
            for entry in suite.entries:
                if isinstance(entry.question, Question):
                    yield suite, entry, entry.question


Check: TypeAlias = Callable[[Linted], Iterable[LintFinding]]


@dataclass(frozen=True)
class Rule:
    """A code, how grave it is, what it means and what to do about it."""

    code: str
    level: Level
    title: str
    help: str
    check: Check


_RULES: dict[str, Rule] = {}


def rule(code: str, level: Level, title: str, help: str) -> Callable[[Check], Check]:  # noqa: A002 - SARIF's word
    """Register a function as the check of a code."""

    def register(check: Check) -> Check:
        if code in _RULES:
            raise ValueError(f"the lint code {code!r} is registered already")
        _RULES[code] = Rule(code, level, title, help, check)
        return check

    return register


def rules() -> dict[str, Rule]:
    """All rules by code, in the order they were registered."""
    return dict(_RULES)


def lint(
    suites: Sequence[Suite], *, ignored: Collection[str] = (), resolve: Resolve | None = None
) -> list[LintFinding]:
    """Everything the rules find in suites that were read together, sorted by place.

    Nothing is run and nothing imported. Codes in `ignored` are left out; one that is no code is an
    error, because it hides nothing and somebody believes that it does.
    """
    for code in ignored:
        if code not in _RULES:
            raise InputError(f"unknown lint code {code!r}", advice=nearest(code, _RULES))
    linted = Linted(suites, resolve)
    found = [
        finding
        for one in _RULES.values()
        if one.code not in ignored
        for finding in one.check(linted)
    ]
    return sorted(found, key=lambda one: (str(one.place.file), one.place.line, one.code))
