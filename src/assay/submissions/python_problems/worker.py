"""The worker process of a problem: answers Assay's requests by calling the problem's own code.

Nothing that this code prints or raises can reach the channel: both standard streams are redirected
to a file of Assay's, and every exception becomes an answer.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from assay.errors import InfrastructureError, InputError
from assay.model import CaseResult, check_results
from assay.processes import VALUES, Channel, die_with_parent
from assay.submissions import slopcode
from assay.submissions.adapters import find_adapter
from assay.submissions.cases import BaseCase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.misspelling import (
    advise,
    find_word,
    misspelt_field,
    names_read,
    near_miss,
)
from assay.submissions.python_problems import package
from assay.submissions.python_problems.process import (
    pack_error,
    pack_model,
    pack_result,
    pack_results,
)
from assay.submissions.slopcode import models
from assay.submissions.slopcode.loaders import NoOpStore
from assay.tracebacks import format_exception

# A stream that may be drawn ahead gives what it has after so many seconds.
_PATIENCE = 0.05
# With what the reference's results have beside Assay's own.
_RESULTS: dict[str, type[CaseResult]] = {"cli": models.CLIResult, "api": models.APIResult}


class _Stream:
    """The cases of one group, while they are being drawn."""

    def __init__(
        self, problem: LoadedProblem, checkpoint: CheckpointConfig, group: GroupConfig
    ) -> None:
        self._problem = problem
        loader = problem.loader_class(
            problem=problem.config, checkpoint=checkpoint, use_placeholders=False
        )
        make = getattr(loader, "initialize_store", NoOpStore)
        self._store: Any = make()
        self.is_stateful = hasattr(self._store, "update") and not isinstance(self._store, NoOpStore)
        self._cases: Iterator[Any] = iter(loader(group=group, store=self._store))
        self._last: tuple[BaseCase, CaseResult] | None = None
        self._ids: set[str] = set()

    def draw(self) -> dict[str, Any] | None:
        """Return the next case and what is expected of it, packed; None after the last."""
        try:
            self._last = self._check(next(self._cases))
        except StopIteration:
            return None
        case, expected = self._last
        return {
            "case": pack_model(case),
            "expected": pack_result(expected, self._problem.adapter),
        }

    def _check(self, drawn: Any) -> tuple[BaseCase, CaseResult]:
        match drawn:
            case (BaseCase() as case, CaseResult() as expected):
                adapter = self._problem.adapter
                if case.kind == "base" or isinstance(case, adapter.case):
                    self._check_case(case)
                    self._problem.check_fields(case, expected)
                    return case, expected
                what = f"a {type(case).__name__}, but the problem's adapter is "
                what += repr(adapter.name)
            case tuple() | list():
                kinds = ", ".join(type(each).__name__ for each in drawn)
                what = f"({kinds}), not a case and what is expected of it"
            case _:
                what = f"{type(drawn).__name__}, not a pair of a case and what is expected of it"
        raise InputError(
            f"the loader yielded {what}",
            where=self._place(),
            advice="yield CLICase(…), CLIResult(…), or APICase(…), APIResult(…)",
        )

    def _place(self) -> str:
        """Return the loader's file, with the line it yields in if it is a generator."""
        frame = getattr(self._cases, "gi_frame", None)
        line = f":{frame.f_lineno}" if frame is not None else ""
        return f"{self._problem.loader_file}{line}"

    def _check_case(self, case: BaseCase) -> None:
        """Raise InputError for a case that would silently be lost, in whole or in part."""
        if case.id in self._ids:
            raise InputError(
                f"the loader yielded the case {case.id!r} twice",
                where=self._place(),
                advice="give every case of a group its own id",
            )
        self._ids.add(case.id)
        query = getattr(case, "query", None)
        if "request" in self._problem.adapter.case_keys and query and case.arguments:
            raise InputError(
                f"the case {case.id!r} has both `arguments` and `query`",
                where=self._place(),
                advice="both are the query of the request: write all of it in `query`",
            )

    def update(self, actual: CaseResult) -> None:
        """Tell the store what came of the case that was drawn last."""
        assert self._last is not None
        case, expected = self._last
        self._store.update(case, actual, expected)

    def close(self) -> None:
        close = getattr(self._cases, "close", None)
        if close is not None:
            close()


