"""The source of declarative problems: cases from files, judgements from named checks."""

from __future__ import annotations

import contextlib
import glob
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, ClassVar, Self

from pydantic import ValidationError

from assay.checks import ABSENT, failed
from assay.errors import InputError
from assay.findings import refuse_errors
from assay.model import CaseResult, VerificationResult
from assay.submissions.adapters import find_adapter
from assay.submissions.assets import with_assets
from assay.submissions.cases import BaseCase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.declarative.case_files import (
    WrittenCase,
    fill_file,
    list_own_files,
    list_shared_files,
    place_file,
)
from assay.submissions.declarative.comparisons import (
    ResultCheck,
    find_value,
    judge,
    may_be_slow,
    plan_check,
)
from assay.submissions.declarative.expectations import (
    Expectation,
    as_text,
    fill,
    fill_expectation,
    fill_text,
    find_saved_names,
    parse_result_path,
    place_assets,
    read_expectations,
)
from assay.submissions.declarative.reading import ReadCase, ReadGroup, read_group
from assay.submissions.protocols import (
    CasesBrokenError,
    ExpectedCase,
    NoCasesError,
    VerifierBrokenError,
)
from assay.submissions.result_files import shortest
from assay.submissions.untrusted_reader import Readers
from assay.tracebacks import describe


@dataclass(frozen=True)
class DeclarativeCase(ExpectedCase):
    """A case, what is expected of it, and how that is compared."""

    comparisons: tuple[ResultCheck, ...] = ()
    saves: Mapping[str, str] = field(default_factory=dict)
    """What later cases need of the answer: name to path."""
    unsaved: tuple[str, ...] = ()
    """What the case needs of earlier answers that they did not have."""
    make: Callable[[Mapping[str, str]], DeclarativeCase] | None = field(
        default=None, compare=False, repr=False
    )
    """Makes it once more, with the paths of static assets."""

    is_judged_by_expected: ClassVar[bool] = False

    @property
    def stated(self) -> Mapping[str, Any]:
        return {one.key: one.value for one in self.comparisons}

    def describe_expectation(self) -> Any:
        compared = [one.describe() for one in self.comparisons]
        return [compared, dict(self.saves), list(self.unsaved)]

    def place_assets(self, assets: Mapping[str, str]) -> DeclarativeCase:
        """Made anew from what was written, because what answers had is not to be replaced."""
        return self.make(assets) if self.make and assets else self


class DeclarativeStream:
    """The cases of one group, with values saved from their answers."""

    def __init__(
        self,
        problem: ProblemConfig,
        checkpoint: CheckpointConfig,
        group: GroupConfig,
        cases: list[ReadCase],
        readers: Readers,
    ) -> None:
        self._problem, self._checkpoint, self._group = problem, checkpoint, group
        self._waiting = list(enumerate(cases))
        self._is_empty = not cases
        self._readers = readers
        self._saved: dict[str, Any] = {}
        self._is_stateful = any(case.written.save for case in cases)

    @property
    def is_stateful(self) -> bool:
        """Whether a case uses the answer of an earlier one."""
        return self._is_stateful

    async def draw(self) -> DeclarativeCase | None:
        """Return the next case, with saved values filled in; None after the last."""
        if self._is_empty:
            raise NoCasesError(f"the group {self._group.name!r} has no cases")
        if not self._waiting:
            return None
        order, read = self._waiting.pop(0)
        try:
            about = (self._problem, self._checkpoint, self._group)
            make = partial(_make, about, order, read, dict(self._saved))
            return replace(make(None), make=make)
        except (InputError, ValidationError, OSError) as error:
            raise CasesBrokenError(f"{read.place()}: {describe(error)}") from error

    async def update(self, drawn: ExpectedCase, actual: CaseResult) -> None:
        """Save the values of this answer that later cases need."""
        assert isinstance(drawn, DeclarativeCase), "only what was drawn here comes back"
        for name, text in drawn.saves.items():
            found = await find_value(parse_result_path(text), actual, self._readers)
            # An old value would hide that the answer had none.
            self._saved.pop(name, None)
            if found is not ABSENT:
                self._saved[name] = found


def _make(
    about: tuple[ProblemConfig, CheckpointConfig, GroupConfig],
    order: int,
    read: ReadCase,
    saved: Mapping[str, Any],
    assets: Mapping[str, str] | None,
) -> DeclarativeCase:
    case = build_case(read, *about, order=order, saved=saved, assets=assets)
    used = set(find_saved_names(read.written.model_dump(exclude={"save", "description"})))
    wanted = read_expectations(read.written.expected)
    if assets is not None:
        wanted = [place_assets(one, assets) for one in wanted]
    wanted = [fill_expectation(one, saved) for one in wanted]
    return DeclarativeCase(
        case=case,
        expected=build_expected(case, wanted, about[0].adapter.type),
        comparisons=tuple(map(plan_check, wanted)),
        saves=read.written.save,
        unsaved=tuple(sorted(used - saved.keys())),
    )


def _may_be_slow(case: ReadCase) -> bool:
    return any(map(may_be_slow, read_expectations(case.written.expected)))


