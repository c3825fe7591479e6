"""The codes of what can be wrong with a test file, each with its lint rule."""

from __future__ import annotations

from assay.agents.model import AgentFile
from assay.findings import UNREADABLE, Finding, Rule, Rules

ONLY_NEGATED = "only-negated-tests"
RUNS_CODE = "runs-code"

RULES: Rules[AgentFile] = Rules(
    Rule(
        UNREADABLE,
        "error",
        "A file cannot be read",
        "It is not HOCON, JSON or YAML, a substitution has no value, or a brace is closed that "
        "was never opened.",
    ),
    Rule(
        "missing-include",
        "error",
        "An included file does not exist",
        'Paths start in the folder of the file that includes; `include file("…")` starts in the '
        "current folder.",
    ),
    Rule(
        "repeated-key",
        "error",
        "A key stands twice in one object",
        "One of the two values would be lost. Keep one of them.",
    ),
    Rule("missing-key", "error", "A required key is missing", "Add it."),
    Rule(
        "unknown-key",
        "error",
        "A key that is not read",
        "It is misspelled, stands in the wrong place, or holds a dot where keys must not.",
    ),
    Rule(
        "wrong-value",
        "error",
        "A value of the wrong kind",
        "It has the wrong type, or tests and nested keys are mixed in one dictionary.",
    ),
    Rule("unknown-test", "error", "A test that does not exist", "Use one of the known tests."),
    Rule(
        "empty-test",
        "error",
        "A test of nothing",
        "Null, an empty list or an empty dictionary tests nothing. Give it a value or remove it.",
    ),
    Rule(
        "impossible-test",
        "error",
        "A test that can never pass",
        "It compares a number with a text, asks for two different values or for something and its "
        "opposite, or tests a part that the connection never returns.",
    ),
    Rule(
        "nothing-tested",
        "error",
        "No interaction has a test",
        "The file would pass whatever the agent says. Add a test.",
    ),
    Rule(
        ONLY_NEGATED,
        "note",
        "Every test is a `not_` form of text",
        "A fault that arrives as an answer passes them all. Add a test of what the answer must "
        "say, or describe an outage in `failure_patterns`.",
    ),
    Rule(
        RUNS_CODE,
        "note",
        "The file runs Python code",
        "The `python` connection imports a module and calls it with your rights. Look at the code "
        "before you run a file that is not yours.",
    ),
)


class FileProblems(Exception):  # noqa: N818 - it carries findings to who reports them
    """A file that cannot be read as a document at all."""

    def __init__(self, *problems: Finding) -> None:
        super().__init__(problems[0].message)
        self.problems = list(problems)
