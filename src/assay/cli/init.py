"""`assay init`: the first files of a project that uses Assay."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import click

from assay.config import FILE, is_configured

# Where each file goes, and which template it is.
FILES = {
    "assay.toml": "assay.toml",
    "evaluations/first.py": "first.py",
    ".github/workflows/assay.yml": "workflow.yml",
}


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
def init(folder: Path) -> None:
    """Write a commented configuration, a CI workflow and a first example.

    Files that exist are left alone.
    """
    templates = resources.files("assay.cli") / "templates"
    for name, template in FILES.items():
        path = folder / name
        if path.exists():
            click.echo(f"left   {path} (it exists)")
            continue
        if name == FILE and is_configured(folder):
            click.echo(f"left   {path} (pyproject.toml has [tool.assay])")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((templates / template).read_text(encoding="utf-8"), encoding="utf-8")
        click.echo(f"wrote  {path}")
    place = "" if folder == Path() else f"cd {folder} && "
    click.echo(f"\nnext: {place}assay run evaluations/first.py")
