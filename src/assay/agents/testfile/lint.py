"""Lint rules for test files: defects that can be found without an agent.

`RULES` lists all of them. Notes are found here. Errors, which also stop `verify`, are found where
the file is read: in `reading.py` and `criteria.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from assay.agents.model import AgentFile
from assay.agents.testfile import read_files
from assay.agents.trust import make_trust
from assay.config import load_config
from assay.documents import Place
from assay.errors import InputError
from assay.findings import UNREADABLE, Finding, Findings, Rule, Rules
from assay.redaction import redact

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
        "A key occurs twice in one object",
        "One of the two values would be lost. Keep one of them.",
    ),
    Rule("missing-key", "error", "A required key is missing", "Add it."),
    Rule(
        "unknown-key",
        "error",
        "A key that is not read",
        "It is misspelled, is in the wrong place, or contains a dot where keys must not.",
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


def lint_files(paths: Iterable[str | Path], *, ignore: Collection[str] = ()) -> Findings:
    """Return all problems of the test files that files, folders and globs name."""
    RULES.load_plugins("agents")
    RULES.check_codes(ignore)
    reading = read_files(paths)
    found = list(reading.problems)
    for file in reading.files:
        found += [*_find_notes(file), *RULES.apply(file)]
    return Findings.of(found, RULES, ignore=ignore, skipped=map(str, reading.skipped))


def _find_notes(file: AgentFile) -> Iterator[Finding]:
    """Yield notes on a valid file that may not mean what its author intended."""
    checks = [check for interaction in file.interactions for check in interaction.checks]
    # A fault lacks most keys, so their tests fail; only tests on text can pass.
    is_blind = all(check.is_negated and check.section == "text" for check in checks)
    if is_blind and not file.failure_patterns:
        message = (
            "every test is a `not_` form of text: a fault that arrives as an answer passes them all"
        )
        advice = (
            "add a test of what the answer must say, or name what an outage looks like in "
            "`failure_patterns`"
        )
        yield Finding(ONLY_NEGATED, message, checks[0].place, advice, severity="note")
    if "python" in file.connections:
        yield _note_code(file)


def _note_code(file: AgentFile) -> Finding:
    """Return a note on the code that a file runs, without running it."""
    paths = load_config().agents.python_paths
    rules = make_trust(paths).for_file(file.path)
    assert rules is not None
    try:
        refusal = rules.find_refusal(file.agent)
    except InputError as error:
        refusal = str(error)
    message = f"runs code: {file.agent} is imported and called in this process, with your rights"
    advice = "look at it before you run a file that is not yours"
    if refusal is not None:
        message = f"names code that `verify` refuses to run: {file.agent}"
        advice = refusal
    place = file.agent_place or Place(file.path, 1)
    message, advice = redact(message, file.secrets), redact(advice, file.secrets)
    return Finding(RUNS_CODE, message, place, advice, severity="note")
