"""`assay plugins`: what installed packages add to Assay."""

from __future__ import annotations

import json

import click


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def plugins(ctx: click.Context, /, as_json: bool) -> None:
    """List the plugins that are installed, where each comes from and whether it can be used.

    Exit code 1 if one cannot be imported.
    """
    from assay.errors import InputError
    from assay.escaping import escape_hidden
    from assay.plugins import installed

    listed, broken = [], 0
    for plugin in installed():
        try:
            plugin.load()
            problem = None
        except InputError as error:
            problem, broken = error.what, broken + 1
        about = {"kind": plugin.kind, "name": plugin.name, "package": plugin.package}
        listed.append({**about, "object": plugin.place, "problem": problem})
    if as_json:
        click.echo(json.dumps({"version": 1, "plugins": listed}, indent=2))
    elif not listed:
        click.echo("no plugins are installed")
    else:
        for one in listed:
            line = f"{one['kind']:12} {one['name']:24} {one['package']}  {one['object']}"
            click.echo(escape_hidden(line.rstrip()))
            if one["problem"]:
                click.echo(escape_hidden(f"    {one['problem']}"))
    ctx.exit(1 if broken else 0)
