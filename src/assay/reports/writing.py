"""Writes a report to a file, as a whole or not at all, or to standard output."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.documents import replace_file
from assay.errors import InfrastructureError, InputError
from assay.reports.registry import Format, get_format

if TYPE_CHECKING:
    from assay.runs import Run


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
    else:
        _write_to_file(render_report(run, name, colour=colour), out)


def keep_report(run: Run, name: str, file: str) -> Path:
    """Put a report into the folder of its run, in the place of whatever has this name there."""
    path = run.path / file
    with _failures_told(path):
        replace_file(path, render_report(run, name))
    return path


def render_report(run: Run, name: str, *, colour: bool = False) -> Iterator[bytes]:
    """The bytes of a report, piece by piece."""
    format_ = get_format(name)
    if format_.subject not in (None, run.manifest.subject):
        raise InputError(
            f"{name} is a report of {format_.subject}, and this run is of {run.manifest.subject}",
            where=str(run.path),
            advice="see: assay report --help",
        )
    render = format_.load()
    for piece in render(run, colour=colour) if format_.has_colour else render(run):
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
        # Whoever reads has seen enough; that changes nothing about what was found.
        discard_standard_output()
    except OSError as error:
        discard_standard_output()
        raise InfrastructureError(f"standard output cannot be written: {error.strerror}") from None


def discard_standard_output() -> None:
    """Send what is still to come nowhere, so that Python does not stumble over it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_to_file(pieces: Iterator[bytes], out: Path) -> None:
    # What a link points to is replaced, not the link.
    target = out.resolve()
    if target.is_dir():
        raise InputError(
            "is a folder, not a file a report can be written to",
            where=str(out),
            advice=f"name a file in it: --out {out / 'report'}",
        )
    with _failures_told(out):
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():
            # A device or a pipe is written to; replacing it would destroy it.
            with target.open("wb") as file:
                file.writelines(pieces)
        else:
            replace_file(target, pieces)


@contextlib.contextmanager
def _failures_told(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InfrastructureError(
            f"the report could not be written: {error.strerror or error}", where=str(out)
        ) from None
