"""`assay view`: the runs of a folder in a browser, or as files."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import click

from assay.config import load_config
from assay.errors import InputError


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Listen on this port; default: a free one.",
)
@click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the pages as files into this folder instead of serving them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def view(folder: Path | None, port: int, bundle: Path | None, as_json: bool) -> None:
    """Look at runs in a browser: cases, evidence, comparisons and history.

    FOLDER has runs in it, or is one; default: the runs of the project. The pages are served to this
    machine only, until you press Ctrl-C.
    """
    from assay.view import serve, write_bundle

    shown = folder if folder is not None else load_config().runs
    if not shown.is_dir():
        raise InputError(
            "is not a folder", where=str(shown), advice="make a run first: assay run FILE.py"
        )
    if bundle is not None:
        written = write_bundle(shown, bundle)
        values = {**written._asdict(), "page": str(written.page)}
        click.echo(json.dumps(values, indent=2) if as_json else str(written))
        return
    # As after Ctrl-C, so that what was opened is closed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        # Of the project's own folder also what it remembers; another may be somebody else's.
        serve(shown, port, _announce_json if as_json else _announce, elsewhere=folder is None)
    except KeyboardInterrupt:
        click.echo("", err=True)


def _announce_json(address: str) -> None:
    click.echo(json.dumps({"address": address}))
    sys.stdout.flush()


def _announce(address: str) -> None:
    click.echo(f"Open {address}\nThe address is only for you. Stop with Ctrl-C.")
    sys.stdout.flush()
