"""The child process that reads output of submissions, one request after another."""

from __future__ import annotations

import contextlib
from typing import Any

from assay.errors import InfrastructureError, InputError
from assay.model import CaseResult
from assay.processes import VALUES, Channel, die_with_parent, limit_memory
from assay.sandbox import Response
from assay.submissions.adapters.messages import read_answer
from assay.submissions.declarative.comparisons import ResultCheck
from assay.submissions.declarative.expectations import ResultPath
from assay.submissions.python_problems.process import pack_error, pack_results
from assay.tracebacks import format_exception

_MEMORY = 3 << 30


def ready() -> bool:
    """Answered as soon as everything is imported."""
    return True


def compare(comparison: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
    """Return what a check says of a result."""
    one = ResultCheck(**{**comparison, "target": _target(comparison["target"])})
    return pack_results({"": one.result(CaseResult(**actual))})


def find(target: list[Any], actual: dict[str, Any]) -> list[Any]:
    """Return the value at a place as a list of one, empty if there is none."""
    return _target(target).find_in(CaseResult(**actual))


def answer(
    status: int, headers: dict[str, str], body: bytes, as_json: bool, as_reference: bool
) -> dict[str, Any]:
    """Return the result fields for an answer."""
    return read_answer(Response(status, headers, body), as_json=as_json, as_reference=as_reference)


def _target(about: list[Any]) -> ResultPath:
    root, *steps = about
    return ResultPath(root, tuple(steps))


_QUESTIONS = {each.__name__: each for each in (ready, compare, find, answer)}


def _answer(message: dict[str, Any]) -> bytes:
    """Return a value, what is wrong with the question, or what came of it instead, as text."""
    try:
        return VALUES.encode({"value": _QUESTIONS[message.pop("do")](**message)})
    except (InputError, InfrastructureError) as error:
        return VALUES.encode(pack_error(error))
    except MemoryError:
        return VALUES.encode({"raised": f"needed more than {_MEMORY >> 30} GiB of memory"})
    except Exception as error:
        return VALUES.encode({"raised": f"failed: {format_exception(error)}"})


def main(descriptor: int) -> None:
    """Answer until the channel is closed."""
    die_with_parent()
    limit_memory(_MEMORY)
    # Encoded where an answer is made, so that one that cannot be is an answer too.
    channel = Channel(descriptor, VALUES._replace(encode=bytes))
    with contextlib.suppress(EOFError):
        while True:
            channel.send(_answer(channel.receive()[0]))
