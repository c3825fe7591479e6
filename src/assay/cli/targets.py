"""`assay targets`: list, build, verify and remove the environments that proofs run against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from assay.cli.common import JSON, print_json
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
@JSON
def list_built(as_json: bool) -> None:
    """List the environments that are built, with their sizes."""
    found = list_targets()
    if as_json:
        print_json({"targets": [asdict(target) for target in found]})
        return
    if not found:
        click.echo(f"nothing is built in {cache_folder()}", err=True)
    for target in found:
        click.echo(_line(target))


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
@JSON
def build(
    requirements: tuple[str, ...],
    sources: tuple[Path, ...],
    python: str | None,
    allow_build: bool,
    allow_direct: bool,
    as_json: bool,
) -> None:
    """Build the environment of a target now, or find that it is built."""
    built = environment(
        Target(requirements=requirements, sources=sources, python=python),
        allow_build=allow_build,
        allow_direct=allow_direct,
        progress=lambda text: click.echo(text, err=True),
    )
    if as_json:
        print_json({"key": built.key})
    else:
        click.echo(built.key)


@targets.command()
@click.argument("keys", nargs=-1, required=True, metavar="KEY...")
@JSON
def remove(keys: tuple[str, ...], as_json: bool) -> None:
    """Remove environments; the beginning of a key is enough. Their locks are kept."""
    removed = []
    for key in keys:
        freed = remove_target(key)
        removed.append({"key": key, "bytes": freed})
        if not as_json:
            click.echo(f"{key}: {_size(freed)} freed")
    if as_json:
        print_json({"removed": removed})


@targets.command()
@JSON
def verify(as_json: bool) -> None:
    """Compare every file of the environments and kits with the digests of their builds."""
    found = verify_targets()
    if as_json:
        # A name need not be UTF-8.
        print_json({"targets": {n: c and [str(path) for path in c] for n, c in found.items()}})
    else:
        _print_verified(found)
    bad = [name for name, changed in found.items() if changed]
    if bad:
        raise InfrastructureError(
            f"{len(bad)} folders of the cache were changed after they were built",
            where=str(cache_folder()),
            advice="find out who did that, then remove them: they are built again when needed",
        )


def _print_verified(found: Mapping[str, Sequence[Any] | None]) -> None:
    for name, changed in found.items():
        if changed is None:
            click.echo(f"{name}: built before digests were recorded; remove it to build it again")
        else:
            click.echo(f"{name}: {f'{len(changed)} files changed' if changed else 'unchanged'}")
            for path in changed:
                click.echo(f"  {path!r}")


def _line(target: BuiltTarget) -> str:
    words = f"{target.packages} packages, Python {target.python}"
    return f"{target.key[:12]}  {_size(target.bytes):>9}  {target.described} ({words})"


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
