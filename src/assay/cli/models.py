"""`assay models`: whether the model that is configured can be asked."""

from __future__ import annotations

import asyncio
from typing import Any

import click

from assay.cli.model_options import MODEL, MODEL_URL, take_choice
from assay.config import load_config
from assay.errors import InputError
from assay.escaping import escape_hidden


@click.group()
def models() -> None:
    """Say which language model is configured, and whether it answers."""


@models.command()
@MODEL
@MODEL_URL
def check(**given: Any) -> None:
    """Make one tiny call to the model and say what works."""
    from assay.models import HOW_TO_SET, check_access, resolve

    settings = resolve(take_choice(given), load_config().models)
    if settings is None:
        raise InputError("no model is configured", advice=HOW_TO_SET)
    for word, told in asyncio.run(check_access(settings)):
        click.echo(escape_hidden(f"{word:8}{told}"))
