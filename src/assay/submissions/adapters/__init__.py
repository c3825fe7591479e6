"""Adapters: how a case is given to a program, and what is taken from it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.submissions.config import GroupConfig
    from assay.submissions.preparing import Prepared
    from assay.submissions.seams import Runner

__all__ = ["runner"]


def runner(prepared: Prepared, group: GroupConfig) -> AbstractAsyncContextManager[Runner]:
    """What runs the cases of one group, of whichever kind the problem's program is."""
    if prepared.problem.adapter.type == "api":
        from assay.submissions.adapters.api import ApiRunner

        return ApiRunner(prepared, group)
    from assay.submissions.adapters.cli import CliRunner

    return CliRunner(prepared, group)
