"""What is there: checks, plugins, the model, the sandbox of this machine, and shell completion."""

from __future__ import annotations

import json
from typing import Any

import click
from click.shell_completion import get_completion_class

from assay.cli.common import MODEL, MODEL_URL, take_choice
from assay.errors import InputError
from assay.escaping import escape_hidden


@click.command()
@click.argument("name", required=False)
def checks(name: str | None) -> None:
    """List the named comparisons, or show the options of one."""
    from assay.checks import check_names

    if name is not None:
        click.echo(_describe(name))
        return
    width = max(len(each) for each in check_names())
    for each in check_names():
        click.echo(f"{each.ljust(width)}  {_first_line(each)}")


def _first_line(name: str) -> str:
    import inspect

    from assay.checks import get_check

    return (inspect.getdoc(get_check(name)) or "").partition("\n")[0]


def _describe(name: str) -> str:
    import inspect

    from assay.checks import get_check

    function = get_check(name)
    options = [
        f"  {parameter.name} = {parameter.default!r}"
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    listed = "\n".join(options) if options else "  none"
    return f"{name}\n\n{inspect.getdoc(function)}\n\nOptions:\n{listed}"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def plugins(ctx: click.Context, /, as_json: bool) -> None:
    """List the plugins that are installed, where each comes from and whether it can be used.

    Exit code 1 if one cannot be imported.
    """
    from assay.errors import InputError
    from assay.escaping import escape_hidden
    from assay.plugins import list_installed

    listed, broken = [], 0
    for plugin in list_installed():
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


@click.group()
def models() -> None:
    """Show which language model is configured, and whether it answers."""


@models.command()
@MODEL
@MODEL_URL
def check(**given: Any) -> None:
    """Make one tiny call to the model and say what works."""
    import asyncio

    from assay.config import load_config
    from assay.models import HOW_TO_SET, check_access, resolve

    settings = resolve(take_choice(given), load_config().models)
    if settings is None:
        raise InputError("no model is configured", advice=HOW_TO_SET)
    for word, told in asyncio.run(check_access(settings)):
        click.echo(escape_hidden(f"{word:8}{told}"))


@click.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Show how well programs can be isolated on this machine, and test it.

    The engines of containers are tried too; a machine needs none.
    """
    import asyncio

    from assay.containers import describe_engines
    from assay.sandbox import doctor_report

    report = doctor_report()
    for line in (*report.lines, *asyncio.run(describe_engines())):
        click.echo(line)
    ctx.exit(0 if report.healthy else 3)


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash: eval "$(assay completion bash)"  in ~/.bashrc
    zsh:  eval "$(assay completion zsh)"  in ~/.zshrc
    fish: assay completion fish > ~/.config/fish/completions/assay.fish
    """
    from assay.cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "assay", "_ASSAY_COMPLETE").source())
