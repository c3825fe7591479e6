"""What a submission gives that does nothing: the least that every case must reject."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from assay.model import CaseResult
from assay.submissions.adapters.tracked import contents_of, inputs_of
from assay.submissions.cases import APIResult, BaseCase, CLIResult


def idle_result(case: BaseCase, right: CaseResult, tracked: Iterable[str] = ()) -> CaseResult:
    """A command that prints nothing and exits with 0; a server that answers 200 and no more.

    Nothing is run for it: what such a program does is known. Input files that are tracked, by
    these globs or because the right result has them, are found again as they were given.
    """
    about: dict[str, Any] = {
        "id": right.id,
        "group": right.group,
        "group_type": right.group_type,
        "resource_path": right.resource_path,
        "files": _untouched(case, right, tracked),
    }
    if isinstance(right, APIResult):
        return APIResult(**about, method=right.method, status_code=200, output=_empty(right.output))
    if isinstance(right, CLIResult):
        about["command"] = right.command
        return CLIResult(**about, status_code=0, output=_empty(right.output), stderr="")
    return CaseResult(**about, output=_empty(right.output))


def _empty(output: Any) -> str | bytes:
    """Nothing, as an adapter gives it: text that is no JSON stays text."""
    return b"" if isinstance(output, bytes) else ""


def _untouched(case: BaseCase, right: CaseResult, tracked: Iterable[str]) -> dict[str, Any]:
    patterns = [*tracked, *(right.files if isinstance(right.files, dict) else ())]
    return contents_of(
        {
            name: content
            for name, content in inputs_of(case).items()
            if any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)
        }
    )
