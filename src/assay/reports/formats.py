"""The registry of report formats, and how a report is written.

A format is listed here with its module, or added by a package as a plugin.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from assay import plugins
from assay.documents import replace_file
from assay.errors import InfrastructureError, InputError, nearest

if TYPE_CHECKING:
    from assay.runs import Run


# Yields the report in pieces, so that it is never whole in memory: text, or bytes if the format is
# binary. A format in colour also takes the keyword `colour`.
Renderer: TypeAlias = "Callable[[Run], Iterator[str]] | Callable[[Run], Iterator[bytes]]"


@dataclass(frozen=True)
class Format:
    """One way to report a run.

    `renderer` is "module:function", imported only when a report is asked for, because a format
    may need a heavy library.
    """

    name: str
    description: str
    renderer: str
    is_binary: bool = False
    has_colour: bool = False
    appends: bool = False
    """Whether it is added to a file, whose steps share it; its renderer takes the keyword `room`,
    the bytes that still fit."""
    subjects: tuple[str, ...] = ()
    """The only subjects whose runs it can tell; empty for any."""

    def load(self) -> Callable[..., Iterator[Any]]:
        """Return the function that renders a run."""
        module, _, function = self.renderer.partition(":")
        found: Callable[..., Iterator[Any]] = getattr(importlib.import_module(module), function)
        return found


def register_format(new: Format) -> None:
    """Register a format under an unused name."""
    if new.name in _FORMATS:
        raise ValueError(f"the report format {new.name!r} is registered already")
    _FORMATS[new.name] = new


def get_format(name: str) -> Format:
    """Return a format by name; raise an InputError with the nearest name if there is none."""
    if name not in _FORMATS and (added := plugins.find("reports", name)) is not None:
        register_format(_as_format(name, added))
    if name not in _FORMATS:
        raise InputError(f"unknown report format {name!r}", advice=nearest(name, _FORMATS))
    return _FORMATS[name]


def _as_format(name: str, added: Any) -> Format:
    """Return a plugin's object as a format: it may be just a function that renders."""
    if isinstance(added, Format):
        return added
    if not callable(added):
        raise InputError(
            f"the report {name!r} of a plugin is {type(added).__name__}, not a function"
        )
    about = (added.__doc__ or "").strip().partition("\n")[0]
    return Format(name, about, f"{added.__module__}:{added.__qualname__}")


def format_names() -> list[str]:
    """Return all names, in order of registration; those of plugins last."""
    added = (plugin.name for plugin in plugins.list_installed("reports"))
    return list(dict.fromkeys([*_FORMATS, *added]))


_FORMATS: dict[str, Format] = {}


for _format in (
    Format(
        "terminal",
        "For people, in a terminal: what did not pass first, then the totals.",
        "assay.reports.terminal:render",
        has_colour=True,
    ),
    Format(
        "json",
        "One JSON object with the totals and every record in full.",
        "assay.reports.json_report:render",
    ),
    Format(
        "markdown",
        "A Markdown document with the totals and all that did not pass.",
        "assay.reports.markdown:render",
    ),
    Format(
        "junit",
        "JUnit XML that CI systems read, one test case per case.",
        "assay.reports.junit:render",
    ),
    Format(
        "github",
        "A step summary for GitHub Actions, at most 1 MiB; added to the file.",
        "assay.reports.markdown:render_github",
        appends=True,
    ),
    Format(
        "parquet",
        "A parquet file with one row per report, for data frames and SQL.",
        "assay.reports.parquet:render",
        is_binary=True,
    ),
    Format(
        "html",
        "One self-contained page with a filter, a search and folded evidence.",
        "assay.reports.html_report:render",
    ),
    Format(
        "quality",
        "Questions: what is known about each, as quality_report.json.",
        "assay.questions.quality_report:render_json",
        subjects=("questions",),
    ),
    Format(
        "verdicts",
        "Questions: a Markdown document grouped by verdict, with the evidence.",
        "assay.questions.quality_report:render_markdown",
        subjects=("questions",),
    ),
    Format(
        "sarif",
        "Questions: findings on the lines of the suite, for code scanning.",
        "assay.questions.quality_report:render_sarif",
        subjects=("questions", "drift"),
    ),
):
    register_format(_format)


