"""Verification of multiple-choice questions: every option is proven against the real library.

Names beyond the four verbs, which only the commands need, are imported on first use.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from assay.findings import Findings
    from assay.questions.calibration import calibration_of
    from assay.questions.calibration_report import calibration_lines, calibration_values
    from assay.questions.drift_plan import DriftPlan
    from assay.questions.lexical import explain
    from assay.questions.model import Question
    from assay.questions.model_prover.transcripts import latest_transcript, transcript_lines
    from assay.questions.person import claim_lines, try_claims
    from assay.questions.plan import CalibratePlan, QuestionsPlan, make_planting, make_request
    from assay.questions.proofs.accept import accept_edits, check_proof, take_in
    from assay.questions.proofs.claims import Relation
    from assay.questions.selection import Selection, open_question, open_questions
    from assay.questions.show import question_lines
    from assay.questions.suite.claims_file import parse_claim
    from assay.questions.suite.formats import claims_schema_text, schema_text, write_suite
    from assay.questions.suite.suite import find_in_suite
    from assay.questions.verification import verify_one
    from assay.runs import Run

_HOMES = {
    "calibration": ("calibration_of",),
    "calibration_report": ("calibration_lines", "calibration_values"),
    "drift_plan": ("DriftPlan",),
    "model": ("Question",),
    "model_prover.transcripts": (
        "latest_transcript",
        "transcript_lines",
    ),
    "person": ("claim_lines", "try_claims"),
    "plan": (
        "CalibratePlan",
        "QuestionsPlan",
        "make_planting",
        "make_request",
    ),
    "proofs.accept": (
        "accept_edits",
        "check_proof",
        "take_in",
    ),
    "proofs.claims": ("Relation",),
    "lexical": ("explain",),
    "selection": (
        "Selection",
        "open_question",
        "open_questions",
    ),
    "show": ("question_lines",),
    "suite.claims_file": ("parse_claim",),
    "suite.formats": ("claims_schema_text", "schema_text", "write_suite"),
    "suite.suite": ("find_in_suite",),
    "verification": ("verify_one",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CalibratePlan",
    "DriftPlan",
    "Question",
    "QuestionsPlan",
    "Relation",
    "Selection",
    "accept_edits",
    "calibrate",
    "calibration_lines",
    "calibration_of",
    "calibration_values",
    "check_proof",
    "claim_lines",
    "claims_schema_text",
    "drift",
    "explain",
    "find_in_suite",
    "latest_transcript",
    "lint",
    "make_planting",
    "make_request",
    "open_question",
    "open_questions",
    "parse_claim",
    "question_lines",
    "schema_text",
    "take_in",
    "transcript_lines",
    "try_claims",
    "verify",
    "verify_one",
    "write_suite",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'assay.questions' has no attribute {name!r}")
    return getattr(import_module(f"assay.questions.{_HOME[name]}"), name)


def verify(
    *suites: str | Path,
    target: str | Iterable[str] = (),
    proofs: str | Path | None = None,
    case: str | Iterable[str] = (),
    type: str | Iterable[str] = (),  # noqa: A002 - as the option of the command
    exception_match: str | None = None,
    fail_on_unproven: bool = False,
    isolation: str = "auto",
    jobs: int | None = None,
    model: str | None = None,
    model_url: str | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    fix: Literal["patch", "apply", "commit"] | None = None,
    out: str | Path | None = None,
    baseline: str | Path | None = None,
) -> Run:
    """Verify every question: Valid, Ambiguous, Incorrect or Unproven.

    `suites` are files, folders or globs. Stored proofs are run again; what has none is left to the
    provers that need no model, and what they leave open to a model, if one is named. The options
    are those of `assay questions verify`; so is the exit code of the run.
    """
    from assay.models import ModelChoice
    from assay.questions.plan import QuestionsPlan, make_request
    from assay.runs import start_configured

    choice = ModelChoice(model, model_url, max_cost, max_tokens)
    asked = make_request(
        suites,
        targets=_texts(target),
        proofs=proofs,
        cases=_texts(case),
        types=_texts(type),
        exception_match=exception_match,
        isolation=isolation,
        jobs=jobs,
        model=choice if model or model_url or fix else None,
        fixing=fix,
    )
    title = ", ".join(map(str, suites))
    plan = QuestionsPlan(asked, fail_on_unproven=fail_on_unproven, title=title)
    return start_configured(plan, out=out, baseline=baseline)


def calibrate(
    *suites: str | Path,
    target: str | Iterable[str] = (),
    proofs: str | Path | None = None,
    case: str | Iterable[str] = (),
    mutants: int = 1,
    seed: int = 0,
    labels: str | Path | None = None,
    isolation: str = "auto",
    jobs: int | None = None,
    model: str | None = None,
    model_url: str | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    out: str | Path | None = None,
) -> Run:
    """Plant defects in the Valid questions of suites and report how many are found.

    Questions that `labels` says the truth of are verified as they are, too.
    """
    from assay.models import ModelChoice
    from assay.questions.plan import CalibratePlan, make_planting, make_request
    from assay.runs import start_configured

    choice = ModelChoice(model, model_url, max_cost, max_tokens)

    asked = make_request(
        suites,
        targets=_texts(target),
        proofs=proofs,
        cases=_texts(case),
        types=("multiple_choice",),
        isolation=isolation,
        jobs=jobs,
        model=choice if model or model_url else None,
    )
    planting = make_planting(suites, mutants, seed, labels)
    title = ", ".join(map(str, suites))
    return start_configured(CalibratePlan(asked, planting, title=title), out=out)


def drift(
    *suites: str | Path,
    releases: str | Iterable[str],
    package: str | None = None,
    search: bool = True,
    target: str | Iterable[str] = (),
    proofs: str | Path | None = None,
    case: str | Iterable[str] = (),
    isolation: str = "auto",
    jobs: int | None = None,
    out: str | Path | None = None,
    baseline: str | Path | None = None,
) -> Run:
    """Replay the proofs of questions on several releases and say in which one a finding changed.

    `releases` are versions, a range such as ">=1.16,<2", or "all". Between two versions that
    differ the releases are halved, unless `search` is False. The run fails if anything flipped.
    """
    from assay.questions.drift_plan import DriftPlan
    from assay.questions.plan import make_request
    from assay.runs import start_configured

    asked = make_request(
        suites,
        targets=_texts(target),
        proofs=proofs,
        cases=_texts(case),
        isolation=isolation,
        jobs=jobs,
    )
    title = ", ".join(map(str, suites))
    plan = DriftPlan.of(asked, releases, package=package, search=search, title=title)
    return start_configured(plan, out=out, baseline=baseline)


def _texts(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def lint(
    *suites: str | Path, ignore: Iterable[str] = (), target: str | Iterable[str] = ()
) -> Findings:
    """Return the static defects of suites, each with a code, a place and advice.

    `suites` are files, folders or globs. Nothing is run and nothing imported. Imports of snippets
    are looked up in `target`, or in the target of the suite if it is built; otherwise a note says
    that they were not checked. Codes in `ignore`, and those that the project's configuration
    ignores, are left out.
    """
    from assay.config import load_config
    from assay.questions.lint_rules import find_resolvers, lint_suites
    from assay.questions.suite.suite import read_suites

    ignored = [*load_config().questions.ignore, *ignore]
    read = read_suites(suites)
    resolvers, notes = find_resolvers(read, _texts(target))
    return lint_suites(read, ignore=ignored, resolvers=resolvers, skipped=notes)
