"""A group of commands that imports one only when it is called."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, TypeAlias

import click

from assay.errors import InputError, nearest

# Name, where it is defined, and its line in the help, so that help needs none of the modules.
Table: TypeAlias = Mapping[str, tuple[str, str]]


class LazyGroup(click.Group):
    """Commands by a table; an unknown one is told with the nearest."""

    def __init__(self, *arguments: Any, table: Table, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, _, attribute = self.table[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.table and not args[0].startswith("-"):
            raise InputError(
                f"there is no command {args[0]!r}", advice=nearest(args[0], self.table)
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.table.items()])