def write_report(run: Run, name: str, out: Path | None = None, *, colour: bool = False) -> None:
    """Report a run in a format, to a file or (without `out`) to standard output.

    Text is UTF-8 wherever it goes. `colour` is the caller's decision and matters only to formats
    that have any.
    """
    format_ = get_format(name)
    if out is None:
        _refuse_terminal(format_)
        _write_to_standard_output(
            render_report(run, name, colour=colour), is_binary=format_.is_binary
        )
    elif format_.appends:
        append_pieces(out, lambda room: render_report(run, name, room=room))
    else:
        _write_to_file(render_report(run, name, colour=colour), out)


def write_pieces(pieces: Iterable[str], out: Path | None = None) -> None:
    """Write a text to a file, replacing it, or to standard output."""
    encoded = (piece.encode("utf-8", "backslashreplace") for piece in pieces)
    if out is None:
        _write_to_standard_output(encoded, is_binary=False)
    else:
        _write_to_file(encoded, out)


MOST_APPENDED = 1024 * 1024
"""Bytes of a step summary; GitHub takes nothing of a larger one."""


def append_pieces(out: Path, render: Callable[[int], Iterable[bytes]]) -> None:
    """Add a step summary to a file; `render` gets the number of bytes that still fit."""
    target = out.resolve()
    with _report_failures(out):
        target.parent.mkdir(parents=True, exist_ok=True)
        size = target.stat().st_size if target.is_file() else 0
        added = b"\n" * (size > 0) + b"".join(render(MOST_APPENDED - size - 1))
        if size + len(added) > MOST_APPENDED:
            raise InputError(
                f"the step summary has {size:,} bytes already, and GitHub takes no more than "
                f"{MOST_APPENDED:,}",
                where=str(out),
                advice="write it in a step of its own",
            )
        with target.open("ab") as file:
            file.write(added)


def keep_report(run: Run, name: str, file: str) -> Path:
    """Write a report into the folder of its run, replacing whatever has this name."""
    path = run.path / file
    with _report_failures(path):
        replace_file(path, render_report(run, name))
    return path


def render_report(
    run: Run, name: str, *, colour: bool = False, room: int = MOST_APPENDED
) -> Iterator[bytes]:
    """Yield the bytes of a report, piece by piece; `room` is for formats that are appended."""
    format_ = get_format(name)
    if format_.subjects and run.manifest.subject not in format_.subjects:
        raise InputError(
            f"{name} is a report of {' and '.join(format_.subjects)}, and this run is of "
            f"{run.manifest.subject}",
            where=str(run.path),
            advice="see: assay report --help",
        )
    options: dict[str, Any] = {"colour": colour} if format_.has_colour else {}
    if format_.appends:
        options["room"] = room
    for piece in format_.load()(run, **options):
        # The stock formats escape lone surrogates themselves; one of a subject may forget to.
        yield piece if format_.is_binary else piece.encode("utf-8", "backslashreplace")


def _refuse_terminal(format_: Format) -> None:
    if format_.is_binary and (sys.stdout.isatty() or not hasattr(sys.stdout, "buffer")):
        raise InputError(
            f"a {format_.name} report is binary and standard output takes only text",
            advice=f"write it to a file: --out report.{format_.name}",
        )


def _write_to_standard_output(pieces: Iterator[bytes], *, is_binary: bool) -> None:
    sys.stdout.flush()
    if not hasattr(sys.stdout, "buffer"):
        # A notebook, or a test that redirects standard output, takes text and nothing else.
        sys.stdout.writelines(piece.decode() for piece in pieces)
        return
    # The log of a CI service may be guarded (assay.cli.ci_log); what is binary is not a log.
    out = getattr(sys.stdout.buffer, "inner", sys.stdout.buffer) if is_binary else sys.stdout.buffer
    try:
        for piece in pieces:
            out.write(piece)
        out.flush()
    except BrokenPipeError:
        # The reader closed the pipe; the result does not change.
        discard_standard_output()
    except OSError as error:
        discard_standard_output()
        raise InfrastructureError(f"standard output cannot be written: {error.strerror}") from None


def discard_standard_output() -> None:
    """Redirect further output to nowhere, so that Python does not fail at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_to_file(pieces: Iterator[bytes], out: Path) -> None:
    # The target of a link is replaced, not the link.
    target = out.resolve()
    if target.is_dir():
        raise InputError(
            "is a folder, not a file a report can be written to",
            where=str(out),
            advice=f"name a file in it: --out {out / 'report'}",
        )
    with _report_failures(out):
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():
            # A device or a pipe is written to; replacing it would destroy it.
            with target.open("wb") as file:
                file.writelines(pieces)
        else:
            replace_file(target, pieces)


@contextlib.contextmanager
def _report_failures(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InfrastructureError(
            f"the report could not be written: {error.strerror or error}", where=str(out)
        ) from None
