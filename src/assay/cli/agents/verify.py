"""`assay agents verify`, and how a run of it is resumed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.agents.options import (
    FILE,
    agent_options,
    agent_run_options,
    as_asked,
    take_reach,
    take_sampling,
    take_trust,
)
from assay.cli.common import (
    RunOptions,
    conclude,
    executing,
    start_run,
    use_baseline,
)
from assay.cli.model_options import take_choice
from assay.config import load_config
from assay.errors import InputError
from assay.runs import Manifest, Run, check_resumable

if TYPE_CHECKING:
    from assay.agents.running import Reach, Sampling, Test, WrongFile
    from assay.agents.trust import Trust
    from assay.models import ModelChoice, ModelClient


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
    """Hold the conversations of test files and say whether the agent is right often enough.

    Samples stop as soon as the ratio of a test is decided; --all-samples takes all and says how
    sure the rate is.
    """
    work, options = start(files, out, given, takes_all=all_samples)
    ctx.exit(_told(work, options))


@dataclass(frozen=True)
class Work:
    """A run with everything that it takes to carry it out."""

    folder: Path
    tests: list[Test | WrongFile]
    reach: Reach
    sampling: Sampling
    trust: Trust
    client: ModelClient | None
    judge_error_rate: float | None = None

    def carry_out(self, options: RunOptions) -> None:
        """Run what has no record yet."""
        from assay.agents.running import run_tests

        with executing(self.folder, options, len(self.tests)) as progress:
            on_sample = progress.sampled if progress is not None else lambda: None
            run_tests(
                self.folder, self.tests, self.reach, self.sampling, self.client,
                progress=progress, on_sample=on_sample, trust=self.trust,
            )  # fmt: skip


def start(
    files: tuple[str, ...],
    out: Path | None,
    given: dict[str, Any],
    *,
    takes_all: bool,
    assesses: bool = False,
    judge_error_rate: float | None = None,
) -> tuple[Work, RunOptions]:
    """Make a run and carry it out; what follows of it is told by the caller."""
    from assay.agents.records import SUBJECT

    config = load_config()
    choice, reach = take_choice(given), take_reach(given)
    sampling = take_sampling(given, config, takes_all=takes_all)
    trust = take_trust(given, config)
    options = RunOptions.of(given)
    tests, client = _prepared(files, reach, sampling, choice)
    if judge_error_rate is None:
        judge_error_rate = config.models.judge_error_rate
    asked = {
        **as_asked(files, reach, sampling, choice),
        "assesses": assesses,
        "judge_error_rate": judge_error_rate,
    }
    manifest = Manifest(subject=SUBJECT, title=", ".join(files), asked=asked)
    folder = start_run(out, manifest, options, config)
    work = Work(folder, tests, reach, sampling, trust, client, judge_error_rate)
    work.carry_out(options)
    return work, options


def resume(
    folder: Path,
    asked: dict[str, Any],
    options: RunOptions,
    *,
    modules: tuple[str, ...] = (),
    is_trusted: bool = False,
) -> int:
    """Continue a run of `verify` or `assess`; `assay runs resume` calls it.

    What the user trusts is not in the run folder, which may be somebody else's.
    """
    from assay.agents.running import Reach, Sampling, check_recorded
    from assay.agents.trust import make_trust
    from assay.models import ModelChoice

    # Before the current folder changes below.
    folder, here = folder.absolute(), Path.cwd()
    check_resumable(folder)
    try:
        reach = Reach(**{**asked["reach"], "connections": tuple(asked["reach"]["connections"])})
        sampling = Sampling(
            **{**asked["sampling"], **({"jobs": options.jobs} if options.jobs else {})}
        )
        choice, files = ModelChoice.from_run(asked["model"]), tuple(asked["files"])
        # Cases are named by the paths that were given, relative to where they were given.
        os.chdir(asked["folder"])
    except (KeyError, TypeError):
        raise InputError("run.json does not say what was asked", advice="start a new run") from None
    except OSError as error:
        raise InputError(f"its folder is gone: {error.strerror}", where=asked["folder"]) from None
    trust = make_trust(
        load_config().agents.python_paths, modules, is_complete=is_trusted, resumed_from=here
    )
    tests, client = _prepared(files, reach, sampling, choice)
    # Also before the baseline is written to the run.
    check_recorded(tests, reach, trust)
    use_baseline(folder, options.baseline)
    work = Work(folder, tests, reach, sampling, trust, client, asked.get("judge_error_rate"))
    work.carry_out(options)
    if asked.get("assesses"):
        from assay.cli.agents.assess import tell_assessment

        return tell_assessment(work, options)
    return _told(work, options)


def _prepared(
    files: tuple[str, ...], reach: Reach, sampling: Sampling, choice: ModelChoice
) -> tuple[list[Test | WrongFile], ModelClient | None]:
    """Every mistake in settings ends it here, before anything is run.

    So does a file that cannot be used, with --strict or if there is no other.
    """
    from assay.agents.files import read_files
    from assay.agents.running import plan_tests
    from assay.models import ModelClient, ResponseCache, resolve

    reading = read_files(files)
    for note in reading.passed_over:
        click.echo(str(note), err=True)
    tests = plan_tests(reading.found, reach, sampling)
    settings = resolve(choice, load_config().models)
    client = None if settings is None else ModelClient(settings, cache=ResponseCache())
    return tests, client


def _told(work: Work, options: RunOptions) -> int:
    from assay.agents.reporting import statistics_lines

    code = conclude(work.folder, options)
    if not options.as_json and not options.quiet:
        with Run(work.folder) as run:
            for line in statistics_lines(run):
                click.echo(line)
    return code
