"""Named comparisons shared by all subjects.

Each takes actual, expected and options, and returns a result with a readable diff.

To add one, write a function with `@check("name")` in the module of its kind of value (`text`,
`numbers`, `files`, `json_checks`). Declare in its `Traits` if it needs text or a parsed structure
or may be slow. Agent test files have a fixed set of tests, in `agent_tests`.
"""

# Importing the modules of checks is what registers them; they are small, and what is heavy
# (jsonschema) is imported by the check that needs it.
from assay.checks import agent_tests, files, json_checks, numbers, text  # noqa: F401
from assay.checks.diffs import (
    binary_diff,
    cut,
    find_common_ends,
    is_too_large_to_compare,
    line_diff,
    preview,
    split_lines,
    text_diff,
    unified_diff,
)
from assay.checks.json_diff import structural_diff
from assay.checks.json_paths import (
    NotJsonError,
    Wildcard,
    format_path,
    parse_patterns,
    read_json,
)
from assay.checks.registry import (
    ABSENT,
    Absent,
    Traits,
    Uncollected,
    check,
    check_names,
    check_options,
    check_traits,
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
    "Traits",
    "Uncollected",
    "Wildcard",
    "binary_diff",
    "check",
    "check_names",
    "check_options",
    "check_traits",
    "cut",
    "failed",
    "find_common_ends",
    "format_path",
    "get_check",
    "is_too_large_to_compare",
    "line_diff",
    "mismatch",
    "parse_patterns",
    "passed",
    "preview",
    "read_json",
    "run_check",
    "split_lines",
    "structural_diff",
    "text_diff",
    "unified_diff",
]
