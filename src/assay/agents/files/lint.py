"""Lint: what is wrong with test files that can be seen without an agent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from assay.agents.files import read_files
from assay.agents.files.rules import ONLY_NEGATED, RULES, RUNS_CODE
from assay.agents.model import AgentFile
from assay.agents.trust import make_trust
from assay.config import load_config
from assay.documents import Place
from assay.errors import InputError
from assay.findings import Finding, Findings
from assay.redaction import redact


def lint_files(paths: Iterable[str | Path], *, ignore: Collection[str] = ()) -> Findings:
    """Return everything wrong with the test files that files, folders and globs name."""
    RULES.load_plugins("agents")
    RULES.check_codes(ignore)
    reading = read_files(paths)
    found = list(reading.problems)
    for file in reading.files:
        found += [*_find_notes(file), *RULES.apply(file)]
    return Findings.of(found, RULES, ignore=ignore, skipped=map(str, reading.passed_over))


def _find_notes(file: AgentFile) -> Iterator[Finding]:
    """Yield notes on a file that has no mistakes and yet may not say what was meant."""
    checks = [check for interaction in file.interactions for check in interaction.checks]
    # A key that a fault does not have fails its tests, so those on text are the ones that pass.
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
