"""`assay submissions`: is the program right? Verify, audit, and what writing problems needs."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from assay.cli.common import (
    JSON,
    Command,
    RunOptions,
    print_json,
    print_new,
    print_run,
    reserve_standard_output,
    run_options,
    start_plan,
    use_colour,
)
from assay.cli.lint import LintOptions, lint_options, print_findings
from assay.cli.main import LazyGroup

COMMANDS = {
    "verify": (
        "assay.cli.submissions:verify",
        "Run a submission on the cases of a problem and report whether it is right.",
    ),
    "run-case": (
        "assay.cli.submissions:run_case",
        "Run cases of one checkpoint and print their reports as a JSON array.",
    ),
    "lint": (
        "assay.cli.submissions:lint",
        "Find what is wrong with problems: config, cases, signatures.",
    ),
    "audit": (
        "assay.cli.submissions:audit",
        "Grade the grader: try a problem's verifier on right, empty and wrong results.",
    ),
    "new": (
        "assay.cli.submissions:new",
        "Write a small working problem, with a solution and a broken one.",
    ),
    "test": (
        "assay.cli.submissions:test",
        "Run a problem's own test_*.py by pytest, with the reference's names.",
    ),
    "alias": (
        "assay.cli.submissions:alias",
        "Make `import slop_code` work in this Python, for a problem's tests.",
    ),
    "schema": (
        "assay.cli.submissions:schema",
        "Print the JSON Schema of problem files, of all kinds or of one.",
    ),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def submissions() -> None:
    """Run a program on the cases of a problem and verify what it produced.

    PROBLEM is a folder, or the name of one under --problem-path.
    """


FILE = click.Path(path_type=Path)


PROBLEM = click.option(
    "--problem", "-p", required=True, help="The problem: a folder, or a name in --problem-path."
)


PROBLEM_PATH = click.option(
    "--problem-path",
    type=FILE,
    default=Path("problems"),
    show_default=True,
    help="Where problems are looked up by name.",
)


SNAPSHOT = click.option(
    "--snapshot", "-s", type=FILE, required=True, help="The submission's folder."
)


ALLOW_OUTSIDE = click.option(
    "--allow-outside",
    is_flag=True,
    help="Let a problem name files outside of its folder; only for problems that you know.",
)


_OPTIONS = [
    PROBLEM,
    PROBLEM_PATH,
    ALLOW_OUTSIDE,
    click.option("--environment", "-e", type=FILE, help="How programs are set up and started."),
    click.option("--group", "-g", metavar="GLOB", help="Only groups with such a name."),
    click.option("--case", metavar="GLOB", help="Only cases with such an id."),
    click.option(
        "--isolation",
        type=click.Choice(["auto", "namespaces", "landlock", "none"]),
        default="auto",
        show_default=True,
        help="How the submission is kept apart from this machine.",
    ),
]


def submission_options(command: Command) -> Command:
    """Add the options that say what is run, how and which part of it."""
    return SNAPSHOT(problem_options(command))


def problem_options(command: Command) -> Command:
    """Add the same without the submission, for commands that know which one."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def say(text: str) -> None:
    click.echo(f"assay: {text}", err=True)


# Told here and not read from the policies, so that help needs none of the subject.
_POLICIES = [
    "any-case",
    "all-cases",
    "all-non-error-cases",
    "core-cases",
    "any-core-cases",
    "all-core-cases",
]


@click.command()
@submission_options
@click.option(
    "--checkpoint",
    "-c",
    default="all",
    show_default=True,
    help="A checkpoint's number or name, or `all`.",
)
@click.option(
    "--policy",
    type=click.Choice(_POLICIES),
    default="all-cases",
    show_default=True,
    help="When the submission as a whole has passed.",
)
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@run_options
@click.pass_context
def verify(ctx: click.Context, /, policy: str, out: Path | None, **given: Any) -> None:
    """Run a submission on the cases of a problem and report whether it is right.

    The run has every report as parquet and `evaluation.json`; the policy decides the exit code.
    Where the snapshot has a folder for each checkpoint, each is tried on its own.
    """
    from assay.submissions import SubmissionsPlan, SubmissionsRequest, print_warning

    names = RunOptions.__dataclass_fields__
    options = RunOptions.of({name: given.pop(name) for name in names})
    asked = SubmissionsRequest.of(**given, jobs=options.jobs)
    plan = SubmissionsPlan(asked, policy, on_warning=print_warning)
    ctx.exit(print_run(start_plan(plan, out, options), options))


