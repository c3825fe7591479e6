"""The worker process of a problem, and cases, results and configurations as plain values."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from assay.errors import AssayError, InfrastructureError, InputError
from assay.model import CaseResult, VerificationResult
from assay.processes import start_module
from assay.submissions.adapters import ADAPTERS, AdapterType
from assay.submissions.slopcode.models import plain

_MODULE = "assay.submissions.python_problems.worker"


class QuestionRaisedError(Exception):
    """The problem's code raised; the message says what, and where."""


class ProblemWorker:
    """A process with a loaded problem that answers one request at a time.

    After ChildLostError, or if a wait is cancelled, it is closed.
    """

    def __init__(
        self, problem: dict[str, Any], on_output: Callable[[str], None] | None = None
    ) -> None:
        self._problem = problem
        self.is_closed = False
        self._scratch = Path(tempfile.mkdtemp(prefix="assay-problem-"))
        try:
            self._child = start_module(_MODULE, self._scratch)
        except OSError as error:
            shutil.rmtree(self._scratch, ignore_errors=True)
            raise InfrastructureError(f"no process for the problem: {error}") from error
        self._child.on_output = on_output

    async def load(self, limit: float) -> None:
        """Import the problem; raise InputError if something is wrong with it."""
        try:
            await self._ask(self._problem, limit)
        except QuestionRaisedError as error:
            raise InputError(f"it cannot be loaded: {error}", where=self._problem["path"]) from None

    async def ask(self, question: str, limit: float, **about: Any) -> Any:
        """Return the answer; raise ChildLostError, QuestionRaisedError or InputError."""
        return await self._ask({"do": question, **about}, limit)

    async def _ask(self, message: dict[str, Any], limit: float) -> Any:
        try:
            answer = await self._child.ask(message, limit)
        except BaseException:
            self.close()
            raise
        return value_of(answer)

    def close(self) -> None:
        """End the worker and everything in its session."""
        if not self.is_closed:
            self.is_closed = True
            self._child.kill()
            shutil.rmtree(self._scratch, ignore_errors=True)


_ERRORS: dict[str, type[AssayError]] = {
    "input": InputError,
    "infrastructure": InfrastructureError,
}


def pack_error(error: AssayError) -> dict[str, Any]:
    """Return the answer that reports an error instead of a value."""
    name = next(name for name, kind in _ERRORS.items() if isinstance(error, kind))
    return {name: {"what": error.what, "where": error.where, "advice": error.advice}}


def value_of(answer: dict[str, Any]) -> Any:
    """Return the value of an answer; raise the error that it reports instead."""
    for name, kind in _ERRORS.items():
        if name in answer:
            about = answer[name]
            raise kind(about["what"], where=about["where"], advice=about["advice"])
    if "raised" in answer:
        raise QuestionRaisedError(answer["raised"])
    return answer["value"]


Packed = dict[str, Any]


def pack_model(model: BaseModel) -> Packed:
    """Return the fields of a model that were set or differ from their default."""
    # A list that a loader appended to counts as neither given nor default: both have to be asked.
    changed = model.model_dump(exclude_defaults=True).keys() | model.model_fields_set
    fields: Packed = plain(
        {name: value for name, value in model.model_dump().items() if name in changed}
    )
    return fields


def pack_config(config: BaseModel) -> Packed:
    """Return all fields of a problem or group, unknown ones too."""
    fields: Packed = plain(config.model_dump())
    return fields


def pack_result(result: CaseResult, adapter: AdapterType) -> Packed:
    """Pack a result; a generic one gets the type of the problem's adapter."""
    fields = pack_model(result)
    fields.pop("type", None)
    own = (one for one in (adapter, *ADAPTERS.values()) if isinstance(result, one.result))
    return {"kind": next(own, adapter).name, "fields": fields}


def pack_results(results: Mapping[str, VerificationResult]) -> Packed:
    return {
        name: {"diff": each.diff, "is_correct": each.is_correct, "weight": each.weight}
        for name, each in results.items()
    }


def unpack_results(packed: Packed) -> dict[str, VerificationResult]:
    return {name: VerificationResult(**fields) for name, fields in packed.items()}
