"""Questions: is the question right? Every option is proven against the real library."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.findings import Findings

__all__ = ["lint"]


def lint(*suites: str | Path, ignore: Iterable[str] = ()) -> Findings:
    """Return the defects of suites that need no execution: each with a code, a place and advice.

    `suites` are files, folders or globs. Nothing is run and nothing imported. Codes in `ignore`,
    and those that the project's configuration ignores, are left out.
    """
    from assay.config import load_config
    from assay.questions.lint_rules import StaticResolver, lint_suites
    from assay.questions.suites.suite import read_suites

    ignored = [*load_config().questions.ignore, *ignore]
    return lint_suites(read_suites(suites), ignore=ignored, resolve=StaticResolver())
