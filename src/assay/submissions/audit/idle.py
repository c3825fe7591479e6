"""What a submission gives that does nothing: the least that every case must reject."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from assay.errors import InputError
from assay.results import CaseResult
from assay.submissions.cases import APIResult, BaseCase, CLIResult


def idle_result(case: BaseCase, right: CaseResult) -> CaseResult:
    """A command that prints nothing and exits with 0; a server that answers 200 and no more.

    Nothing is run for it: what such a program does is known. Input files that are tracked are
    found again as they were given, of the kind of value they are in the right result.
    """
    about: dict[str, Any] = {
        "id": right.id,
        "group": right.group,
        "group_type": right.group_type,
        "resource_path": right.resource_path,
        "files": dict(_untouched(case, right)),
    }
    if isinstance(right, APIResult):
        return APIResult(**about, method=right.method, status_code=200, output=_empty(right.output))
    if isinstance(right, CLIResult):
        about["command"] = right.command
        return CLIResult(**about, status_code=0, output=_empty(right.output), stderr="")
    return CaseResult(**about, output=_empty(right.output))


def _empty(output: Any) -> Any:
    """No body; as text or bytes where the right answer is such."""
    return type(output)() if isinstance(output, str | bytes) else None


def _untouched(case: BaseCase, right: CaseResult) -> list[tuple[str, Any]]:
    known = right.files if isinstance(right.files, dict) else {}
    found = []
    for file in case.input_files:
        if file.path in known or any(fnmatchcase(file.path, one) for one in case.tracked_files):
            try:
                content: Any = file.to_bytes()
            except InputError:
                continue
            found.append((file.path, _like(known.get(file.path), content)))
    return found


def _like(there: Any, content: bytes) -> Any:
    try:
        return content.decode("utf-8") if isinstance(there, str) else content
    except UnicodeDecodeError:
        return content
