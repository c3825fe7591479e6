"""The cases of one group, drawn from a problem's worker and, if that is lost, drawn again.

A new worker knows nothing of a group. The cases it had given are drawn again, and its store is told
again what came of each, so that the group goes on where it was. That needs a loader that gives the
same cases every time.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from assay.errors import InputError
from assay.model import CaseResult
from assay.processes import ChildLostError
from assay.submissions.cases import CASE_OF, RESULT_OF
from assay.submissions.config import CheckpointConfig, GroupConfig
from assay.submissions.python_problems import wire
from assay.submissions.python_problems.process import (
    ProblemWorker,
    QuestionRaisedError,
    value_of,
)
from assay.submissions.seams import CasesBrokenError, Drawn, NoCasesError, StoreBrokenError
from assay.tracebacks import first_problem

if TYPE_CHECKING:
    from assay.submissions.python_problems.source import ProgrammedSource

_AHEAD = 32


@dataclass
class _Past:
    """A case that was drawn, and what the store was told came of it."""

    case: str
    actual: dict[str, Any] | None = None


class ProgrammedStream:
    """The cases of one group; knows what to do again if its worker is lost."""

    def __init__(
        self,
        source: ProgrammedSource,
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
        self._ahead: deque[Drawn] = deque()
        self._has_ended = False
        self._failure: Exception | None = None

    @property
    def is_stateful(self) -> bool:
        return self._is_stateful

    async def begin(self) -> None:
        """Open the group; raises CasesBrokenError if the loader cannot even begin."""
        async with self._asking():
            self._count = 1 if self._is_stateful else _AHEAD

    async def draw(self) -> Drawn | None:
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

    async def update(self, drawn: Drawn, actual: CaseResult) -> None:
        if not self._is_stateful:
            return
        packed = wire.pack_result(actual, self._source.problem.adapter.type)
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
        """Let the loader end, if it has begun in this worker."""
        if worker is self._worker:
            await self._ask(worker, "close")

    async def _draw_more(self) -> None:
        try:
            async with self._asking() as worker:
                answer = await self._ask(worker, "draw", count=self._count)
            self._take(answer)
        except ChildLostError as error:
            if self._count == 1:
                self._failure = self._broken(error)
            # One at a time then, so that the cases before the one that cannot be drawn are not
            # lost with it.
            self._count = 1
        except QuestionRaisedError as error:
            self._failure = self._broken(error)
        except (CasesBrokenError, InputError) as error:
            self._failure = error

    def _take(self, answer: dict[str, Any]) -> None:
        for packed in answer["drawn"]:
            drawn = self._drawn(packed)
            self._ahead.append(drawn)
            self._past.append(_Past(drawn.case.id))
        self._has_ended = "ended" in answer
        if "failed" in answer:
            value_of(answer["failed"])

    def _broken(self, error: Exception) -> CasesBrokenError:
        place = f"after {self._past[-1].case!r}" if self._past else "before its first case"
        return CasesBrokenError(
            f"{self._loader}: the loader of {self._group.name!r}, {place}, {_verb(error)}"
        )

    @contextlib.asynccontextmanager
    async def _asking(self) -> AsyncIterator[ProblemWorker]:
        """The worker, with this group opened in it and as far as it was."""
        async with self._source.turn() as worker:
            if worker is not self._worker:
                try:
                    await self._bring_back(worker)
                except (ChildLostError, QuestionRaisedError) as error:
                    raise self._broken(error) from None
                self._worker = worker
            yield worker

    async def _bring_back(self, worker: ProblemWorker) -> None:
        group = wire.pack_config(self._group)
        self._is_stateful = await self._ask(
            worker, "open", checkpoint=self._checkpoint.name, group=group
        )
        for past in self._past:
            answer = await self._ask(worker, "draw", count=1)
            again = [each["case"]["fields"]["id"] for each in answer["drawn"]]
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

    def _drawn(self, packed: dict[str, Any]) -> Drawn:
        """A case, with what it did not say of its group."""
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
            return Drawn(
                CASE_OF[case["kind"]](**{**known, **case["fields"]}),
                RESULT_OF[expected["kind"]](**expected["fields"]),
            )
        except ValidationError as error:
            raise InputError(
                f"the loader gave a case that is none: {first_problem(error)}", where=self._loader
            ) from None


def _verb(error: Exception) -> str:
    return f"raised {error}" if isinstance(error, QuestionRaisedError) else str(error)
