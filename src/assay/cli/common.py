"""What several commands share: options of runs and models, and how a run starts and ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.errors import AssayError, BudgetExceeded, InputError
from assay.processes import keep_private, release

if TYPE_CHECKING:
    from assay.models import ModelChoice
    from assay.runs import Ended, Plan, Run, TerminalProgress


Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class RunOptions:
    """The options of a command that makes or continues a run."""

    jobs: int | None
    baseline: Path | None
    write_baseline: Path | None
    reports: tuple[tuple[str, Path], ...]
    as_json: bool
    quiet: bool
    engine: str = "local"
    otel: bool = False

    @classmethod
    def of(cls, given: dict[str, Any]) -> RunOptions:
        """Return the options of what click collected for `run_options`."""
        reports = tuple(_report_option(text) for text in given["reports"])
        return cls(**{**given, "reports": reports})


def run_options(command: Command) -> Command:
    """Add the options of `RunOptions` to a command."""
    return run_options_with("How many cases run at a time.")(command)


def run_options_with(jobs: str) -> Callable[[Command], Command]:
    """Add the options of `RunOptions` to a command whose --jobs counts something of its own."""

    def add(command: Command) -> Command:
        count = click.option("--jobs", "-j", type=click.IntRange(min=1), help=jobs)
        for option in reversed([count, *_OPTIONS]):
            command = option(command)
        return command

    return add


_FILE = click.Path(path_type=Path)


_OPTIONS = [
    click.option("--baseline", type=_FILE, help="Accept the known findings of this file."),
    click.option(
        "--write-baseline", type=_FILE, help="Write what is found now as known, and accept it."
    ),
    click.option(
        "--report",
        "reports",
        multiple=True,
        metavar="FORMAT=FILE",
        help="Also write this report; may be given several times.",
    ),
    click.option(
        "--engine",
        default="local",
        show_default=True,
        help="What runs the cases; packages may add others.",
    ),
    click.option(
        "--otel",
        is_flag=True,
        help="Export the run as OpenTelemetry spans, to where OTEL_EXPORTER_OTLP_ENDPOINT says.",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
    click.option("--quiet", "-q", is_flag=True, help="Show no progress and only the last line."),
]


def _report_option(text: str) -> tuple[str, Path]:
    from assay.reports import get_format

    name, equals, file = text.partition("=")
    get_format(name)
    if not equals or not file:
        raise InputError(f"--report {text}: no file is named", advice=f"write --report {name}=FILE")
    return name, Path(file)


def start_plan(plan: Plan, out: Path | None, options: RunOptions) -> Ended:
    """Carry out a plan in a new run, with progress for a person."""
    from assay.config import load_config
    from assay.runs import start_run

    config = load_config()
    with _tracing(options):
        return start_run(
            plan,
            out=out,
            runs=config.runs,
            baseline=options.baseline or config.baseline,
            write_baseline=options.write_baseline,
            watch=partial(executing, options),
            engine=options.engine,
            creates_runs=True,
        )


def resume_plan(plan: Plan, folder: Path, options: RunOptions) -> Ended:
    """Continue a run, with progress for a person."""
    from assay.runs import resume_run

    with _tracing(options):
        return resume_run(
            plan,
            folder,
            baseline=options.baseline,
            write_baseline=options.write_baseline,
            watch=partial(executing, options),
            engine=options.engine,
        )


def _tracing(options: RunOptions) -> contextlib.AbstractContextManager[None]:
    """Return what surrounds a run that is exported as spans, if it is to be."""
    if not options.otel:
        return contextlib.nullcontext()
    from assay.traces import export_traces

    return export_traces()


@contextlib.contextmanager
def executing(
    options: RunOptions, folder: Path, total: int | None
) -> Iterator[TerminalProgress | None]:
    """Show progress for a person around the cases; keep standard output for the result."""
    from assay.runs import TerminalProgress

    watched = not options.quiet and sys.stderr.isatty()
    progress = TerminalProgress(total) if watched else None
    received = 0

    def terminate(number: int, _: object) -> None:
        # As an interrupt, which an event loop knows how to end with; raising here would tear it.
        nonlocal received
        received = number
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            raise Terminated(number)
        signal.raise_signal(signal.SIGINT)

    # What is ignored stays so: who starts a run with nohup wants it to outlive the terminal.
    before = {
        number: signal.signal(number, terminate)
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        with reserve_standard_output():
            yield progress
    except KeyboardInterrupt:
        if progress is not None:
            progress.close()
        # A terminal that was closed takes no message any more.
        with contextlib.suppress(OSError):
            click.echo(
                f"assay: interrupted; what is finished is kept\n  continue with: "
                f"assay runs resume {folder}",
                err=True,
            )
        if received:
            raise Terminated(received) from None
        raise
    except BudgetExceeded as reached:
        raise BudgetExceeded(
            reached.what,
            advice=f"what is finished is kept; continue with: assay runs resume {folder}",
        ) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if progress is not None:
            progress.close()


class Terminated(KeyboardInterrupt):
    """Somebody asked the process to end: a CI system that cancels a job, a closed terminal."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


