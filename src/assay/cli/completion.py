"""`assay completion`: the script that makes a shell complete Assay's commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


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
