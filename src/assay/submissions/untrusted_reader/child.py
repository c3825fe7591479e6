"""The inside of a process that reads what submissions produced: one question after the other."""

from __future__ import annotations

import contextlib
import resource
import socket
from typing import Any

from assay.errors import InputError
from assay.forks import die_with_parent
from assay.model import CaseResult
from assay.sandbox.servers import Response
from assay.submissions.adapters.messages import read_answer
from assay.submissions.declarative.comparisons import ResultCheck
from assay.submissions.declarative.result_paths import ResultPath
from assay.submissions.python_problems import frames, wire
from assay.tracebacks import format_exception

_MEMORY = 3 << 30


def ready() -> bool:
    """Answered as soon as everything is imported."""
    return True


def compare(comparison: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
    """What a comparison says of a result."""
    one = ResultCheck(**{**comparison, "target": _target(comparison["target"])})
    return wire.pack_results({"": one.result(CaseResult(**actual))})


def find(target: list[Any], actual: dict[str, Any]) -> list[Any]:
    """What stands at a place, as a list of one; empty if nothing can be found there."""
    return _target(target).find_in(CaseResult(**actual))


def answer(
    status: int, headers: dict[str, str], body: bytes, as_json: bool, as_reference: bool
) -> dict[str, Any]:
    """The fields of a result that are an answer's."""
    return read_answer(Response(status, headers, body), as_json=as_json, as_reference=as_reference)


def _target(about: list[Any]) -> ResultPath:
    root, *steps = about
    return ResultPath(root, tuple(steps))


_QUESTIONS = {each.__name__: each for each in (ready, compare, find, answer)}


def _answered(message: dict[str, Any]) -> bytes:
    """A value, what is wrong with the question, or what came of it instead, as a frame."""
    try:
        value = _QUESTIONS[message.pop("do")](**message)
        return frames.packed({"value": value})
    except InputError as error:
        about = {"what": error.what, "where": error.where, "advice": error.advice}
        return frames.packed({"input": about})
    except MemoryError:
        return frames.packed({"raised": f"needed more than {_MEMORY >> 30} GiB of memory"})
    except Exception as error:
        return frames.packed({"raised": f"failed: {format_exception(error)}"})


def main(descriptor: int) -> None:
    """The life of a process: answers until the other end is closed."""
    die_with_parent()
    with contextlib.suppress(ValueError, OSError):
        # A lower limit of the machine's own stays.
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    connection = socket.socket(fileno=descriptor)
    while (message := frames.receive(connection)) is not None:
        connection.sendall(_answered(message))
