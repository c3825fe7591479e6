"""Is the agent right, often enough? Conversations of test files, held with a live agent."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.findings import Findings

__all__ = ["lint"]


def lint(*files: str | Path, ignore: Iterable[str] = ()) -> Findings:
    """Return what is wrong with test files: each finding with a code, a place and advice.

    `files` are files, folders or globs. No agent is called. Codes in `ignore`, and those that the
    project's configuration ignores, are left out.
    """
    from assay.agents.files.lint import lint_files
    from assay.config import load_config

    return lint_files(files, ignore=[*load_config().agents.ignore, *ignore])
