"""The `assay` command itself: its groups, its exit codes, and how errors are reported."""

from __future__ import annotations

import errno
import importlib
import itertools
import os
import sys
import threading
from collections.abc import Mapping
from typing import Any, TypeAlias

import click

from assay._version import __version__
from assay.cli.ci_log import protect_log
from assay.errors import AssayError, InputError, nearest
from assay.escaping import escape_hidden

# Name, where it is defined, and its line in the help, so that help needs none of the modules.
Table: TypeAlias = Mapping[str, tuple[str, str]]


class LazyGroup(click.Group):
    """Commands by a table; an unknown one is told with the nearest."""

    def __init__(self, *arguments: Any, table: Table, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, _, attribute = self.table[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.table and not args[0].startswith("-"):
            raise InputError(
                f"there is no command {args[0]!r}", advice=nearest(args[0], self.table)
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.table.items()])


EXIT_CODES = """\
Exit codes: 0 everything passed, 1 something was found wrong, 2 the input was wrong,
3 the infrastructure failed, 130 interrupted (Ctrl-C)."""


COMMANDS = {
    "questions": (
        "assay.cli.questions:questions",
        "Prove every option of benchmark questions against the real library.",
    ),
    "submissions": (
        "assay.cli.submissions:submissions",
        "Run a program on the cases of a problem and verify what it produced.",
    ),
    "agents": (
        "assay.cli.agents:agents",
        "Run the conversations of test files with a live agent, as often as they require.",
    ),
    "run": ("assay.cli.run:run", "Run an evaluation written in Python and report what it found."),
    "runs": (
        "assay.cli.runs:runs",
        "List, show, resume, compare, merge and delete the runs that were kept.",
    ),
    "report": ("assay.cli.runs:report", "Write a report of a run in any format."),
    "view": (
        "assay.cli.view:view",
        "Look at runs in a browser: cases, evidence, comparisons and history.",
    ),
    "checks": (
        "assay.cli.info:checks",
        "List the named comparisons, or show the options of one.",
    ),
    "plugins": (
        "assay.cli.info:plugins",
        "List the plugins that are installed, where each comes from and whether it can be used.",
    ),
    "environments": (
        "assay.cli.environments:environments",
        "Get, list and remove the images that submissions run in.",
    ),
    "targets": (
        "assay.cli.targets:targets",
        "List, build, verify and remove the environments that proofs run against.",
    ),
    "models": (
        "assay.cli.info:models",
        "Show which language model is configured, and whether it answers.",
    ),
    "doctor": (
        "assay.cli.info:doctor",
        "Show how well programs can be isolated on this machine, and test it.",
    ),
    "init": (
        "assay.cli.run:init",
        "Write a commented configuration, a CI workflow and a first example.",
    ),
    "completion": ("assay.cli.info:completion", "Print the completion script of a shell."),
}


class RootGroup(LazyGroup):
    """The group of all commands; it also knows what a reader that has gone away means."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Before click sees it: it would end with 1, which says that something is wrong.
            from assay.reports import discard_standard_output

            discard_standard_output()
            return 0


@click.group(
    cls=RootGroup,
    table=COMMANDS,
    epilog=EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="assay", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def cli(debug: bool) -> None:
    """Find out by test what an evaluation is worth: is the question right, is the submission
    right, is the agent right often enough?"""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; a user's mistake never shows a traceback."""
    words = sys.argv[1:] if arguments is None else arguments
    _open_standard_streams()
    protect_log()
    _log_to_standard_error()
    try:
        code = cli.main(words, prog_name="assay", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        if _wants_traceback(words) and not isinstance(error, (SystemExit, click.exceptions.Exit)):
            import traceback

            traceback.print_exception(error)
        code = _report_error(error)
    _leave(code if isinstance(code, int) else 0)


def _leave(code: int) -> None:
    """Exit, also if the user's code left a thread behind that would keep the process alive."""
    left = [each for each in threading.enumerate() if each is not threading.main_thread()]
    if any(not each.daemon for each in left):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _wants_traceback(words: list[str]) -> bool:
    return "--debug" in itertools.takewhile(lambda word: word.startswith("-"), words)


def _open_standard_streams() -> None:
    """Give a process that was started without standard streams some that lead nowhere."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def _report_error(error: BaseException) -> int:
    """Say what happened and return the exit code for it."""
    match error:
        case SystemExit():
            return error.code if isinstance(error.code, int) else 1
        case click.exceptions.Exit():
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            # click puts an exception of its own in the place of the one that says which.
            return getattr(error.__cause__ or error, "exit_code", 130)
        case click.ClickException():
            error.show(sys.stderr)
            return 2
        case AssayError():
            _say(f"assay: error: {error}")
            return 2 if isinstance(error, InputError) else 3
        case OSError() if (text := _explain_os_error(error)) is not None:
            _say(f"assay: error: {text}")
            return 2 if error.errno in _INPUT_ERRORS else 3
        case _:
            from assay.tracebacks import format_exception

            _say(f"assay: this is a defect of Assay: {format_exception(error)}")
            return 3


# What happens to any program on a disk that is full or closed, with too many files open, or with a
# name that no disk takes: nothing that Assay did wrong.
_MACHINE_ERRORS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG, errno.EMFILE, errno.ENFILE}
    | {errno.EACCES, errno.EPERM, errno.ENOMEM}
)


_INPUT_ERRORS = frozenset({errno.ENAMETOOLONG, errno.ELOOP, errno.ENOENT})


def _explain_os_error(error: OSError) -> str | None:
    """Return what to say of an error that is no defect of Assay; None if it may be one."""
    if error.errno == errno.ENOENT:
        return None if _has_folder() else "the current folder no longer exists"
    if error.errno not in _MACHINE_ERRORS | _INPUT_ERRORS:
        return None
    if _is_from_printing(error):
        from assay.reports import discard_standard_output

        discard_standard_output()
        return f"standard output cannot be written: {error.strerror}"
    where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    return f"{where}{error.strerror}"


def _is_from_printing(error: OSError) -> bool:
    """Return whether click could not print something; the error itself does not say to what."""
    import traceback

    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_code is click.echo.__code__ for frame, _ in frames)


def _has_folder() -> bool:
    try:
        os.getcwd()  # noqa: PTH109 - a plain question to the system
    except OSError:
        return False
    return True


def _say(message: str) -> None:
    try:
        click.echo(escape_hidden(message), err=True)
    except OSError:
        # Nobody can be told; the exit code still says it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _log_to_standard_error() -> None:
    import logging

    class _SafeFormatter(logging.Formatter):
        """Names of cases come from outside; none of them acts on the terminal."""

        def format(self, record: logging.LogRecord) -> str:
            return escape_hidden(super().format(record))

    handler = logging.StreamHandler()
    handler.setFormatter(_SafeFormatter("assay: %(message)s"))
    logger: Any = logging.getLogger("assay")
    logger.handlers[:] = [handler]
    logger.propagate = False
