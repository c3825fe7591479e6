"""Lint rules for suites: defects that can be found without running anything.

To add a rule, write a generator with `@rule(code, severity, title, help)` in `options`, `hints`,
`consistency` or `imports`; it takes the suites as a `Linted` and yields findings.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from assay.findings import Findings
from assay.questions.lint_rules.context import RULES, Linted, Resolve
from assay.questions.suite.suite import Suite

__all__ = [
    "RULES",
    "Linted",
    "Resolve",
    "StaticResolver",
    "find_contradictions",
    "find_resolvers",
    "lint_suites",
]

# Imported for the rules they register, in the order in which rules are listed.
for _name in ("options", "hints", "consistency", "imports"):
    importlib.import_module(f"{__name__}.{_name}")

from assay.questions.lint_rules.consistency import find_contradictions  # noqa: E402 - see above
from assay.questions.lint_rules.imports import StaticResolver, find_resolvers  # noqa: E402


def lint_suites(
    suites: Sequence[Suite],
    *,
    ignore: Collection[str] = (),
    resolvers: Mapping[Path, Resolve] | None = None,
    skipped: Iterable[str] = (),
) -> Findings:
    """Return everything the rules find in suites that were read together.

    Nothing is run and nothing imported. Codes in `ignore` are left out. `resolvers` look names of
    the target up, by the path of the suite.
    """
    RULES.load_plugins("questions")
    RULES.check_codes(ignore)
    found = RULES.apply(Linted(suites, resolvers or {}))
    return Findings.of(found, RULES, ignore=ignore, skipped=skipped)
