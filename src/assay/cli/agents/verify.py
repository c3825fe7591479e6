"""`assay agents verify`, and how a run of it is resumed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.agents.options import FILE, agent_options, as_asked, take_reach, take_sampling
from assay.cli.common import RunOptions, conclude, executing, run_options, start_run, use_baseline
from assay.cli.model_options import take_choice
from assay.config import load_config
from assay.errors import InputError
from assay.runs import Manifest, Run

if TYPE_CHECKING:
    from assay.agents.running import Reach, Sampling, Test
    from assay.models import ModelChoice, ModelClient


@click.command()
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@agent_options
@click.option("--all-samples", is_flag=True, help="Take all samples, also when it is decided.")
@click.option("--out", type=FILE, help="Keep the run in this folder.")
@run_options
@click.pass_context
def verify(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    all_samples: bool,
    out: Path | None,
    **given: Any,
) -> None:
    """Hold the conversations of test files and say whether the agent is right often enough.

    Samples stop as soon as the ratio of a test is decided; --all-samples takes all and says how
    sure the rate is.
    """
    code, _ = start(files, out, given, takes_all=all_samples)
    ctx.exit(code)


def start(
    files: tuple[str, ...],
    out: Path | None,
    given: dict[str, Any],
    *,
    takes_all: bool,
    is_told: bool = True,
) -> tuple[int, Path]:
    """Make and carry out a run, and tell of it; its exit code and its folder."""
    from assay.agents.records import SUBJECT

    config = load_config()
    choice, reach = take_choice(given), take_reach(given)
    jobs = given["jobs"] or config.jobs_or_default()
    sampling = take_sampling(given, jobs, takes_all=takes_all)
    options = RunOptions.of(given)
    prepared = _prepared(files, reach, sampling, choice)
    manifest = Manifest(
        subject=SUBJECT,
        title=", ".join(files),
        asked=as_asked(files, reach, sampling, choice),
    )
    folder = start_run(out, manifest, options, config)
    return _carry_out(prepared, folder, reach, sampling, options, is_told=is_told), folder


def resume(folder: Path, asked: dict[str, Any], options: RunOptions) -> int:
    """Continue a run of `assay agents verify`; `assay runs resume` calls it."""
    from assay.agents.running import Reach, Sampling
    from assay.models import ModelChoice

    with Run(folder) as run:
        if run.is_being_written():
            raise InputError("another process is writing this run", where=str(folder))
    try:
        reach = Reach(**{**asked["reach"], "connections": tuple(asked["reach"]["connections"])})
        sampling = Sampling(**asked["sampling"])
        choice, files = ModelChoice(**asked["model"]), tuple(asked["files"])
        # Cases are named by the paths that were given, relative to where they were given.
        os.chdir(asked["folder"])
    except (KeyError, TypeError):
        raise InputError("run.json does not say what was asked", advice="start a new run") from None
    except OSError as error:
        raise InputError(f"its folder is gone: {error.strerror}", where=asked["folder"]) from None
    folder = folder.absolute()
    prepared = _prepared(files, reach, sampling, choice)
    use_baseline(folder, options.baseline)
    return _carry_out(prepared, folder, reach, sampling, options)


def _prepared(
    files: tuple[str, ...], reach: Reach, sampling: Sampling, choice: ModelChoice
) -> tuple[list[Test], ModelClient | None]:
    """Every mistake in files and settings ends it here, before anything is run."""
    from assay.agents.files import read_files
    from assay.agents.files.rendering import passed_over_text
    from assay.agents.running import tests_of
    from assay.models import ModelClient, ResponseCache, resolve

    reading = read_files(files)
    click.echo(passed_over_text(reading), nl=False, err=True)
    tests = tests_of(reading.files_or_error(), reach, sampling)
    settings = resolve(choice, load_config().models)
    client = None if settings is None else ModelClient(settings, cache=ResponseCache())
    return tests, client


def _carry_out(
    prepared: tuple[list[Test], ModelClient | None],
    folder: Path,
    reach: Reach,
    sampling: Sampling,
    options: RunOptions,
    *,
    is_told: bool = True,
) -> int:
    from assay.agents.reporting import statistics_lines
    from assay.agents.running import run_tests

    tests, client = prepared
    with executing(folder, options, len(tests)) as progress:
        run_tests(folder, tests, reach, sampling, client, progress=progress)
    code = conclude(folder, options, is_told=is_told)
    if is_told and not options.as_json and not options.quiet:
        with Run(folder) as run:
            for line in statistics_lines(run):
                click.echo(line)
    return code