@contextlib.contextmanager
def reserve_standard_output() -> Iterator[None]:
    """Send what the user's own code prints to standard error; the result is alone on the other."""
    stream = sys.stdout
    stream.flush()
    kept = os.dup(1)
    keep_private(kept)
    os.dup2(2, 1)
    folder = Path.cwd()
    try:
        yield
    finally:
        # The user's code may have closed or replaced the stream, and changed the folder.
        sys.stdout = stream if not stream.closed else open(1, "w", closefd=False)  # noqa: SIM115
        with contextlib.suppress(OSError):
            os.chdir(folder)
        sys.stdout.flush()
        os.dup2(kept, 1)
        release(kept)
        os.close(kept)


def print_run(ended: Ended, options: RunOptions) -> int:
    """Write the reports that were asked for, print the run and return its exit code."""
    from assay.reports import write_report

    code = write_reports(ended.run, options)
    if options.as_json:
        write_report(ended.run, "json")
    elif options.quiet:
        click.echo(ended.run.summary.verdict_line())
    else:
        write_report(ended.run, "terminal", colour=use_colour())
        for note in ended.notes:
            click.echo(note)
    return code


def print_new(files: Iterable[Path], command: str, *, as_json: bool) -> None:
    """Print the files that were written for a user, and what to do with them."""
    if as_json:
        print_json({"wrote": [str(file) for file in files], "next": command})
        return
    for file in files:
        click.echo(f"wrote  {file}")
    click.echo(f"\nnext: {command}")


def write_reports(run: Run, options: RunOptions) -> int:
    """Write the reports that were asked for and return the exit code of the run.

    A finding is reported whatever happened to the reports about it.
    """
    failure = _write_reports(run, options)
    return run.exit_code or failure


def _write_reports(run: Run, options: RunOptions) -> int:
    """Write the reports that were asked for; return the exit code for those that could not be."""
    from assay.reports import write_report

    code = 0
    for name, file in options.reports:
        try:
            write_report(run, name, file)
        except AssayError as error:
            click.echo(f"assay: error: {error}", err=True)
            code = 2 if isinstance(error, InputError) else 3
    return code


JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_json(values: dict[str, Any]) -> None:
    """Print the result of a command as one JSON object."""
    click.echo(json.dumps(values, indent=2))


def use_colour() -> bool:
    """Return whether standard output is for eyes that like colour."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


MODEL = click.option(
    "--model", metavar="NAME", help="The model to ask, such as gemini-3-pro-preview; or none."
)


MODEL_URL = click.option(
    "--model-url", metavar="URL", help="The OpenAI-compatible address of the model's server."
)


MAX_COST = click.option(
    "--max-cost",
    type=click.FloatRange(min=0),
    help="Stop when the model has cost this many dollars.",
)


MAX_TOKENS = click.option(
    "--max-tokens",
    type=click.IntRange(min=0),
    help="Stop when the model has used this many tokens.",
)


JUDGE_VOTES = click.option(
    "--judge-votes", type=click.IntRange(min=1), help="How often the model judges a gist; odd."
)


REFRESH = click.option(
    "--refresh", is_flag=True, default=None, help="Ask the model again instead of using the cache."
)


_NAMES = {
    "model": "model",
    "model_url": "url",
    "max_cost": "max_cost",
    "max_tokens": "max_tokens",
    "judge_votes": "judge_votes",
    "refresh": "refresh",
}


def model_options(command: Command) -> Command:
    """Add --model, --model-url, --max-cost, --max-tokens and --refresh to a command."""
    for option in (REFRESH, MAX_TOKENS, MAX_COST, MODEL_URL, MODEL):
        command = option(command)
    return command


def take_choice(given: dict[str, Any]) -> ModelChoice:
    """Take the values of these options out of what click collected for a command."""
    from assay.models import ModelChoice

    return ModelChoice(**{field: given.pop(name, None) for name, field in _NAMES.items()})
