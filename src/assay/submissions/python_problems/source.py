"""Cases and judgements of a problem that has code of its own, asked of its worker.

A worker that is lost is started again for the next question; the case whose question was lost is
the only one that is.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Self

from assay.errors import InputError
from assay.model import CaseResult, VerificationResult
from assay.processes import ChildLostError
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.python_problems import package, wire
from assay.submissions.python_problems.process import ProblemWorker, QuestionRaisedError
from assay.submissions.python_problems.stream import ProgrammedStream
from assay.submissions.seams import LOST, CaseStream, Drawn, VerifierBrokenError


@dataclass(frozen=True)
class Limits:
    """How many seconds a problem's own code may take."""

    load: float = 120.0
    """To be imported."""
    draw: float = 60.0
    """For one case of the loader, or one update of its store."""
    verify: float = 60.0
    """For one case of the verifier."""


class ProgrammedSource:
    """The source of a problem with `loader.py` and `verifier.py`; an async context manager.

    `on_output` is given what the problem's code prints.
    """

    def __init__(
        self,
        problem: ProblemConfig,
        *,
        limits: Limits | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> None:
        self.problem = problem
        self.limits = limits or Limits()
        self._on_output = on_output
        self._packed = wire.pack_config(problem)
        self._worker: ProblemWorker | None = None
        self._turn = asyncio.Lock()
        self._numbers = itertools.count()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker, whatever it is doing."""
        if self._worker is not None:
            self._worker.close()

    async def load(self) -> None:
        """Import the problem now; raises InputError for what is wrong with its classes."""
        async with self.turn():
            pass

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[ProblemWorker]:
        """A worker with the problem loaded, for as long as nobody else is to ask it."""
        async with self._turn:
            if self._worker is None or self._worker.is_closed:
                self._worker = await self._started()
            yield self._worker

    async def _started(self) -> ProblemWorker:
        worker = ProblemWorker(self._packed, self._on_output)
        try:
            await worker.load(self.limits.load)
        except ChildLostError as error:
            raise InputError(
                f"importing its loader and verifier {error}", where=str(self.problem.path)
            ) from None
        except BaseException:
            worker.close()
            raise
        return worker

    def open(
        self, checkpoint: CheckpointConfig, group: GroupConfig
    ) -> AbstractAsyncContextManager[CaseStream]:
        """The cases of a group."""
        return self._opened(checkpoint, group)

    @contextlib.asynccontextmanager
    async def _opened(
        self, checkpoint: CheckpointConfig, group: GroupConfig
    ) -> AsyncIterator[CaseStream]:
        stream = ProgrammedStream(self, checkpoint, group, next(self._numbers))
        await stream.begin()
        try:
            yield stream
        finally:
            await self._released(stream)

    async def _released(self, stream: ProgrammedStream) -> None:
        """Let the loader end; how it does is of no interest any more."""
        async with self._turn:
            if self._worker is None or self._worker.is_closed:
                return
            with contextlib.suppress(ChildLostError, QuestionRaisedError, InputError):
                await stream.end(self._worker)

    async def verify(
        self,
        checkpoint: CheckpointConfig,
        group: GroupConfig,
        drawn: Drawn,
        actual: CaseResult,
    ) -> dict[str, VerificationResult]:
        """What the problem's verifier says; it gets results of its own, which it may change."""
        adapter = self.problem.adapter.type
        try:
            async with self.turn() as worker:
                packed = await worker.ask(
                    "verify",
                    self.limits.verify,
                    checkpoint=checkpoint.name,
                    group=group.name,
                    case=drawn.case.id,
                    actual=wire.pack_result(actual, adapter),
                    expected=wire.pack_result(drawn.expected, adapter),
                )
        except ChildLostError as error:
            raise VerifierBrokenError(f"{self._verifier}: the verifier {error}", LOST) from None
        except QuestionRaisedError as error:
            raised, *frames = str(error).split("\n")
            sign = "\n".join([raised.partition(":")[0], *frames])
            raise VerifierBrokenError(f"the verifier raised {error}", sign) from None
        except InputError as error:
            raise VerifierBrokenError(str(error)) from None
        return wire.unpack_results(packed)

    @property
    def _verifier(self) -> str:
        return str(self.problem.path / package.VERIFIER_SCRIPT)
