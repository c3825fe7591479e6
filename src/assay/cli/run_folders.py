"""`assay runs merge`, `prune`, `export` and `import`: what is done with whole run folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.common import JSON, RunOptions, print_json, print_run
from assay.config import load_config
from assay.documents import MEGABYTE
from assay.reports import count, one_line
from assay.runs import LARGEST_RUN, Ended, export_run, find_run, import_run, merge_runs, prune_runs


@click.command()
@click.argument("shards", metavar="RUN RUN…", nargs=-1, required=True)
@click.option("--out", type=click.Path(path_type=Path), help="Keep the merged run in this folder.")
@click.option(
    "--report",
    "reports",
    multiple=True,
    metavar="FORMAT=FILE",
    help="Also write this report; may be given several times.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--quiet", "-q", is_flag=True, help="Print only the last line.")
@click.pass_context
def merge(ctx: click.Context, /, shards: tuple[str, ...], out: Path | None, **shared: Any) -> None:
    """Merge finished runs of one request, such as the shards of a CI job, into a new run.

    A case that several of them have is taken once; different results for the same case are
    refused with exit code 2. Otherwise the exit code is that of the merged run.
    """
    rest = {"jobs": None, "baseline": None, "write_baseline": None}
    options = RunOptions.of({**shared, **rest})
    runs = load_config().runs
    merged = merge_runs(
        [find_run(shard, runs) for shard in shards], out, runs=runs, creates_runs=True
    )
    for note in merged.notes:
        click.echo(f"assay: {one_line(note, _LONGEST_NOTE)}", err=True)
    ctx.exit(print_run(Ended(merged.run, [f"merged into: {merged.run.path}"]), options))


_LONGEST_NOTE = 2_000


@click.command()
@click.option(
    "--keep",
    type=click.IntRange(min=1),
    required=True,
    help="How many runs of each title to keep, the newest.",
)
@click.option("--title", help="Only runs of this title.")
@click.option("--unfinished", is_flag=True, help="Also delete runs that were never finished.")
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@JSON
def prune(*, keep: int, title: str | None, unfinished: bool, dry_run: bool, as_json: bool) -> None:
    """Delete old runs of the runs folder; the newest of each title are kept.

    Runs that are being written, that cannot be read, or that were written elsewhere with --out are
    never deleted.
    """
    found = prune_runs(
        keep, load_config().runs, title=title, unfinished=unfinished, dry_run=dry_run
    )
    if as_json:
        left = [{"run": str(one.path), "reason": one.reason} for one in found.left]
        deleted = [str(path) for path in found.deleted]
        told = {"dry_run": dry_run, "deleted": deleted, "left": left, "kept": found.kept}
        print_json(told)
        return
    word = "would delete" if dry_run else "deleted"
    for path in found.deleted:
        click.echo(f"{word}  {one_line(str(path))}")
    for one in found.left:
        click.echo(f"left  {one_line(str(one.path))}: {one_line(one.reason)}")
    number = count(len(found.deleted), "run")
    click.echo(f"{word} {number}, kept {found.kept:,}, left {len(found.left):,}")


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("file", type=click.Path(path_type=Path))
@JSON
def export(run: str, file: Path, as_json: bool) -> None:
    """Write a RUN with all files of its folder as one new FILE, to send or to keep.

    `assay runs import FILE` makes a run of it again, on any machine.
    """
    found = export_run(find_run(run, load_config().runs), file)
    if as_json:
        told = {"file": str(found.file), "files": found.files, "bytes": found.bytes}
        print_json({**told, "left_out": found.left_out})
        return
    for name in found.left_out:
        click.echo(f"left out  {one_line(name)} (not a plain file)")
    size = f"{found.bytes / MEGABYTE:,.1f} MB"
    click.echo(f"exported {count(found.files, 'file')} ({size}) to {one_line(str(found.file))}")


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Keep the run in this new folder.")
@click.option(
    "--max-size",
    type=click.IntRange(min=1),
    default=LARGEST_RUN // MEGABYTE,
    show_default=True,
    help="Megabytes that its files may have.",
)
@JSON
def import_(file: Path, out: Path | None, max_size: int, as_json: bool) -> None:
    """Make a run of a FILE that `assay runs export` wrote.

    The file may come from anybody: what leads out of the folder, links and too much data are
    refused, and nothing is overwritten.
    """
    runs = load_config().runs
    path = import_run(file, out, runs=runs, most_bytes=max_size * MEGABYTE, creates_runs=True)
    if as_json:
        print_json({"run": path.name, "path": str(path)})
    else:
        shown = one_line(str(path))
        click.echo(f"imported {shown}; see it with: assay runs show {shown}")
