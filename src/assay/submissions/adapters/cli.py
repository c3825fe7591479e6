"""Runs cases of a command line program, one process per case."""

from __future__ import annotations

import asyncio
import shlex
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any

from assay.errors import InputError
from assay.model import CaseResult
from assay.sandbox import CollectedFiles, ProgramResult
from assay.submissions.cases import BaseCase, CLICase, CLIResult
from assay.submissions.config import GroupConfig
from assay.submissions.environments.hosts import ProgramRunner
from assay.submissions.environments.preparing import PreparedSubmission
from assay.submissions.result_files import (
    decode_files,
    decode_output,
    encode_inputs,
    encode_stdin,
    list_left,
    list_patterns,
)


class CliRunner:
    """The cases of one group, each in a fresh work folder, or all in one that is kept."""

    def __init__(self, prepared: PreparedSubmission, group: GroupConfig) -> None:
        self._prepared, self._group = prepared, group
        self._variables = prepared.variables(group)
        self._held = AsyncExitStack()
        self._programs: ProgramRunner = prepared.programs
        # Cases that share a work folder take turns.
        self._turn: asyncio.Lock | None = None

    async def __aenter__(self) -> CliRunner:
        if not self._group.isolated:
            self._turn = asyncio.Lock()
            self._programs = await self._held.enter_async_context(
                self._prepared.host.open_programs(keeps=True)
            )
        elif not self._group.reuse:
            self._programs = await self._held.enter_async_context(
                self._prepared.host.open_programs(reuse=False)
            )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._held.aclose()

    async def run(self, case: BaseCase) -> CaseResult:
        """Return what the program did; raise InfrastructureError only for Assay's own errors."""
        if self._turn is None:
            return await self._run(case)
        async with self._turn:
            if case.reset:
                await self._programs.reset()
            return await self._run(case)

    async def _run(self, case: BaseCase) -> CaseResult:
        command, line = command_of(self._prepared.start, case, resplit=self._prepared.resplits)
        result = await self._programs.run(
            command,
            stdin=encode_stdin(case.stdin) if isinstance(case, CLICase) else b"",
            files=encode_inputs(case),
            collect=list_patterns(self._prepared.problem, self._group, case),
            environment=self._variables,
            wall_time=self._prepared.seconds(self._group, case.timeout_s),
        )
        return result_of(case, line, result)


def command_of(start: tuple[str, ...], case: BaseCase, *, resplit: bool) -> tuple[list[str], str]:
    """Return the command to run, and the command to show.

    Arguments are passed unchanged. Loaders of existing problems quote theirs for a shell, because
    their original runner joined and split the command: `resplit` does the same.
    """
    if not resplit:
        command = [*start, *case.arguments]
        return command, shlex.join(command)
    line = " ".join([shlex.join(start), *case.arguments])
    try:
        return shlex.split(line), line
    except ValueError as error:
        raise InputError(
            f"its arguments cannot be split as a shell would: {error}",
            where=f"{case.group}/{case.id}",
            advice="quote them in the loader with shlex.quote",
        ) from None


def result_of(case: BaseCase, line: str, result: ProgramResult) -> CLIResult:
    """Return the result of a case; if a limit ended it, the status is -1 and the limit is named."""
    more: dict[str, Any] = {}
    stderr = decode_output(result.stderr)
    # A program may also be refused something, more processes say, and come to an end of its own.
    was_ended = result.timed_out or (result.limit is not None and result.exit_status < 0)
    if result.limit:
        more["limit"] = result.limit
        if was_ended and not result.timed_out:
            stderr += f"\n[ended: it exceeded its limit {result.limit}]\n"
    if result.cut:
        more["cut"] = dict(result.cut)
    if left := list_left(CollectedFiles(result.files, result.left)):
        more["left"] = left
    return CLIResult(
        id=case.id,
        group=case.group,
        group_type=case.group_type,
        status_code=-1 if was_ended else result.exit_status,
        output=decode_output(result.stdout),
        stderr=stderr,
        timed_out=result.timed_out,
        elapsed=result.wall_time,
        command=line,
        files=decode_files(result.files),
        **more,
    )
