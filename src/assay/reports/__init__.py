"""Reports of a run in any registered format, at any time; and the summary of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.reports.formats import (
    Format,
    Renderer,
    append_pieces,
    discard_standard_output,
    format_names,
    get_format,
    keep_report,
    register_format,
    render_report,
    write_pieces,
    write_report,
)

if TYPE_CHECKING:
    from assay.reports.comparison import (
        ComparisonReport,
        comparison_formats,
        comparison_lines,
        render_comparison,
        trend_lines,
    )
    from assay.reports.evidence import Paint
    from assay.reports.html_report import render_table
    from assay.reports.json_report import full_record
    from assay.reports.markdown import cell, code_block, code_span, html_code
    from assay.reports.matrix import Matrix, MatrixCell, MatrixRow
    from assay.reports.parquet import read_reports, to_table
    from assay.reports.summary import Summary, exit_code, not_passed_rows, percent, summarize
    from assay.reports.terminal import render_case
    from assay.reports.text import count, name_of, one_line, show_command

# The command line asks for the names of the formats; only a report itself needs the rest.
_LATE = {
    "ComparisonReport": "comparison",
    "Matrix": "matrix",
    "MatrixCell": "matrix",
    "MatrixRow": "matrix",
    "Paint": "evidence",
    "Summary": "summary",
    "cell": "markdown",
    "code_block": "markdown",
    "code_span": "markdown",
    "comparison_formats": "comparison",
    "comparison_lines": "comparison",
    "count": "text",
    "exit_code": "summary",
    "full_record": "json_report",
    "html_code": "markdown",
    "name_of": "text",
    "not_passed_rows": "summary",
    "one_line": "text",
    "percent": "summary",
    "read_reports": "parquet",
    "render_case": "terminal",
    "render_comparison": "comparison",
    "render_table": "html_report",
    "show_command": "text",
    "summarize": "summary",
    "to_table": "parquet",
    "trend_lines": "comparison",
}

__all__ = [
    "ComparisonReport",
    "Format",
    "Matrix",
    "MatrixCell",
    "MatrixRow",
    "Paint",
    "Renderer",
    "Summary",
    "append_pieces",
    "cell",
    "code_block",
    "code_span",
    "comparison_formats",
    "comparison_lines",
    "count",
    "discard_standard_output",
    "exit_code",
    "format_names",
    "full_record",
    "get_format",
    "html_code",
    "keep_report",
    "name_of",
    "not_passed_rows",
    "one_line",
    "percent",
    "read_reports",
    "register_format",
    "render_case",
    "render_comparison",
    "render_report",
    "render_table",
    "show_command",
    "summarize",
    "to_table",
    "trend_lines",
    "write_pieces",
    "write_report",
]

if not TYPE_CHECKING:  # mypy would take every name for one of these

    def __getattr__(name: str) -> Any:
        if name not in _LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
