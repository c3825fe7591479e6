"""`assay environments`: get, list and remove the images that submissions run in."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path

import click

from assay.cli.common import JSON, print_json
from assay.containers import (
    Engine,
    KeptImage,
    find_engine,
    list_images,
    remove_image,
    sweep,
    try_engine,
)
from assay.errors import InputError, nearest
from assay.submissions import load_environment, pull_environment

_ENGINES = ("podman", "docker")


@click.group()
def environments() -> None:
    """Get, list and remove the images that submissions run in.

    Runs never download an image themselves, so that they need no network.
    """


@environments.command()
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path)
)
@JSON
def pull(files: tuple[Path, ...], as_json: bool) -> None:
    """Get the images of environment files: downloaded, loaded from an archive, or built."""
    pulled = []
    for file in files:
        engine, image = asyncio.run(pull_environment(load_environment(file)))
        pulled.append({"file": str(file), "engine": str(engine), "image": image})
        if not as_json:
            click.echo(f"{file}: {engine} has image {image[:12]}")
    if as_json:
        print_json({"pulled": pulled})


@environments.command("list")
@JSON
def list_kept(as_json: bool) -> None:
    """List the images that Assay made: set-ups of submissions, builds, loaded archives."""
    found = asyncio.run(_list_all())
    if as_json:
        print_json({"images": [asdict(image) for image in found]})
        return
    if not found:
        click.echo("no images were made", err=True)
    for image in found:
        click.echo(_line(image))


@environments.command()
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--all", "removes_all", is_flag=True, help="Remove all of them.")
@JSON
def remove(keys: tuple[str, ...], removes_all: bool, as_json: bool) -> None:
    """Remove images that Assay made, by their keys; they are made again when needed.

    Containers that a killed process left behind are removed too.
    """
    if bool(keys) == removes_all:
        raise InputError(
            "nothing was named", advice="give keys of `assay environments list`, or --all"
        )
    found = asyncio.run(_list_all())
    known = [image.key for image in found]
    for key in keys:
        if not any(one.startswith(key) for one in known):
            raise InputError(f"there is no image with the key {key!r}", advice=nearest(key, known))
    wanted = [image for image in found if removes_all or image.key.startswith(keys)]
    asyncio.run(_remove(wanted))
    if as_json:
        print_json({"removed": [image.key for image in wanted]})
        return
    for image in wanted:
        click.echo(f"removed {image.kind} {image.key}")


def _line(image: KeptImage) -> str:
    return (
        f"{image.key}  {image.engine:7} {image.kind:7} {image.size / 2**20:8.1f} MiB  "
        f"{image.created.replace('T', ' ')}"
    )


async def _list_engines() -> list[Engine]:
    found = [await try_engine(name) for name in _ENGINES]
    return [one for one in found if isinstance(one, Engine)] or [await find_engine()]


async def _list_all() -> list[KeptImage]:
    return [image for engine in await _list_engines() for image in await list_images(engine)]


async def _remove(wanted: list[KeptImage]) -> None:
    engines = {engine.name: engine for engine in await _list_engines()}
    for engine in engines.values():
        await sweep(engine)
    for image in wanted:
        await remove_image(engines[image.engine], image)
