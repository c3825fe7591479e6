"""From a case as it was written to the case that is run and the result that is expected."""

from __future__ import annotations

import contextlib
import glob
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assay.errors import InputError
from assay.results import CaseResult
from assay.submissions.adapters import find_adapter
from assay.submissions.assets import with_assets
from assay.submissions.cases import BaseCase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig
from assay.submissions.declarative.formats import WrittenCase
from assay.submissions.declarative.input_files import (
    filled_file,
    own_files,
    placed_file,
    shared_files,
)
from assay.submissions.declarative.reading import ReadCase
from assay.submissions.declarative.saving import as_text, fill, fill_text
from assay.submissions.declarative.targets import parse_target
from assay.submissions.declarative.wanted import Wanted
from assay.submissions.leftovers import shortest


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
    """The case, with saved values in place of their marks; of assets too, if paths are given.

    Assets come first: what an answer had is never taken for the name of one.
    """
    # A description is for people: whatever it mentions, nothing stands for it.
    written = read.written.model_copy(update={"description": None})
    written = written if assets is None else with_assets(written, assets)
    tracked = [*problem.adapter.tracked_files, *written.tracked_files, *_looked_at(written, saved)]
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
            *(placed_file(file, assets) for file in shared_files(problem, checkpoint, group)),
            *(
                filled_file(placed_file(file, assets), saved)
                for file in own_files(written.input_files, read.file.parent, problem)
            ),
        ],
    }
    make = find_adapter(problem.adapter.type).case
    if written.request is None:
        arguments = [fill_text(text, saved) for text in written.arguments]
        return make(**shared, arguments=arguments, stdin=_fed(written.stdin, saved))
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


def _fed(stdin: str | list[str] | None, saved: Mapping[str, Any]) -> str | list[str] | None:
    """Always text: whatever an answer had is written out."""
    if isinstance(stdin, list):
        return [fill_text(line, saved) for line in stdin]
    return None if stdin is None else fill_text(stdin, saved)


def _looked_at(written: WrittenCase, saved: Mapping[str, Any]) -> Iterator[str]:
    """The files that comparisons are about, by name, so that it is known whether they are there."""
    for name in written.expected.files:
        yield glob.escape(shortest(fill_text(name, saved)))
    for text in (*written.expected.checks, *written.save.values()):
        # What an answer made of a path is said by whoever compares.
        with contextlib.suppress(InputError):
            file = parse_target(fill_text(text, saved)).file
            if file is not None:
                yield glob.escape(file)


def _header(text: str, saved: Mapping[str, Any]) -> str:
    return as_text(fill(text, saved))


def build_expected(case: BaseCase, wanted: Iterable[Wanted], adapter: str) -> CaseResult:
    """What the result should be, as far as plain values say it; the rest is in the checks."""
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
