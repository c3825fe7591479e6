"""`assay targets`: list, build, verify and remove the environments that proofs run against."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from assay.errors import InfrastructureError
from assay.sandbox import (
    BuiltTarget,
    Target,
    cache_folder,
    environment,
    list_targets,
    remove_target,
    verify_targets,
)


@click.group()
def targets() -> None:
    """List, build, verify and remove the environments that proofs run against.

    They are kept under ~/.cache/assay, or where ASSAY_CACHE says.
    """


@targets.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")
def list_built(as_json: bool) -> None:
    """List the environments that are built, with their sizes."""
    found = list_targets()
    if not found and not as_json:
        click.echo(f"nothing is built in {cache_folder()}", err=True)
    for target in found:
        click.echo(json.dumps(asdict(target)) if as_json else _line(target))


@targets.command()
@click.argument("requirements", nargs=-1, metavar="[REQUIREMENT]...")
@click.option(
    "--source",
    "sources",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A folder with source code; its dependencies are installed. May be repeated.",
)
@click.option("--python", help="A version, or the path of an interpreter; default: Assay's own.")
@click.option("--allow-build", is_flag=True, help="Permit packages that have to be built.")
@click.option("--allow-direct", is_flag=True, help="Permit addresses and paths as requirements.")
def build(
    requirements: tuple[str, ...],
    sources: tuple[Path, ...],
    python: str | None,
    allow_build: bool,
    allow_direct: bool,
) -> None:
    """Build the environment of a target now, or find that it is built."""
    built = environment(
        Target(requirements=requirements, sources=sources, python=python),
        allow_build=allow_build,
        allow_direct=allow_direct,
        progress=lambda text: click.echo(text, err=True),
    )
    click.echo(built.key)


@targets.command()
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
def remove(keys: tuple[str, ...]) -> None:
    """Remove environments; the beginning of a key is enough. Their locks are kept."""
    for key in keys:
        click.echo(f"{key}: {_size(remove_target(key))} freed")


@targets.command()
def verify() -> None:
    """Compare every file of the environments and kits with the digests of their builds."""
    found = verify_targets()
    for name, changed in found.items():
        if changed is None:
            click.echo(f"{name}: built before digests were recorded; remove it to build it again")
        else:
            click.echo(f"{name}: {f'{len(changed)} files changed' if changed else 'unchanged'}")
            for path in changed:
                click.echo(f"  {path!r}")
    bad = [name for name, changed in found.items() if changed]
    if bad:
        raise InfrastructureError(
            f"{len(bad)} folders of the cache were changed after they were built",
            where=str(cache_folder()),
            advice="find out who did that, then remove them: they are built again when needed",
        )


def _line(target: BuiltTarget) -> str:
    words = f"{target.packages} packages, Python {target.python}"
    return f"{target.key[:12]}  {_size(target.bytes):>9}  {target.described} ({words})"


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