class DeclarativeSource:
    """Cases and judgements of a problem without its own code."""

    def __init__(self, problem: ProblemConfig) -> None:
        self._problem = problem
        self._read: dict[tuple[str, str], ReadGroup] = {}
        self._readers = Readers()

    async def __aenter__(self) -> Self:
        await self._readers.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._readers.__aexit__(kind, error, trace)

    def open(
        self, checkpoint: CheckpointConfig, group: GroupConfig
    ) -> AbstractAsyncContextManager[DeclarativeStream]:
        """Return the cases of a group; raise InputError, with file and line, for a mistake."""
        return self._open(checkpoint, group)

    @asynccontextmanager
    async def _open(
        self, checkpoint: CheckpointConfig, group: GroupConfig
    ) -> AsyncIterator[DeclarativeStream]:
        key = checkpoint.name, group.name
        if key not in self._read:
            self._read[key] = read_group(self._problem, checkpoint, group)
        read = self._read[key]
        refuse_errors(read.findings, "submissions")
        if any(_may_be_slow(case) for case in read.cases):
            self._readers.expect()
        yield DeclarativeStream(self._problem, checkpoint, group, read.cases, self._readers)

    async def verify(
        self,
        checkpoint: CheckpointConfig,
        group: GroupConfig,
        drawn: ExpectedCase,
        actual: CaseResult,
    ) -> dict[str, VerificationResult]:
        """Compare the result, and check its saved values and inputs."""
        if not isinstance(drawn, DeclarativeCase):
            raise VerifierBrokenError(f"the case {drawn.case.id} was drawn from another source")
        results = {one.key: await self._judge(one, actual) for one in drawn.comparisons}
        for name, text in drawn.saves.items():
            found = await find_value(parse_result_path(text), actual, self._readers)
            if found is ABSENT:
                results[f"save-{name}"] = failed(f"there is no `{text}`, which later cases need")
        for name in drawn.unsaved:
            results[f"saved-{name}"] = failed(f"no earlier answer had a value for `{name}`")
        return results

    async def _judge(self, one: ResultCheck, actual: CaseResult) -> VerificationResult:
        try:
            return await judge(one, actual, self._readers)
        except InputError as error:
            raise VerifierBrokenError(str(error)) from error


def build_case(
    read: ReadCase,
    problem: ProblemConfig,
    checkpoint: CheckpointConfig,
    group: GroupConfig,
    *,
    order: int,
    saved: Mapping[str, Any],
    assets: Mapping[str, str] | None = None,
) -> BaseCase:
    """Return the case with saved values and asset paths inserted.

    Assets come first: a saved value is never taken for an asset name.
    """
    # A description is for people: nothing in it is replaced.
    written = read.written.model_copy(update={"description": None})
    written = written if assets is None else with_assets(written, assets)
    tracked = [*problem.adapter.tracked_files, *written.tracked_files, *_find_files(written, saved)]
    shared: dict[str, Any] = {
        "id": read.id,
        "group": group.name,
        "group_type": group.type,
        "checkpoint": checkpoint.name,
        "original_checkpoint": group.original_checkpoint,
        "original_group": group.original_group,
        "order": order,
        "timeout_s": written.timeout,
        "reset": written.reset,
        "tracked_files": list(dict.fromkeys(tracked)),
        "input_files": [
            *(place_file(file, assets) for file in list_shared_files(problem, checkpoint, group)),
            *(
                fill_file(place_file(file, assets), saved)
                for file in list_own_files(written.input_files, read.file.parent, problem)
            ),
        ],
    }
    make = find_adapter(problem.adapter.type).case
    if written.request is None:
        arguments = [fill_text(text, saved) for text in written.arguments]
        return make(**shared, arguments=arguments, stdin=_fill_stdin(written.stdin, saved))
    request = written.request
    return make(
        **shared,
        method=request.method.upper(),
        path=fill_text(request.path, saved),
        query=fill(request.query, saved),
        headers={name: _header(text, saved) for name, text in request.headers.items()},
        body=fill(request.body, saved),
        retries=request.retries,
    )


def _fill_stdin(stdin: str | list[str] | None, saved: Mapping[str, Any]) -> str | list[str] | None:
    """Return standard input as text, with saved values formatted."""
    if isinstance(stdin, list):
        return [fill_text(line, saved) for line in stdin]
    return None if stdin is None else fill_text(stdin, saved)


def _find_files(written: WrittenCase, saved: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of compared files, so that their presence is checked."""
    for name in written.expected.files:
        yield glob.escape(shortest(fill_text(name, saved)))
    for text in (*written.expected.checks, *written.save.values()):
        # What an answer made of a path is said by whoever compares.
        with contextlib.suppress(InputError):
            file = parse_result_path(fill_text(text, saved)).file
            if file is not None:
                yield glob.escape(file)


def _header(text: str, saved: Mapping[str, Any]) -> str:
    return as_text(fill(text, saved))


def build_expected(case: BaseCase, wanted: Iterable[Expectation], adapter: str) -> CaseResult:
    """Return the expected result as far as plain values define it; the rest is in the checks."""
    fields: dict[str, Any] = {}
    model = find_adapter(adapter).result
    for one in wanted:
        if not one.is_attribute:
            continue
        if not one.target.steps:
            fields[one.target.root] = one.value
        elif one.target.root == "files":
            fields.setdefault("files", {})[one.target.file] = one.value
        elif "headers" in model.model_fields and isinstance(one.value, str):
            fields.setdefault("headers", {})[one.target.steps[0]] = one.value
    for name, kind in (("status_code", int), ("timed_out", bool)):
        if not isinstance(fields.get(name), kind):
            fields.pop(name, None)
    return model(id=case.id, group=case.group, group_type=case.group_type, **fields)
