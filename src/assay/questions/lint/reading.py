"""What reading a suite has met: rules whose findings are there before lint begins."""

from __future__ import annotations

from collections.abc import Iterator

from assay.questions.lint.registry import Check, Linted, rule
from assay.questions.suites import problems
from assay.questions.suites.problems import LintFinding


def _met(code: str) -> Check:
    def check(linted: Linted) -> Iterator[LintFinding]:
        for suite in linted.suites:
            yield from (problem for problem in suite.problems if problem.code == code)

    return check


rule(
    problems.UNREADABLE,
    "error",
    "A file or a question cannot be read",
    "The file is not valid YAML or JSON, a field is missing, of the wrong type or given twice, or "
    "a file that the question names does not exist. Nothing can be verified until that is mended.",
)(_met(problems.UNREADABLE))

rule(
    problems.DUPLICATE_ID,
    "error",
    "Two questions of one file have the same id",
    "A question is addressed and its proofs are kept by its id. Give each its own.",
)(_met(problems.DUPLICATE_ID))

rule(
    problems.MISSING_SECTION,
    "error",
    "The code a question refers to is missing",
    "`code_snippet_ref` names a file or a section that does not exist, so the question cannot be "
    "judged. Name an existing one, or add the markers `# --8<-- [start:x]` and `# --8<-- [end:x]`.",
)(_met(problems.MISSING_SECTION))

rule(
    problems.UNKNOWN_KEY,
    "warning",
    "A key looks like a misspelled one",
    "Keys that are not known are not read. This one is so like a known key that it is probably "
    "meant to be that.",
)(_met(problems.UNKNOWN_KEY))
