"""`assay checks`: what the registry of named comparisons offers."""

from __future__ import annotations

import inspect

import click

from assay.checks import check_names, get_check


@click.command()
@click.argument("name", required=False)
def checks(name: str | None) -> None:
    """List the named comparisons, or show the options of one."""
    if name is not None:
        click.echo(_described(name))
        return
    width = max(len(each) for each in check_names())
    for each in check_names():
        click.echo(f"{each.ljust(width)}  {_first_line(each)}")


def _first_line(name: str) -> str:
    return (inspect.getdoc(get_check(name)) or "").partition("\n")[0]


def _described(name: str) -> str:
    function = get_check(name)
    options = [
        f"  {parameter.name} = {parameter.default!r}"
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    listed = "\n".join(options) if options else "  none"
    return f"{name}\n\n{inspect.getdoc(function)}\n\nOptions:\n{listed}"
