"""`assay run` and `assay init`: evaluations in Python, and the first files of a project."""

from __future__ import annotations

import json
import os
from importlib import resources
from importlib.metadata import distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from assay._version import __version__
from assay.cli.common import (
    JSON,
    RunOptions,
    print_json,
    print_run,
    reserve_standard_output,
    run_options,
    start_plan,
)
from assay.config import FILE, is_configured, load_config


@click.command()
@click.argument("evaluation", metavar="FILE.py[:NAME]", type=click.Path())
@click.option("--out", type=click.Path(path_type=Path), help="Keep the run in this folder.")
@click.option("--time-limit", type=float, help="Seconds a task may take; overrides the file's.")
@click.option("--ratio", metavar="N/M", help="Take M samples, N must pass; overrides the file's.")
@click.option("--threads", is_flag=True, help="Run plain functions in threads, not in processes.")
@run_options
@click.pass_context
def run(
    ctx: click.Context,
    /,
    evaluation: str,
    out: Path | None,
    time_limit: float | None,
    ratio: str | None,
    threads: bool,
    **shared: Any,
) -> None:
    """Run an evaluation written in Python and report what it found.

    FILE.py defines NAME as an assay.Evaluation, or as a function that returns one; NAME may be
    left out if there is only one. `assay init` writes a first example.
    """
    from assay.evaluation_file import plan_file

    options = RunOptions.of(shared)
    asked: dict[str, Any] = {
        "evaluation": _absolute(evaluation),
        "time_limit": time_limit,
        "ratio": ratio,
        "threads": threads,
        "jobs": options.jobs or load_config().jobs_or_default(),
    }
    with reserve_standard_output():
        plan = plan_file(asked, title=evaluation)
    ctx.exit(print_run(start_plan(plan, out, options), options))


def _absolute(text: str) -> str:
    """Return where the file really is: a run can be resumed from any folder."""
    file, colon, name = text.partition(":")
    return f"{os.path.abspath(file)}{colon}{name}"  # noqa: PTH100 - links stay as they are


# Where each file goes, and which template it is.
FILES = {
    "assay.toml": "assay.toml",
    "evaluations/first.py": "first.py",
    ".github/workflows/assay.yml": "workflow.yml",
}


def find_source() -> str:
    """Return what pip installs this Assay from: its repository's address, or a wheel in `wheels/`.

    Assay is in no package index, so its name alone would install something else or nothing.
    """
    wheel = f"wheels/assaykit-{__version__}-py3-none-any.whl"
    recorded = distribution("assaykit").read_text("direct_url.json")
    about = json.loads(recorded) if recorded else {}
    address = urlsplit(about.get("url", ""))
    if address.scheme == "file" and address.path.endswith(".whl"):
        return f"wheels/{address.path.rpartition('/')[2]}"
    if address.scheme not in ("https", "ssh"):
        return wheel
    # Without a password that the address may have.
    plain = address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()
    version = about.get("vcs_info")
    return f"{version['vcs']}+{plain}@{version['commit_id']}" if version else plain


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
@JSON
def init(folder: Path, as_json: bool) -> None:
    """Write a commented configuration, a CI workflow and a first example.

    Files that exist are left alone.
    """
    wrote, left = _write_files(folder)
    if as_json:
        print_json({"wrote": [str(path) for path in wrote], "left": left})
        return
    for name, why in left.items():
        click.echo(f"left   {name} ({why})")
    for path in wrote:
        click.echo(f"wrote  {path}")
    place = "" if folder == Path() else f"cd {folder} && "
    click.echo(f"\nthe workflow installs {find_source()}; change ASSAY in it to install another")
    click.echo(f"\nnext: {place}assay run evaluations/first.py")


def _write_files(folder: Path) -> tuple[list[Path], dict[str, str]]:
    """Write the files of a project; return them, and those left alone with the reason."""
    templates = resources.files("assay.cli") / "templates"
    wrote, left = [], {}
    for name, template in FILES.items():
        path = folder / name
        if path.exists():
            left[str(path)] = "it exists"
            continue
        if name == FILE and is_configured(folder):
            left[str(path)] = "pyproject.toml has [tool.assay]"
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (templates / template).read_text(encoding="utf-8")
        path.write_text(text.replace("{install}", find_source()), encoding="utf-8")
        wrote.append(path)
    return wrote, left
