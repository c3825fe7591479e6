"""The source of problems with their own code; cases and judgements come from a worker.

A lost worker is restarted for the next request; only the case of the lost request is lost. A new
worker has no state of a group: the cases that were drawn are drawn again, and their results are
added to its store again. This requires a loader that yields the same cases every time.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Self

from pydantic import ValidationError

from assay.errors import InputError
from assay.model import CaseResult, VerificationResult
from assay.processes import ChildLostError
from assay.submissions.adapters import find_adapter
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.protocols import (
    LOST,
    CasesBrokenError,
    CaseStream,
    ExpectedCase,
    NoCasesError,
    StoreBrokenError,
    VerifierBrokenError,
)
from assay.submissions.python_problems import package
from assay.submissions.python_problems.process import (
    ProblemWorker,
    QuestionRaisedError,
    pack_config,
    pack_result,
    unpack_results,
    value_of,
)
from assay.tracebacks import first_problem


@dataclass(frozen=True)
class CodeLimits:
    """Time limits, in seconds, for a problem's own code."""

    load: float = 120.0
    """To be imported."""
    draw: float = 60.0
    """For one case of the loader, or one update of its store."""
    verify: float = 60.0
    """For one case of the verifier."""


class PythonSource:
    """The source of a problem with `loader.py` and `verifier.py`; an async context manager.

    `on_output` is given what the problem's code prints.
    """

    def __init__(
        self,
        problem: ProblemConfig,
        *,
        limits: CodeLimits | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> None:
        self.problem = problem
        self.adapter = find_adapter(problem.adapter.type)
        self.limits = limits or CodeLimits()
        self._on_output = on_output
        self._packed = pack_config(problem)
        self._worker: ProblemWorker | None = None
        self._turn = asyncio.Lock()
        self._numbers = itertools.count()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker, even if it is busy."""
        if self._worker is not None:
            self._worker.close()

    async def load(self) -> None:
        """Import the problem now; raises InputError for what is wrong with its classes."""
        async with self.turn():
            pass

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[ProblemWorker]:
        """Yield a worker with the problem loaded, for exclusive use."""
        async with self._turn:
            if self._worker is None or self._worker.is_closed:
                self._worker = await self._start()
            yield self._worker

    async def _start(self) -> ProblemWorker:
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
        """Return the cases of a group."""
        return self._open(checkpoint, group)

    @contextlib.asynccontextmanager
    async def _open(
        self, checkpoint: CheckpointConfig, group: GroupConfig
    ) -> AsyncIterator[CaseStream]:
        stream = PythonStream(self, checkpoint, group, next(self._numbers))
        await stream.begin()
        try:
            yield stream
        finally:
            await self._release(stream)

    async def _release(self, stream: PythonStream) -> None:
        """Close the loader and ignore errors."""
        async with self._turn:
            if self._worker is None or self._worker.is_closed:
                return
            with contextlib.suppress(ChildLostError, QuestionRaisedError, InputError):
                await stream.end(self._worker)

    async def verify(
        self,
        checkpoint: CheckpointConfig,
        group: GroupConfig,
        drawn: ExpectedCase,
        actual: CaseResult,
    ) -> dict[str, VerificationResult]:
        """Return the results of the problem's verifier on copies, which it may change."""
        adapter = self.adapter
        try:
            async with self.turn() as worker:
                packed = await worker.ask(
                    "verify",
                    self.limits.verify,
                    checkpoint=checkpoint.name,
                    group=group.name,
                    case=drawn.case.id,
                    actual=pack_result(actual, adapter),
                    expected=pack_result(drawn.expected, adapter),
                )
        except ChildLostError as error:
            raise VerifierBrokenError(f"{self._verifier}: the verifier {error}", LOST) from None
        except QuestionRaisedError as error:
            raised, *frames = str(error).split("\n")
            sign = "\n".join([raised.partition(":")[0], *frames])
            raise VerifierBrokenError(f"the verifier raised {error}", sign) from None
        except InputError as error:
            raise VerifierBrokenError(str(error)) from None
        return unpack_results(packed)

    @property
    def _verifier(self) -> str:
        return str(self.problem.path / package.VERIFIER_SCRIPT)


_AHEAD = 32


@dataclass
class _Past:
    """A case that was drawn, and the result passed to the store."""

    case: str
    actual: dict[str, Any] | None = None


class PythonStream:
    """The cases of one group; can restore its state if its worker is lost."""

    def __init__(
        self,
        source: PythonSource,
        checkpoint: CheckpointConfig,
        group: GroupConfig,
        number: int,
    ) -> None:
        self._source = source
        self._checkpoint = checkpoint
        self._group = group
        self._number = number
        self._loader = str(source.problem.path / source.problem.loader_script)
        self._worker: ProblemWorker | None = None
        self._is_stateful = False
        self._count = 1
        self._past: list[_Past] = []
        self._ahead: deque[ExpectedCase] = deque()
        self._has_ended = False
        self._failure: Exception | None = None

    @property
    def is_stateful(self) -> bool:
        return self._is_stateful

    async def begin(self) -> None:
        """Open the group; raise CasesBrokenError if the loader cannot start."""
        async with self._asking():
            self._count = 1 if self._is_stateful else _AHEAD

    async def draw(self) -> ExpectedCase | None:
        while not (self._ahead or self._has_ended or self._failure):
            await self._draw_more()
        if self._ahead:
            return self._ahead.popleft()
        if self._failure is not None:
            raise self._failure
        if not self._past:
            raise NoCasesError(
                f"{self._loader}: the loader gave no cases for the group {self._group.name!r}"
            )
        return None

    async def update(self, drawn: ExpectedCase, actual: CaseResult) -> None:
        if not self._is_stateful:
            return
        packed = pack_result(actual, self._source.adapter)
        try:
            async with self._asking() as worker:
                await self._ask(worker, "update", actual=packed)
        except (ChildLostError, QuestionRaisedError) as error:
            raise StoreBrokenError(
                f"{self._loader}: the update of its store with {drawn.case.id!r} {_verb(error)}"
            ) from None
        # Only now: an update that failed is not repeated when the group is brought back.
        self._past[-1].actual = packed

    async def end(self, worker: ProblemWorker) -> None:
        """Close the loader, if it has started in this worker."""
        if worker is self._worker:
            await self._ask(worker, "close")

    async def _draw_more(self) -> None:
        try:
            async with self._asking() as worker:
                answer = await self._ask(worker, "draw", count=self._count)
            self._take(answer)
        except ChildLostError as error:
            if self._count == 1:
                self._failure = self._fail(error)
            # One at a time then, so that the cases before the one that cannot be drawn are not
            # lost with it.
            self._count = 1
        except QuestionRaisedError as error:
            self._failure = self._fail(error)
        except (CasesBrokenError, InputError) as error:
            self._failure = error

    def _take(self, answer: dict[str, Any]) -> None:
        for packed in answer["drawn"]:
            drawn = self._unpack_case(packed)
            self._ahead.append(drawn)
            self._past.append(_Past(drawn.case.id))
        self._has_ended = "ended" in answer
        if "failed" in answer:
            value_of(answer["failed"])

    def _fail(self, error: Exception) -> CasesBrokenError:
        place = f"after {self._past[-1].case!r}" if self._past else "before its first case"
        return CasesBrokenError(
            f"{self._loader}: the loader of {self._group.name!r}, {place}, {_verb(error)}"
        )

    @contextlib.asynccontextmanager
    async def _asking(self) -> AsyncIterator[ProblemWorker]:
        """Yield the worker, with this group opened and its state restored."""
        async with self._source.turn() as worker:
            if worker is not self._worker:
                try:
                    await self._bring_back(worker)
                except (ChildLostError, QuestionRaisedError) as error:
                    raise self._fail(error) from None
                self._worker = worker
            yield worker

    async def _bring_back(self, worker: ProblemWorker) -> None:
        group = pack_config(self._group)
        self._is_stateful = await self._ask(
            worker, "open", checkpoint=self._checkpoint.name, group=group
        )
        for past in self._past:
            answer = await self._ask(worker, "draw", count=1)
            again = [each["case"]["id"] for each in answer["drawn"]]
            if again != [past.case]:
                raise CasesBrokenError(
                    f"{self._loader}: drawn again, {self._group.name!r} has another case in the "
                    f"place of {past.case!r}; the loader must give the same cases every time"
                )
            if past.actual is not None:
                await self._ask(worker, "update", actual=past.actual)

    async def _ask(self, worker: ProblemWorker, question: str, **about: Any) -> Any:
        limit = self._source.limits.draw
        return await worker.ask(question, limit, stream=self._number, **about)

    def _unpack_case(self, packed: dict[str, Any]) -> ExpectedCase:
        """Return a case, with defaults from its group."""
        case, expected = packed["case"], packed["expected"]
        group = self._group
        known = {
            "group": group.name,
            "group_type": group.type,
            "checkpoint": self._checkpoint.name,
            "original_group": group.original_group,
            "original_checkpoint": group.original_checkpoint,
        }
        try:
            return ExpectedCase(
                self._source.adapter.case(**{**known, **case}),
                find_adapter(expected["kind"]).result(**expected["fields"]),
            )
        except ValidationError as error:
            raise InputError(
                f"the loader returned an invalid case: {first_problem(error)}", where=self._loader
            ) from None


def _verb(error: Exception) -> str:
    return f"raised {error}" if isinstance(error, QuestionRaisedError) else str(error)
