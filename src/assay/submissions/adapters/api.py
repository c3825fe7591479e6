"""Runs cases of a server."""

from __future__ import annotations

from assay.results import CaseResult
from assay.submissions.adapters.cli import CliRunner
from assay.submissions.cases import BaseCase


class ApiRunner(CliRunner):
    async def run(self, case: BaseCase) -> CaseResult:
        raise NotImplementedError
