"""Processes that read what submissions produced: bounded in time and memory, and easily ended.

A pattern can take forever on a text that was made for it, and a small file can mean a giant. In a
process of its own either costs the one comparison it belongs to.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from assay.errors import InfrastructureError
from assay.submissions.python_problems.process import QuestionRaisedError, Worker, WorkerLostError

SECONDS = 10.0
"""How long one comparison may take, or reading one answer."""
# For the interpreter and its imports, on a machine that is busy.
_START = 60.0
_MODULE = "assay.submissions.untrusted_reader.child"


class TooMuchError(Exception):
    """Something took more time or memory than it may; the text is what follows its name."""


class Readers:
    """As many processes as are asked at the same time, kept while the block lasts.

    Without a block every question has a process of its own.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._idle: list[Worker] = []
        self._new: list[Worker] = []
        self._is_kept = False

    async def __aenter__(self) -> Self:
        self._is_kept = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_kept = False
        for worker in (*self._idle, *self._new):
            worker.close()
        self._idle.clear()
        self._new.clear()

    def expect(self) -> None:
        """Begin to start a process, because somebody will ask."""
        if self._is_kept and not self._idle and not self._new:
            self._new.append(_started())

    async def ask(self, question: str, **about: Any) -> Any:
        """What a process answers; raises TooMuchError, or InputError if the question is wrong."""
        worker = self._idle.pop() if self._idle else await self._ready()
        try:
            return await worker.ask(question, self._seconds, **about)
        except (WorkerLostError, QuestionRaisedError) as error:
            raise TooMuchError(str(error)) from None
        finally:
            if not worker.is_closed:
                if self._is_kept:
                    self._idle.append(worker)
                else:
                    worker.close()

    async def _ready(self) -> Worker:
        worker = self._new.pop() if self._new else _started()
        try:
            await worker.ask("ready", _START)
        except (WorkerLostError, QuestionRaisedError) as error:
            worker.close()
            raise InfrastructureError(
                f"the process that reads what submissions produce {error}"
            ) from None
        return worker


def _started() -> Worker:
    return Worker({}, None, module=_MODULE, has_folder=False)
