"""Questions: is the question right? Every option is proven against the real library."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from assay.findings import Findings
    from assay.questions.target_drift import Drift
    from assay.runs import Run

__all__ = ["calibrate", "drift", "lint", "verify"]


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
    """Say of every question whether it is Valid, Ambiguous, Incorrect or Unproven.

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
    isolation: str = "auto",
    jobs: int | None = None,
    out: str | Path | None = None,
) -> Run:
    """Plant defects in the Valid questions of suites and say how many of them are found."""
    from assay.questions.calibration.calibration import Planting
    from assay.questions.plan import CalibratePlan, make_request
    from assay.runs import start_configured

    asked = make_request(
        suites,
        targets=_texts(target),
        proofs=proofs,
        cases=_texts(case),
        types=("multiple_choice",),
        isolation=isolation,
        jobs=jobs,
    )
    title = ", ".join(map(str, suites))
    return start_configured(CalibratePlan(asked, Planting(mutants, seed), title=title), out=out)


def drift(
    *suites: str | Path,
    versions: Iterable[str],
    package: str | None = None,
    target: str | Iterable[str] = (),
    proofs: str | Path | None = None,
    case: str | Iterable[str] = (),
    isolation: str = "auto",
    jobs: int | None = None,
) -> Drift:
    """Replay the stored proofs on several versions and name the release that changed a finding."""
    from assay.config import load_config
    from assay.questions.selection import Selection
    from assay.questions.target_drift import compare_versions

    selection = Selection(
        suites=tuple(map(str, suites)),
        folder=str(Path.cwd()),
        targets=_texts(target),
        proofs=str(proofs) if proofs else None,
        cases=_texts(case),
    )
    jobs = jobs or load_config().jobs_or_default()
    return compare_versions(selection, list(versions), package, jobs=jobs, isolation=isolation)


def _texts(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def lint(*suites: str | Path, ignore: Iterable[str] = ()) -> Findings:
    """Return the defects of suites that need no execution: each with a code, a place and advice.

    `suites` are files, folders or globs. Nothing is run and nothing imported. Codes in `ignore`,
    and those that the project's configuration ignores, are left out.
    """
    from assay.config import load_config
    from assay.questions.lint_rules import StaticResolver, lint_suites
    from assay.questions.suite.suite import read_suites

    ignored = [*load_config().questions.ignore, *ignore]
    return lint_suites(read_suites(suites), ignore=ignored, resolve=StaticResolver())
