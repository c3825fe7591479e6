"""`assay agents`: is the agent right, often enough? Verify, assess, lint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from assay.cli.common import (
    JSON,
    JUDGE_VOTES,
    Command,
    RunOptions,
    model_options,
    print_new,
    print_run,
    run_options_with,
    start_plan,
    write_reports,
)
from assay.cli.lint import LintOptions, lint_options, print_findings
from assay.cli.main import LazyGroup
from assay.escaping import escape_hidden

if TYPE_CHECKING:
    from assay.agents import AgentsOptions, AgentsPlan
    from assay.runs import Ended


COMMANDS = {
    "verify": (
        "assay.cli.agents:verify",
        "Run the conversations of test files and decide whether the agent is right often enough.",
    ),
    "assess": (
        "assay.cli.agents:assess",
        "Take all samples of test files and group their failures into modes.",
    ),
    "lint": (
        "assay.cli.agents:lint",
        "Find what is wrong with test files, without an agent.",
    ),
    "new": ("assay.cli.agents:new", "Write a small agent and a first test file that passes."),
    "schema": ("assay.cli.agents:schema", "Print the JSON Schema of a test file."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def agents() -> None:
    """Run the conversations of test files with a live agent, as often as they require.

    FILE is a HOCON, JSON or YAML file with `interactions`, a folder or a glob.
    """


FILE = click.Path(path_type=Path)


ALLOW_AGENT = click.option(
    "--allow-agent",
    "allow_agents",
    multiple=True,
    metavar="MODULE",
    help="Let files name `python` agents of this module, wherever it is; may be repeated.",
)


TRUST = click.option(
    "--trust", is_flag=True, help="Let files name any code; only for files that you trust."
)


_OPTIONS = [
    click.option(
        "--connection",
        multiple=True,
        metavar="NAME",
        help="Use this connection, instead of those in the files; may be given several times.",
    ),
    click.option("--host", help="The host of the agent's server."),
    click.option("--port", type=click.IntRange(1, 65535), help="The port of the agent's server."),
    click.option("--url", help="The address of the agent's server, whole; not for http and https."),
    click.option("--command", help="The program to talk to, for the connection `command`."),
    ALLOW_AGENT,
    TRUST,
    click.option("--ca-file", type=FILE, help="Trust the certificates of this file."),
    click.option(
        "--no-verify",
        "check_certificate",
        flag_value=False,
        default=True,
        help="Do not check the server's certificate.",
    ),
    click.option("--strict", is_flag=True, help="Run nothing if any of the files cannot be used."),
    click.option(
        "--ratio", metavar="N/M", help="The ratio of passed samples, instead of those in the files."
    ),
    click.option(
        "--max-connections",
        type=click.IntRange(min=1),
        default=32,
        show_default=True,
        help="How many conversations of all tests are held with one server at a time.",
    ),
    click.option(
        "--retries",
        type=click.IntRange(min=0),
        help="How often a sample is retried after an outage; default: 2.",
    ),
    click.option(
        "--transcripts",
        type=click.Choice(["all", "failed", "none"]),
        help="Of which samples the conversation is kept in the run; default: all.",
    ),
    click.option(
        "--no-transcripts",
        "transcripts",
        flag_value="none",
        help="Keep no conversations: the same as --transcripts none.",
    ),
    JUDGE_VOTES,
]


agent_run_options = run_options_with(
    "How many samples of one test are taken at a time; default: all that it may need."
)


def agent_options(command: Command) -> Command:
    """Add the options that say how agents are reached and sampled, and who judges."""
    command = model_options(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@agent_options
@click.option("--all-samples", is_flag=True, help="Take all samples, also when it is decided.")
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@agent_run_options
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    all_samples: bool,
    out: Path | None,
    **given: Any,
) -> None:
    """Run the conversations of test files and decide whether the agent is right often enough.

    Samples stop as soon as the ratio of a test is decided; --all-samples takes all and says how
    sure the rate is.
    """
    plan, options = make_plan(files, given, takes_all=all_samples)
    ctx.exit(print_run(start_plan(plan, out, options), options))


def make_plan(
    files: tuple[str, ...], given: dict[str, Any], **more: Any
) -> tuple[AgentsPlan, RunOptions]:
    """Make the plan of what click collected; name the files that are no tests."""
    from assay import agents

    options = RunOptions.of({name: given.pop(name) for name in RunOptions.__annotations__})
    plan = agents.make_plan(files, cast("AgentsOptions", {**given, "jobs": options.jobs}), **more)
    print_skipped(plan)
    return plan, options


def print_skipped(plan: AgentsPlan) -> None:
    """Name the files that are no tests."""
    for note in plan.skipped:
        click.echo(note, err=True)


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@agent_options
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@click.option(
    "--judge-error-rate",
    type=click.FloatRange(min=0, max=1, max_open=True),
    help="How often the judge's decisions are wrong, as a fraction, if you have measured it.",
)
@click.option("--markdown", type=FILE, help="Also write the assessment to this file, as Markdown.")
@agent_run_options
@click.pass_context
def assess(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    out: Path | None,
    markdown: Path | None,
    judge_error_rate: float | None,
    **given: Any,
) -> None:
    """Take all samples of test files and group their failures into modes.

    Each mode comes with its share, an interval and examples, and says whether the agent or the
    test is the likelier culprit. With a model, it proposes the modes and places each failure.
    """
    # The report of the run is not asked for: its place is taken by the assessment.
    plan, options = make_plan(
        files, given, takes_all=True, assesses=True, judge_error_rate=judge_error_rate
    )
    ctx.exit(print_assessment(plan, start_plan(plan, out, options), options, markdown))


def print_assessment(
    plan: AgentsPlan, ended: Ended, options: RunOptions, markdown: Path | None = None
) -> int:
    """Print the modes of failure of a run that has all its samples; return its exit code."""
    from assay.agents import assess_run

    code = write_reports(ended.run, options)
    found = assess_run(ended.run, plan, _say)
    if markdown is not None:
        markdown.write_text(found.report(), encoding="utf-8")
    if options.as_json:
        click.echo(found.report("json"), nl=False)
    elif not options.quiet:
        click.echo(f"{found.report()}run: {found.run.path}")
    if not options.as_json:
        click.echo(found.run.summary.verdict_line())
    return code


def _say(text: str) -> None:
    click.echo(f"assay: {escape_hidden(text)}", err=True)


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@lint_options
@click.pass_context
def lint(ctx: click.Context, /, files: tuple[str, ...], **given: Any) -> None:
    """Find what is wrong with test files, without an agent: each with a place and advice."""
    from assay import agents

    options = LintOptions(**given)
    print_findings(ctx, agents.lint(*files, ignore=options.ignore), options)


@click.command()
def schema() -> None:
    """Print the JSON Schema of a test file."""
    from assay import agents

    click.echo(agents.schema_text(), nl=False)


@click.command()
@click.argument("name")
@JSON
def new(name: str, as_json: bool) -> None:
    """Write a small agent and a first test file that passes, into the folder NAME."""
    from assay import agents

    folder = Path(name)
    command = f"assay agents verify {folder}/conversation.hocon"
    print_new(agents.write_conversation(folder), command, as_json=as_json)
