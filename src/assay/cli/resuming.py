"""How a run of each subject is made a plan again, continued and printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.cli.common import RunOptions, print_run, resume, standard_output_reserved
from assay.config import check_named_code, find_project
from assay.runs import Ended, check_resumable

if TYPE_CHECKING:
    from assay.questions import CalibratePlan, QuestionsPlan


@dataclass(frozen=True)
class Trusted:
    """What the user trusts; none of it is in the run folder, which may be somebody else's."""

    modules: tuple[str, ...] = ()
    is_complete: bool = False


def resume_evaluation(
    folder: Path, asked: dict[str, Any], options: RunOptions, trusted: Trusted
) -> int:
    """Continue a run of `assay run`."""
    from assay.evaluation_file import plan_file

    file, _, _ = str(asked.get("evaluation")).partition(":")
    if not trusted.is_complete:
        check_named_code(Path(file), find_project(Path.cwd()))
    with standard_output_reserved():
        plan = plan_file(asked, jobs=options.jobs)
    return print_run(resume(plan, folder, options), options)


def resume_questions(
    folder: Path, asked: dict[str, Any], options: RunOptions, trusted: Trusted
) -> int:
    """Continue a run of `assay questions verify`."""
    from assay.questions import QuestionsPlan

    return print_run(_resume(QuestionsPlan, folder, asked, options), options)


def resume_calibration(
    folder: Path, asked: dict[str, Any], options: RunOptions, trusted: Trusted
) -> int:
    """Continue a run of `assay questions calibrate`."""
    from assay.cli.questions.calibrate import print_calibration
    from assay.questions import CalibratePlan

    return print_calibration(_resume(CalibratePlan, folder, asked, options), options)


def _resume(
    kind: type[QuestionsPlan | CalibratePlan],
    folder: Path,
    asked: dict[str, Any],
    options: RunOptions,
) -> Ended:
    from assay.cli.questions.options import be_silent, say

    check_resumable(folder)
    progress = be_silent if options.quiet else say
    return resume(kind.from_run(asked, jobs=options.jobs, say=progress), folder, options)


def resume_submissions(
    folder: Path, asked: dict[str, Any], options: RunOptions, trusted: Trusted
) -> int:
    """Continue a run of `assay submissions verify`."""
    from assay.submissions import SubmissionsPlan, print_warning

    check_resumable(folder)
    project = None if trusted.is_complete else find_project(Path.cwd())
    plan = SubmissionsPlan.from_run(
        asked, jobs=options.jobs, project=project, on_warning=print_warning
    )
    return print_run(resume(plan, folder, options), options)


def resume_agents(
    folder: Path, asked: dict[str, Any], options: RunOptions, trusted: Trusted
) -> int:
    """Continue a run of `assay agents verify` or `assess`."""
    from assay.agents import AgentsPlan, enter_folder, make_trust
    from assay.cli.agents.assess import print_assessment
    from assay.cli.agents.verify import print_skipped
    from assay.config import load_config

    # Before the current folder changes.
    folder, here = folder.absolute(), Path.cwd()
    check_resumable(folder)
    enter_folder(asked)
    paths = load_config().agents.python_paths
    trust = make_trust(paths, trusted.modules, is_complete=trusted.is_complete, resumed_from=here)
    plan = AgentsPlan.from_run(asked, trust, jobs=options.jobs)
    print_skipped(plan)
    ended = resume(plan, folder, options)
    if plan.asked.assesses:
        return print_assessment(plan, ended, options)
    return print_run(ended, options)


RESUMERS = {
    "evaluation": resume_evaluation,
    "questions": resume_questions,
    "calibration": resume_calibration,
    "submissions": resume_submissions,
    "agents": resume_agents,
}
