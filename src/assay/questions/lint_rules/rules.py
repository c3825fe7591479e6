"""The lint rules of suites, and what a rule looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from assay.findings import UNREADABLE, Finding, Rules
from assay.findings.finding import Check
from assay.questions.model import Question, SuiteEntry
from assay.questions.suite import entries
from assay.questions.suite.suite import Suite

# Whether a module has a name (or, for None, exists): yes, no, or nobody can tell.
Resolve: TypeAlias = Callable[[str, str | None], bool | None]


@dataclass(frozen=True)
class Linted:
    """The suites that are linted together, and how names can be looked up, if at all."""

    suites: Sequence[Suite]
    resolve: Resolve | None = None

    def questions(self) -> Iterator[tuple[Suite, SuiteEntry, Question]]:
        """Yield every multiple-choice question."""
        for suite in self.suites:
            for entry in suite.entries:
                if isinstance(entry.question, Question):
                    yield suite, entry, entry.question


RULES: Rules[Linted] = Rules()
rule = RULES.rule


def _report_problems(code: str) -> Check[Linted]:
    def check(linted: Linted) -> Iterator[Finding]:
        for suite in linted.suites:
            yield from (problem for problem in suite.problems if problem.code == code)

    return check


rule(
    UNREADABLE,
    "error",
    "A file or a question cannot be read",
    "The file is not valid YAML or JSON, a field is missing, of the wrong type or given twice, or "
    "a file that the question names does not exist. Nothing can be verified until it is fixed.",
)(_report_problems(UNREADABLE))

rule(
    entries.DUPLICATE_ID,
    "error",
    "Two questions of one file have the same id",
    "A question is addressed and its proofs are stored by its id. Give each its own.",
)(_report_problems(entries.DUPLICATE_ID))

rule(
    entries.MISSING_SECTION,
    "error",
    "The code a question refers to is missing",
    "`code_snippet_ref` names a file or a section that does not exist, so the question cannot be "
    "judged. Name an existing one, or add the markers `# --8<-- [start:x]` and `# --8<-- [end:x]`.",
)(_report_problems(entries.MISSING_SECTION))

rule(
    entries.UNKNOWN_KEY,
    "warning",
    "A key looks like a misspelled one",
    "Keys that are not known are not read. This one is so like a known key that it is probably "
    "meant to be that.",
)(_report_problems(entries.UNKNOWN_KEY))
