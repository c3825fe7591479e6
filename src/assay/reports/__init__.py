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
    from assay.reports.blocks import (
        Badge,
        Block,
        Cell,
        Code,
        Diff,
        Facts,
        Figure,
        Fold,
        Heading,
        Panel,
        Paragraph,
        Sides,
        Table,
        Tone,
        Turn,
    )
    from assay.reports.blocks_html import BlockLimits, page_style
    from assay.reports.case_evidence import describe_report, render_evidence
    from assay.reports.charts import (
        draw_curve,
        draw_history,
        draw_interval,
        draw_matrix,
        draw_outcomes,
        draw_sparkline,
        draw_strip,
    )
    from assay.reports.comparison import (
        ComparisonReport,
        comparison_formats,
        comparison_lines,
        describe_chance,
        describe_change,
        describe_difference,
        describe_flip,
        describe_verdict,
        list_notes,
        render_comparison,
    )
    from assay.reports.evidence import Paint
    from assay.reports.html_report import render_table
    from assay.reports.json_report import full_record
    from assay.reports.markdown import cell, code_block, code_span, html_code
    from assay.reports.markup import Html, element, escape
    from assay.reports.matrix import Matrix, MatrixCell, MatrixRow, find_matrix
    from assay.reports.parquet import read_reports, to_table
    from assay.reports.summary import Summary, exit_code, not_passed_rows, percent, summarize
    from assay.reports.terminal import render_case
    from assay.reports.text import count, one_line, seconds, show_command

# The command line asks for the names of the formats; only a report itself needs the rest.
_LATE = {
    "Badge": "blocks",
    "Block": "blocks",
    "BlockLimits": "blocks_html",
    "Cell": "blocks",
    "Code": "blocks",
    "Diff": "blocks",
    "Facts": "blocks",
    "Figure": "blocks",
    "Fold": "blocks",
    "Heading": "blocks",
    "Html": "markup",
    "ComparisonReport": "comparison",
    "Matrix": "matrix",
    "MatrixCell": "matrix",
    "MatrixRow": "matrix",
    "Paint": "evidence",
    "Panel": "blocks",
    "Paragraph": "blocks",
    "Sides": "blocks",
    "Summary": "summary",
    "Table": "blocks",
    "Tone": "blocks",
    "Turn": "blocks",
    "cell": "markdown",
    "code_block": "markdown",
    "code_span": "markdown",
    "comparison_formats": "comparison",
    "comparison_lines": "comparison",
    "count": "text",
    "describe_report": "case_evidence",
    "describe_chance": "comparison",
    "describe_change": "comparison",
    "describe_difference": "comparison",
    "describe_flip": "comparison",
    "describe_verdict": "comparison",
    "list_notes": "comparison",
    "draw_curve": "charts",
    "draw_history": "charts",
    "draw_interval": "charts",
    "draw_matrix": "charts",
    "draw_outcomes": "charts",
    "draw_sparkline": "charts",
    "draw_strip": "charts",
    "element": "markup",
    "escape": "markup",
    "exit_code": "summary",
    "find_matrix": "matrix",
    "full_record": "json_report",
    "html_code": "markdown",
    "not_passed_rows": "summary",
    "one_line": "text",
    "page_style": "blocks_html",
    "percent": "summary",
    "read_reports": "parquet",
    "render_case": "terminal",
    "render_evidence": "case_evidence",
    "render_comparison": "comparison",
    "render_table": "html_report",
    "seconds": "text",
    "show_command": "text",
    "summarize": "summary",
    "to_table": "parquet",
}

__all__ = [
    "Badge",
    "Block",
    "BlockLimits",
    "Cell",
    "Code",
    "ComparisonReport",
    "Diff",
    "Facts",
    "Figure",
    "Fold",
    "Format",
    "Heading",
    "Html",
    "Matrix",
    "MatrixCell",
    "MatrixRow",
    "Paint",
    "Panel",
    "Paragraph",
    "Renderer",
    "Sides",
    "Summary",
    "Table",
    "Tone",
    "Turn",
    "append_pieces",
    "cell",
    "code_block",
    "code_span",
    "comparison_formats",
    "comparison_lines",
    "count",
    "describe_chance",
    "describe_change",
    "describe_difference",
    "describe_flip",
    "describe_report",
    "describe_verdict",
    "discard_standard_output",
    "draw_curve",
    "draw_history",
    "draw_interval",
    "draw_matrix",
    "draw_outcomes",
    "draw_sparkline",
    "draw_strip",
    "element",
    "escape",
    "exit_code",
    "find_matrix",
    "format_names",
    "full_record",
    "get_format",
    "html_code",
    "keep_report",
    "list_notes",
    "not_passed_rows",
    "one_line",
    "page_style",
    "percent",
    "read_reports",
    "register_format",
    "render_case",
    "render_comparison",
    "render_evidence",
    "render_report",
    "render_table",
    "seconds",
    "show_command",
    "summarize",
    "to_table",
    "write_pieces",
    "write_report",
]

if not TYPE_CHECKING:  # mypy would take every name for one of these

    def __getattr__(name: str) -> Any:
        if name not in _LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
