"""Repair questions: the repaired file is the control, and the broken one must fail its test."""

from __future__ import annotations

import difflib
import io
import re
import tokenize
from typing import Any

from assay.model import CaseRecord
from assay.questions.authorship import EXECUTED, PROGRAM, Source
from assay.questions.model import FixQuestion, SuiteEntry
from assay.questions.proof_runners import TargetRunner
from assay.questions.proofs.proving import OTHER_SEED, ambient_failure
from assay.questions.records import simple_record, test_values
from assay.questions.verdict.verdict import Verdict
from assay.sandbox import ProofOutcome, Status

# Shorter lines (`else:`, `return x`) stand in every program and give nothing away.
_TELLING = 12


async def fix_record(
    identifier: str, entry: SuiteEntry, question: FixQuestion, runner: TargetRunner
) -> CaseRecord:
    """Return the record of a repair question."""
    fixed, unfixed = await _run_both(question, runner, None)
    verdict, reason = judge_fix(question, fixed, unfixed, runner.modules)
    if verdict in (Verdict.BROKEN, Verdict.TRIVIAL):
        again = judge_fix(question, *await _run_both(question, runner, OTHER_SEED), runner.modules)
        if again[0] is not verdict:
            verdict, reason = Verdict.UNPROVEN, f"unstable: {reason}; then: {again[1]}"
    detail: dict[str, Any] = {
        "type": "fix_error",
        "question": question.description,
        "fixed": test_values(fixed),
        "unfixed": test_values(unfixed),
    }
    # A leak is read in the text, everything else is seen in the tests.
    source = Source(author=PROGRAM) if verdict is Verdict.LEAKED else EXECUTED
    return simple_record(identifier, entry, verdict, reason, detail, source)


async def _run_both(
    question: FixQuestion, runner: TargetRunner, hash_seed: int | None
) -> tuple[ProofOutcome, ProofOutcome]:
    name = f"{question.module.replace('.', '/')}.py"
    runs = [
        await runner.proof_runner.run(
            question.test,
            fresh=True,
            files={**dict(question.companions), name: text},
            hash_seed=hash_seed,
        )
        for text in (question.fixed, question.unfixed)
    ]
    return runs[0], runs[1]


def judge_fix(
    question: FixQuestion, fixed: ProofOutcome, unfixed: ProofOutcome, modules: tuple[str, ...] = ()
) -> tuple[Verdict, str]:
    """Return the verdict on a repair question from the test results of both files."""
    for name, outcome in (("fixed", fixed), ("unfixed", unfixed)):
        if (trouble := ambient_failure(outcome, modules)) is not None:
            return Verdict.UNPROVEN, f"the {name} file could not be tried: {trouble}"
    if not fixed.passed:
        return Verdict.BROKEN, f"the fixed file does not pass the test: {_why(fixed)}"
    if unfixed.passed:
        return Verdict.TRIVIAL, "the unfixed file passes the test already"
    failed = [
        test for test in unfixed.tests if test.status is Status.FAILED and test.line is not None
    ]
    if not failed:
        return Verdict.BROKEN, f"the unfixed file never reaches the test: {_why(unfixed)}"
    if leak := find_leak(question):
        return Verdict.LEAKED, f"the solver is given the repair: {leak[0].strip()}"
    return Verdict.VALID, "the fixed file passes, the unfixed one fails in the test"


def find_leak(question: FixQuestion) -> list[str]:
    """Return the decisive lines of the repair, if a solver can read all of them."""
    changes = difflib.ndiff(question.unfixed.splitlines(), question.fixed.splitlines())
    added = [line[2:] for line in changes if line.startswith("+ ")]
    telling = [line for line in added if len(plain_text(line)) >= _TELLING and not _is_import(line)]
    seen = plain_text(
        "\n".join([question.description, question.error_output, prose_of(question.unfixed)])
    )
    return telling if telling and all(plain_text(line) in seen for line in telling) else []


def _is_import(line: str) -> bool:
    return line.lstrip().startswith(("import ", "from "))


def prose_of(source: str) -> str:
    """Return the comments and strings of a program; its code gives nothing away."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return "\n".join(re.findall("#.*", source))
    kinds = (tokenize.COMMENT, tokenize.STRING)
    return "\n".join(token.string for token in tokens if token.type in kinds)


def plain_text(text: str) -> str:
    """Return a text without white space, so that it is found regardless of line breaks."""
    return re.sub(r"\s+", "", text)


def _why(outcome: ProofOutcome) -> str:
    for test in outcome.tests:
        if test.status is not Status.PASSED or not test.evidence:
            message = test.message.strip().partition("\n")[0]
            return f"{test.name} {test.status}: {message or test.objection or ''}".rstrip(": ")
    return outcome.objection or "no test ran"
