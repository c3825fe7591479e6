"""Reports of a run, at any time and in any registered format; and what the run as a whole says."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from assay.reports.registry import Format, Renderer, format_names, get_format, register_format
from assay.reports.writing import render_report, write_report

if TYPE_CHECKING:
    from assay.reports.markup import cell, code_block, code_span
    from assay.reports.parquet import read_reports
    from assay.reports.plain import Paint
    from assay.reports.summary import Summary, exit_code, summarize
    from assay.reports.terminal import render_case
    from assay.reports.text import count, one_line

__all__ = [
    "Format",
    "Paint",
    "Renderer",
    "Summary",
    "cell",
    "code_block",
    "code_span",
    "count",
    "exit_code",
    "format_names",
    "get_format",
    "one_line",
    "read_reports",
    "register_format",
    "render_case",
    "render_report",
    "summarize",
    "write_report",
]

# The command line asks for the names of the formats; only a report itself needs the rest.
_LATER = {
    "Paint": "assay.reports.plain",
    "Summary": "assay.reports.summary",
    "cell": "assay.reports.markup",
    "code_block": "assay.reports.markup",
    "code_span": "assay.reports.markup",
    "count": "assay.reports.text",
    "exit_code": "assay.reports.summary",
    "one_line": "assay.reports.text",
    "read_reports": "assay.reports.parquet",
    "render_case": "assay.reports.terminal",
    "summarize": "assay.reports.summary",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_LATER[name]), name)
