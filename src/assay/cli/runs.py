"""`assay runs` and `assay report`: list, show, resume and report kept runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.agents import ALLOW_AGENT
from assay.cli.common import (
    JSON,
    RunOptions,
    print_json,
    print_run,
    reserve_standard_output,
    resume_plan,
    run_options,
    use_colour,
)
from assay.cli.comparisons import compare, trend
from assay.cli.run_folders import export, import_, merge, prune
from assay.config import check_named_code, find_project, is_inside, load_config
from assay.errors import AssayError, InputError
from assay.escaping import escape_hidden
from assay.reports import (
    format_names,
    full_record,
    name_of,
    one_line,
    render_case,
    summarize,
    write_report,
)
from assay.runs import (
    Ended,
    Run,
    check_resumable,
    find_run,
    read_manifest,
    run_folders,
)

if TYPE_CHECKING:
    from assay.questions import CalibratePlan, DriftPlan, QuestionsPlan


T = TypeVar("T")


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
    with reserve_standard_output():
        plan = plan_file(asked, jobs=options.jobs)
    return print_run(resume_plan(plan, folder, options), options)


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
    from assay.cli.questions import print_calibration
    from assay.questions import CalibratePlan

    return print_calibration(_resume(CalibratePlan, folder, asked, options), options)


def resume_drift(folder: Path, asked: dict[str, Any], options: RunOptions, trusted: Trusted) -> int:
    """Continue a run of `assay questions drift`."""
    from assay.questions import DriftPlan

    return print_run(_resume(DriftPlan, folder, asked, options), options)


def _resume(
    kind: type[QuestionsPlan | CalibratePlan | DriftPlan],
    folder: Path,
    asked: dict[str, Any],
    options: RunOptions,
) -> Ended:
    from assay.cli.questions import be_silent, say

    check_resumable(folder)
    progress = be_silent if options.quiet else say
    return resume_plan(kind.from_run(asked, jobs=options.jobs, say=progress), folder, options)


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
    return print_run(resume_plan(plan, folder, options), options)


def resume_agents(
    folder: Path, asked: dict[str, Any], options: RunOptions, trusted: Trusted
) -> int:
    """Continue a run of `assay agents verify` or `assess`."""
    from assay.agents import AgentsPlan, enter_folder, make_trust
    from assay.cli.agents import print_assessment, print_skipped
    from assay.config import load_config

    # Before the current folder changes.
    folder, here = folder.absolute(), Path.cwd()
    check_resumable(folder)
    enter_folder(asked)
    paths = load_config().agents.python_paths
    trust = make_trust(paths, trusted.modules, is_complete=trusted.is_complete, resumed_from=here)
    plan = AgentsPlan.from_run(asked, trust, jobs=options.jobs)
    print_skipped(plan)
    ended = resume_plan(plan, folder, options)
    if plan.asked.assesses:
        return print_assessment(plan, ended, options)
    return print_run(ended, options)


RESUMERS = {
    "evaluation": resume_evaluation,
    "questions": resume_questions,
    "calibration": resume_calibration,
    "drift": resume_drift,
    "submissions": resume_submissions,
    "agents": resume_agents,
}


@click.group()
def runs() -> None:
    """List, show, resume, compare, merge and delete the runs that were kept.

    RUN is a folder, a name, the beginning of a name, or `latest`.
    """


@runs.command("list")
@JSON
def list_runs(as_json: bool) -> None:
    """List the runs, oldest first."""
    folder = load_config().runs
    paths = run_folders(folder)
    if as_json:
        print_json({"runs": list(_read_each(paths, _facts))})
        return
    if not paths:
        click.echo(f"no runs in {folder}; make one with: assay run FILE.py", err=True)
    for line in _read_each(paths, _line):
        click.echo(line)


def _read_each(paths: Iterable[Path], read: Callable[[Run], T]) -> Iterator[T]:
    """Yield something of every run; one that cannot be read does not hide the others."""
    for path in paths:
        try:
            run = Run(path)
        except AssayError as error:
            click.echo(f"assay: {escape_hidden(str(error))}", err=True)
            continue
        with run:
            yield read(run)


def _line(run: Run) -> str:
    summary = summarize(run)
    about = one_line(summary.title or summary.subject)
    return f"{one_line(name_of(run))}  {about}  {summary.verdict_line()}"


def _facts(run: Run) -> dict[str, Any]:
    return {
        "run": run.name,
        "path": str(run.path),
        "subject": run.manifest.subject,
        "title": run.manifest.title,
        "started": run.manifest.started.isoformat(),
        "finished": run.manifest.finished.isoformat() if run.manifest.finished else None,
        "outcomes": {outcome.value: count for outcome, count in run.counts().items()},
    }


@runs.command()
@click.argument("run", metavar="RUN")
@click.argument("case", required=False)
@JSON
def show(run: str, case: str | None, as_json: bool) -> None:
    """Show a run, or one CASE of it with all its evidence."""
    with Run(_find(run)) as found:
        if case is None:
            write_report(found, "json" if as_json else "terminal", colour=use_colour())
        elif as_json:
            row = found.row(case)
            print_json({**full_record(found.read_packed(row)), "known": found.is_known(row)})
        else:
            click.echo(render_case(found, found.row(case), colour=use_colour()))


@runs.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--command", help="The program of the connection `command`; a resumed run needs it again."
)
@ALLOW_AGENT
@click.option(
    "--trust",
    is_flag=True,
    help="Trust the run folder: allow any code, server and outside file that it names.",
)
@run_options
@click.pass_context
def resume(
    ctx: click.Context,
    /,
    run: str,
    command: str | None,
    allow_agents: tuple[str, ...],
    trust: bool,
    **shared: Any,
) -> None:
    """Continue a run: nothing that is finished is repeated.

    Errored cases run again, and so does, by name, what has changed since.
    """
    folder = _find(run)
    manifest = read_manifest(folder)
    if manifest.subject not in RESUMERS or not manifest.asked:
        raise InputError(
            "was started from Python and cannot be resumed from here",
            where=str(folder),
            advice="call assay.evaluate with out=… and resume=True",
        )
    _confirm_command(folder, manifest.asked, command)
    if not trust:
        _check_recorded(folder, manifest.asked)
    trusted = Trusted(allow_agents, is_complete=trust)
    resume_subject = RESUMERS[manifest.subject]
    ctx.exit(resume_subject(folder, manifest.asked, RunOptions.of(shared), trusted))


def _check_recorded(folder: Path, asked: dict[str, Any]) -> None:
    """Refuse what weakens a protection and only the run folder says."""
    problem = None
    if asked.get("allow_outside"):
        problem = "lets its problem read files outside of the problem's folder"
    elif asked.get("isolation") == "none":
        problem = "runs programs without isolation"
    elif named := _folders_elsewhere(asked):
        problem = f"names folders outside of the current project: {', '.join(named)}"
    if problem is not None:
        raise InputError(problem, where=str(folder), advice="if you trust the run, pass --trust")


def _folders_elsewhere(asked: dict[str, Any]) -> list[str]:
    """Return the targets and proof stores of questions that are not of the user's project.

    Proofs can read all of a target, and are written into a store.
    """
    targets = asked.get("targets") or ()
    named = [*(word for word in targets if "/" in str(word)), asked.get("proofs")]
    folders = [Path(str(asked.get("folder", ".")), str(word)) for word in named if word]
    project = find_project(Path.cwd())
    return [str(one) for one in folders if not is_inside(one, project)]


def _confirm_command(folder: Path, asked: dict[str, Any], given: str | None) -> None:
    """Refuse to start a program that only the run folder names: it may come from elsewhere."""
    reach = asked.get("reach")
    stored = reach.get("command") if isinstance(reach, dict) else None
    if stored != given:
        raise InputError(
            f"the run talks to the program {stored!r}" if stored else "the run has no --command",
            where=str(folder),
            advice=f"to start it, pass --command {shlex.quote(str(stored))}" if stored else None,
        )


for _command in (compare, trend, merge, prune, export, import_):
    runs.add_command(_command)


def _find(name: str) -> Path:
    return find_run(name, load_config().runs)


class _FormatChoice(click.Choice[str]):
    """The names of the report formats at the time of the call: plugins may add some."""

    def __getattribute__(self, name: str) -> Any:
        return tuple(format_names()) if name == "choices" else super().__getattribute__(name)


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--format",
    "name",
    type=_FormatChoice([]),
    default="terminal",
    show_default=True,
    help="What to write.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to this file.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON; the same as --format json.")
def report(run: str, name: str, out: Path | None, as_json: bool) -> None:
    """Write a report of a run in any format.

    RUN is a folder, a name, the beginning of a name, or `latest`.
    """
    with Run(find_run(run, load_config().runs)) as found:
        format_ = "json" if as_json else name
        write_report(found, format_, out, colour=out is None and use_colour())
