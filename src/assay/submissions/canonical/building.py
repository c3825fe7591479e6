"""From a case as it was written to the case that is run and the result that is expected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.results import CaseResult
from assay.submissions.canonical.formats import Expected
from assay.submissions.canonical.input_files import filled_file, own_files, shared_files
from assay.submissions.canonical.reading import ReadCase
from assay.submissions.canonical.saving import as_text, fill, fill_text
from assay.submissions.cases import RESULT_OF, APICase, BaseCase, CLICase
from assay.submissions.config import CheckpointConfig, GroupConfig, ProblemConfig


def build_case(
    read: ReadCase,
    problem: ProblemConfig,
    checkpoint: CheckpointConfig,
    group: GroupConfig,
    *,
    order: int,
    saved: Mapping[str, Any],
) -> BaseCase:
    """The case, with saved values in place of their marks."""
    written = read.written
    tracked = [*problem.adapter.tracked_files, *written.tracked_files, *written.expected.files]
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
            *shared_files(problem, checkpoint, group),
            *(
                filled_file(file, saved)
                for file in own_files(written.input_files, read.file.parent)
            ),
        ],
    }
    if written.request is None:
        arguments = [fill_text(text, saved) for text in written.arguments]
        return CLICase(**shared, arguments=arguments, stdin=fill(written.stdin, saved))
    request = written.request
    return APICase(
        **shared,
        method=request.method.upper(),
        path=fill_text(request.path, saved),
        query=fill(request.query, saved),
        headers={name: _header(text, saved) for name, text in request.headers.items()},
        body=fill(request.body, saved),
        retries=request.retries,
    )


def _header(text: str, saved: Mapping[str, Any]) -> str:
    return as_text(fill(text, saved))


def build_expected(case: BaseCase, expected: Expected) -> CaseResult:
    """What the result should be, as far as plain values say it; the rest is in the checks."""
    fields: dict[str, Any] = {}
    for name in expected.model_fields_set & {"status_code", "output", "stderr", "timed_out"}:
        fields[name] = _plain(getattr(expected, name))
    if expected.headers and case.kind == "api":
        headers = {name: _plain(value) for name, value in expected.headers.items()}
        fields["headers"] = {name: text for name, text in headers.items() if isinstance(text, str)}
    if expected.files:
        fields["files"] = {name: _plain(value) for name, value in expected.files.items()}
    for name, kind in (("status_code", int), ("timed_out", bool)):
        if not isinstance(fields.get(name), kind):
            fields.pop(name, None)
    return RESULT_OF[case.kind](id=case.id, group=case.group, group_type=case.group_type, **fields)


def _plain(value: Any) -> Any:
    return value.get("value") if isinstance(value, dict) and "check" in value else value
