"""Processes that read output of submissions, limited in time and memory.

A pattern can take forever on a crafted text, and a small file can expand to a huge one. In a
separate process either costs only the one comparison it belongs to.
"""

from __future__ import annotations

from typing import Any, Self

from assay.errors import InfrastructureError
from assay.processes import Child, ChildLostError, Pool, start_module
from assay.submissions.python_problems.process import QuestionRaisedError, value_of

SECONDS = 10.0
"""How long one comparison may take, or reading one answer."""
# Time for the interpreter and its imports on a busy machine.
_START = 60.0
_MODULE = "assay.submissions.untrusted_reader.child"


class TooMuchError(Exception):
    """A request exceeded its time or memory limit; the text follows its name."""


class Readers:
    """A pool of reader processes, kept while the block lasts.

    Outside a block every request gets a new process.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._pool = Pool(self._start)
        self._new: list[Child] = []
        self._is_kept = False

    async def __aenter__(self) -> Self:
        self._is_kept = True
        return self

    async def __aexit__(self, *error: object) -> None:
        self._is_kept = False
        await self._pool.close()
        while self._new:
            self._new.pop().kill()

    def expect(self) -> None:
        """Start a process in advance."""
        if self._is_kept and not self._pool.idle and not self._new:
            self._new.append(_start_reader())

    async def ask(self, question: str, **about: Any) -> Any:
        """Return the answer; raise TooMuchError, or InputError if the question is wrong."""
        try:
            async with self._pool.take() as child:
                answer = await child.ask({"do": question, **about}, self._seconds)
            return value_of(answer)
        except (ChildLostError, QuestionRaisedError) as error:
            raise TooMuchError(str(error)) from None
        finally:
            if not self._is_kept:
                await self._pool.close()

    async def _start(self) -> Child:
        child = self._new.pop() if self._new else _start_reader()
        try:
            value_of(await child.ask({"do": "ready"}, _START))
        except (ChildLostError, QuestionRaisedError) as error:
            child.kill()
            raise InfrastructureError(
                f"the process that reads what submissions produce {error}"
            ) from None
        except BaseException:
            child.kill()
            raise
        return child


def _start_reader() -> Child:
    # Without a folder of its own: nothing stays if Assay is killed.
    return start_module(_MODULE)
