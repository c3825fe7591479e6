"""The options of commands that may let a model prove or correct questions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.model_options import take_choice
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.models import ModelChoice

Command = TypeVar("Command", bound=Callable[..., Any])

_FIX = click.option(
    "--fix", is_flag=True, help="Let the model correct what is Incorrect or Ambiguous: a patch."
)
_APPLY = click.option(
    "--apply", "applies", is_flag=True, help="With --fix: edit the suite in place."
)
_COMMIT = click.option(
    "--commit", "commits", is_flag=True, help="With --fix: one commit per corrected question."
)


def fix_options(command: Command) -> Command:
    """Add --fix, --apply and --commit to a command."""
    for option in (_COMMIT, _APPLY, _FIX):
        command = option(command)
    return command


def take_model(given: dict[str, Any]) -> tuple[ModelChoice | None, str | None]:
    """Take the model and what becomes of its corrections out of what click collected.

    A model is asked only where one is named or a fix is wanted, whatever is configured.
    """
    choice = take_choice(given)
    fix, applies, commits = (given.pop(name, False) for name in ("fix", "applies", "commits"))
    if applies and commits:
        raise InputError("--apply and --commit exclude each other", advice="give one of them")
    if (applies or commits) and not fix:
        raise InputError("--apply and --commit say what becomes of a fix", advice="add --fix")
    named = choice.model not in (None, "none") or choice.url is not None
    limited = choice.max_cost is not None or choice.max_tokens is not None
    if limited and not (named or fix):
        raise InputError("no model is asked, so nothing can be limited", advice="add --model")
    if not (named or fix):
        return None, None
    fixing = "commit" if commits else "apply" if applies else "patch" if fix else None
    return choice, fixing
