"""What is there: checks, plugins, the model, the sandbox of this machine, and shell completion."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import get_completion_class

from assay.cli.common import JSON, MODEL, MODEL_URL, print_json, take_choice
from assay.errors import InputError
from assay.escaping import escape_hidden


@click.command()
@click.argument("name", required=False)
@JSON
def checks(name: str | None, as_json: bool) -> None:
    """List the named comparisons, or show the options of one."""
    from assay.checks import check_names

    if as_json:
        names = check_names() if name is None else [name]
        print_json({"checks": [_check_values(each) for each in names]})
        return
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


def _check_values(name: str) -> dict[str, Any]:
    import inspect

    from assay.checks import get_check

    about = inspect.getdoc(get_check(name)) or ""
    options = {key: repr(default) for key, default in _list_options(name).items()}
    return {"name": name, "description": about, "options": options}


def _list_options(name: str) -> dict[str, Any]:
    import inspect

    from assay.checks import get_check

    parameters = inspect.signature(get_check(name)).parameters.values()
    return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


def _describe(name: str) -> str:
    import inspect

    from assay.checks import get_check

    function = get_check(name)
    options = [f"  {key} = {default!r}" for key, default in _list_options(name).items()]
    listed = "\n".join(options) if options else "  none"
    return f"{name}\n\n{inspect.getdoc(function)}\n\nOptions:\n{listed}"


@click.command()
@JSON
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
        print_json({"version": 1, "plugins": listed})
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
@JSON
def check(*, as_json: bool, **given: Any) -> None:
    """Make one tiny call to the model and say what works."""
    import asyncio

    from assay.config import load_config
    from assay.models import HOW_TO_SET, check_access, resolve

    settings = resolve(take_choice(given), load_config().models)
    if settings is None:
        raise InputError("no model is configured", advice=HOW_TO_SET)
    found = asyncio.run(check_access(settings))
    if as_json:
        print_json(dict(found))
        return
    for word, told in found:
        click.echo(escape_hidden(f"{word:8}{told}"))


@click.command()
@JSON
@click.pass_context
def doctor(ctx: click.Context, /, as_json: bool) -> None:
    """Show how well programs can be isolated on this machine, and test it.

    The engines of containers are tried too; a machine needs none.
    """
    import asyncio

    from assay.containers import describe_engines
    from assay.sandbox import doctor_report

    report, engines = doctor_report(), asyncio.run(describe_engines())
    if as_json:
        print_json({**report.values, "engines": list(engines)})
    else:
        click.echo("\n".join((*report.lines, *engines)))
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