@click.command("run-case")
@submission_options
@click.option("--checkpoint", "-c", required=True, help="A checkpoint's number or name.")
@click.option("--full", is_flag=True, help="Everything about every case.")
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="How many cases run at a time.")
@click.pass_context
def run_case(ctx: click.Context, /, full: bool, jobs: int | None, **given: Any) -> None:
    """Run cases of one checkpoint and print their reports as a JSON array.

    Without --full, results are printed only for cases that did not pass, and only what was judged.
    Earlier cases of a group with state run even if they are filtered out, and are not printed.
    """
    from assay.runs import Run, create_folder, run_cases
    from assay.submissions import (
        SubmissionsPlan,
        SubmissionsRequest,
        print_warning,
        to_case_values,
    )

    asked = SubmissionsRequest.of(**given, jobs=jobs)
    plan = SubmissionsPlan(asked, on_warning=print_warning)
    with tempfile.TemporaryDirectory(prefix="assay-") as temporary:
        # The same engine as `verify`, in a run that nobody keeps.
        folder = create_folder(Path(temporary) / "run", plan.manifest)
        with reserve_standard_output():
            run_cases(plan, folder)
        plan.check_met()
        with Run(folder) as run:
            printed = [to_case_values(record, is_full=full) for record in run.records()]
            code = run.exit_code
    click.echo(json.dumps(printed, indent=2))
    ctx.exit(code)


# Told here and not read from the audit, so that help needs none of the subject.
_MIN_SCORE = 0.5