class LoadedProblem:
    """A loaded problem and the requests it answers."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.config = ProblemConfig(**fields)
        self.adapter = find_adapter(self.config.adapter.type)
        self.loader_file = self.config.path / self.config.loader_script
        self.verifier_file = self.config.path / package.VERIFIER_SCRIPT
        name = package.import_folder(self.config.path)
        self.loader_class = package.load_loader(self.config, name)
        self._verifier_class = package.load_verifier(self.config, name)
        self._verifiers: dict[str, Any] = {}
        self._streams: dict[int, _Stream] = {}
        self._examined: set[tuple[str, str]] = set()

    @functools.cached_property
    def _names_read(self) -> set[str]:
        return names_read(self.config.path)

    def check_fields(self, case: BaseCase, expected: CaseResult) -> None:
        """Refuse a result field that looks misspelled and that no code reads.

        The expected value would be ignored and a default compared instead. In a case it is only a
        warning, because the reference accepts cases with any fields.
        """
        about = f"what the loader expects of the case {case.id!r}"
        for name, near in self._misspelt(expected, self.adapter.result, misspelt_field):
            raise InputError(
                f"{about} has a field `{name}`, which no result has and no code reads",
                where=find_word(self.config.path, name) or str(self.loader_file),
                advice=advise(name, near),
            )
        for name, near in self._misspelt(case, self.adapter.case, _misspelt_of_case):
            where = find_word(self.config.path, name) or self.loader_file
            what = f"the case {case.id!r} has a field `{name}`, which no code reads"
            print(f"warning: {where}: {what}; {advise(name, near)}")  # noqa: T201 - captured

    def _misspelt(
        self,
        model: BaseModel,
        kind: type[BaseModel],
        find: Callable[[str, type[BaseModel]], str | None],
    ) -> Iterator[tuple[str, str]]:
        extra = model.model_extra or {}
        for name in [name for name in extra if (kind.__name__, name) not in self._examined]:
            near = find(name, kind)
            if near is not None and name not in self._names_read:
                yield name, near
            self._examined.add((kind.__name__, name))

    def file_of(self, question: str) -> Path:
        """Return the file at fault if a request cannot be answered."""
        return self.verifier_file if question == "verify" else self.loader_file

    def open(self, stream: int, checkpoint: str, group: dict[str, Any]) -> bool:
        """Begin to load a group; says whether its cases depend on what came of those before."""
        stage = self._checkpoint(checkpoint)
        known = stage.groups.get(group["name"])
        opened = _Stream(self, stage, known if known is not None else GroupConfig(**group))
        self._streams[stream] = opened
        return opened.is_stateful

    def draw(self, stream: int, count: int) -> dict[str, Any]:
        """Up to so many cases; an error is told with the cases that came before it."""
        end = time.monotonic() + _PATIENCE
        drawn: list[dict[str, Any]] = []
        while len(drawn) < count and (not drawn or time.monotonic() < end):
            answer = answer_safely(self.loader_file, self._streams[stream].draw)
            if "value" not in answer:
                return {"drawn": drawn, "failed": answer}
            if answer["value"] is None:
                return {"drawn": drawn, "ended": True}
            drawn.append(answer["value"])
        return {"drawn": drawn}

    def update(self, stream: int, actual: dict[str, Any]) -> None:
        self._streams[stream].update(_result(actual))

    def close(self, stream: int) -> None:
        self._streams.pop(stream).close()

    def verify(
        self,
        checkpoint: str,
        group: str,
        case: str,
        actual: dict[str, Any],
        expected: dict[str, Any],
    ) -> dict[str, Any]:
        """Return what the verifier says of a case, attribute by attribute."""
        verifier = self._verifiers.get(checkpoint)
        if verifier is None:
            verifier = self._verifier_class(self._checkpoint(checkpoint))
            self._verifiers[checkpoint] = verifier
        raw = verifier(
            group_name=group, case_name=case, actual=_result(actual), expected=_result(expected)
        )
        try:
            return pack_results(check_results(raw))
        except InputError as error:
            ask = functools.partial(
                verifier, group_name=group, case_name=case, actual=_result(actual),
                expected=_result(expected),
            )  # fmt: skip
            where = f"{self.verifier_file}:{_line_of_return(verifier, ask)}"
            raise InputError(error.what, where=where, advice=error.advice) from None

    def _checkpoint(self, name: str) -> CheckpointConfig:
        return next(each for each in self.config.checkpoints.values() if each.name == name)


def _line_of_return(verifier: Any, ask: Callable[[], Any]) -> int:
    """Return the line at which a verifier returns: it is called once more, and watched."""
    code = type(verifier).__call__.__code__
    last = [code.co_firstlineno]

    def watch(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code is not code:
            return None
        if event == "return":
            last.append(frame.f_lineno)
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        ask()
    except BaseException:
        # It does not do the same again: the line it begins in has to do.
        return int(code.co_firstlineno)
    finally:
        sys.settrace(before)
    return int(last[-1])


def _misspelt_of_case(name: str, kind: type[BaseModel]) -> str | None:
    return near_miss(name, kind.model_fields)


def _result(packed: dict[str, Any]) -> CaseResult:
    kind = packed["kind"]
    model = _RESULTS[kind] if kind in _RESULTS else find_adapter(kind).result
    return model(**packed["fields"])


def answer_safely(file: Path, action: Callable[[], Any]) -> dict[str, Any]:
    """Return a value, a mistake in the problem, or an exception of its code."""
    try:
        value = action()
        # Here, because only here it is known which value cannot be sent.
        VALUES.encode(value)
    except (InputError, InfrastructureError) as error:
        return pack_error(error)
    except ModuleNotFoundError as error:
        return pack_error(package.missing_module(error, file))
    except BaseException as error:
        # Including SystemExit: it must not end the worker, which has other requests to answer.
        return {"raised": format_exception(error, file.parent)}
    return {"value": value}


def serve(channel: Channel) -> None:
    """Answer until the channel closes: first what to load, then requests about it."""
    first, _ = channel.receive()
    loaded: list[LoadedProblem] = []
    channel.send(answer_safely(Path(first["path"]), lambda: loaded.append(LoadedProblem(first))))
    while loaded:
        message, _ = channel.receive()
        question = message.pop("do")
        ask = functools.partial(getattr(loaded[0], question), **message)
        channel.send(answer_safely(loaded[0].file_of(question), ask))


def main(descriptor: int) -> None:
    """Run the worker of a problem."""
    die_with_parent()
    faulthandler.enable()
    slopcode.install()
    with contextlib.suppress(EOFError):
        serve(Channel(descriptor, VALUES))
