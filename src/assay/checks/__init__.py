"""Named comparisons shared by all subjects.

Each takes actual, expected and options, and returns a result with a readable diff.
"""

# Importing the modules of checks is what registers them; they are small, and what is heavy
# (jsonschema) is imported by the check that needs it.
from assay.checks import files, numbers, stock, structure, text  # noqa: F401
from assay.checks.comparison import structural_diff
from assay.checks.diffs import binary_diff, cut, line_diff, preview, text_diff, unified_diff
from assay.checks.json_values import (
    NotJsonError,
    Wildcard,
    format_path,
    parse_patterns,
    read_json,
)
from assay.checks.registry import (
    ABSENT,
    Absent,
    Uncollected,
    check,
    check_names,
    check_options,
    failed,
    get_check,
    mismatch,
    passed,
    run_check,
)

__all__ = [
    "ABSENT",
    "Absent",
    "NotJsonError",
    "Uncollected",
    "Wildcard",
    "binary_diff",
    "check",
    "check_names",
    "check_options",
    "cut",
    "failed",
    "format_path",
    "get_check",
    "line_diff",
    "mismatch",
    "parse_patterns",
    "passed",
    "preview",
    "read_json",
    "run_check",
    "structural_diff",
    "text_diff",
    "unified_diff",
]