@click.command()
@problem_options
@click.option(
    "--snapshot",
    "-s",
    type=FILE,
    help="The reference solution; default: `solution` in the folder of each checkpoint.",
)
@click.option(
    "--checkpoint",
    "-c",
    default="all",
    show_default=True,
    help="A checkpoint's number or name, or `all`.",
)
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=_MIN_SCORE,
    show_default=True,
    help="The mutation score that every group must reach.",
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODE[=GLOB]",
    help="Leave these findings out: all, or those of such a case, check or value.",
)
@click.option("--jobs", "-j", type=click.IntRange(min=1), help="How many cases run at a time.")
@click.option("--html", type=FILE, help="Also write the audit to this file, as a page.")
@JSON
@click.option("--quiet", "-q", is_flag=True, help="Show no progress.")
@click.pass_context
def audit(
    ctx: click.Context,
    /,
    snapshot: Path | None,
    min_score: float,
    ignore: tuple[str, ...],
    jobs: int | None,
    html: Path | None,
    as_json: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Grade the grader: try a problem's verifier on right, empty and mutated results.

    The reference solution must pass every case, twice; a submission that does nothing must fail
    every case; every mutant of the right result must be rejected. Exit code 1 if anything is found.
    """
    from assay.reports import Paint
    from assay.submissions import SubmissionsRequest, audit_problem, print_warning, render_text

    # The snapshot is chosen for each checkpoint; until then the problem stands in its place.
    asked = SubmissionsRequest.of(snapshot or "", **given, jobs=jobs)
    progress = _Line() if sys.stderr.isatty() and not quiet else None
    with reserve_standard_output():
        try:
            found = audit_problem(
                asked,
                snapshot,
                min_score=min_score,
                ignore=ignore,
                progress=progress,
                on_warning=print_warning,
            )
        finally:
            if progress is not None:
                progress.close()
    if html is not None:
        html.write_text(found.report("html"), encoding="utf-8")
    if as_json:
        click.echo(found.report("json"), nl=False)
    else:
        lines = render_text(found.problem, found.groups, found.findings, Paint(use_colour()))
        click.echo("\n".join(lines))
    ctx.exit(found.exit_code)


class _Line:
    """One line on standard error that says how far the audit is."""

    def __init__(self) -> None:
        self._runs = self._cases = self._mutants = self._width = 0

    def count_run(self, group: str) -> None:
        self._runs += 1
        self._show(group)

    def count_case(self, group: str, mutants: int) -> None:
        self._cases += 1
        self._mutants += mutants
        self._show(group)

    def _show(self, group: str) -> None:
        self._write(
            f"{group}  {self._runs:,} runs of the reference  {self._cases:,} cases audited  "
            f"{self._mutants:,} mutants"
        )

    def _write(self, line: str) -> None:
        from assay.escaping import escape_hidden

        line = escape_hidden(line)[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def close(self) -> None:
        """Remove the line."""
        self._write("")
        sys.stderr.write("\r")
        sys.stderr.flush()


@click.command()
@click.argument("problems", metavar="PROBLEM…", nargs=-1, required=True)
@PROBLEM_PATH
@ALLOW_OUTSIDE
@lint_options
@click.pass_context
def lint(
    ctx: click.Context,
    /,
    problems: tuple[str, ...],
    problem_path: Path,
    allow_outside: bool,
    **given: Any,
) -> None:
    """Find what is wrong with problems: config, cases, signatures. Nothing is run."""
    from assay import submissions

    options = LintOptions(**given)
    findings = submissions.lint(
        *problems,
        problem_path=problem_path,
        ignore=options.ignore,
        allow_outside=allow_outside,
    )
    print_findings(ctx, findings, options)


@click.command()
@click.argument("name")
@click.option("--api", is_flag=True, help="A server with state instead of a command.")
@JSON
def new(name: str, api: bool, as_json: bool) -> None:
    """Write a small working problem, with a solution and a broken one."""
    from assay.submissions import write_problem

    folder = Path(name)
    solution = f"{folder}/checkpoint_1/solution"
    print_new(
        write_problem(folder, is_api=api),
        f"assay submissions verify -s {solution} -p {folder}",
        as_json=as_json,
    )


@click.command()
@click.argument("kind", type=click.Choice(["config", "group", "case"]), required=False)
def schema(kind: str | None) -> None:
    """Print the JSON Schema of problem files, of all kinds or of one."""
    from assay.submissions import schema_text

    click.echo(schema_text(kind), nl=False)


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    options_metavar="-p PROBLEM [OPTIONS]",
)
@click.option("--problem", "-p", required=True, metavar="PROBLEM", help="A folder, or a name.")
@click.option(
    "--problem-path",
    type=click.Path(path_type=Path),
    default=Path("problems"),
    show_default=True,
    help="Where problems with a name are.",
)
@click.argument("arguments", metavar="[PYTEST…]", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def test(
    ctx: click.Context, /, problem: str, problem_path: Path, arguments: tuple[str, ...]
) -> None:
    """Run a problem's own test_*.py by pytest, with the reference's names.

    What follows is given to pytest; write `--` before an option that Assay has too.
    """
    from assay.submissions import find_problem, run_own_tests

    folder = find_problem(problem, problem_path).resolve()
    ctx.exit(run_own_tests(folder, arguments))


@click.command()
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write it there, for PYTHONPATH, instead of beside Assay's own packages.",
)
@click.option("--remove", is_flag=True, help="Remove it again.")
@JSON
def alias(folder: Path | None, remove: bool, as_json: bool) -> None:
    """Make `import slop_code` work in this Python, for a problem's tests.

    Then `python test_verifier.py` and pytest alone run them. One file is written, slop_code.py; a
    real slop_code that is installed is never hidden.
    """
    from assay.submissions import remove_shim, write_shim

    file = remove_shim(folder) if remove else write_shim(folder)
    if as_json:
        print_json({"removed" if remove else "wrote": str(file)})
        return
    if remove:
        click.echo(f"removed  {file}")
        return
    click.echo(f"wrote  {file}")
    if folder is not None:
        click.echo(f"\nnext: PYTHONPATH={folder} python test_verifier.py")
