"""The options that tell a command which model it may ask, and how much that may use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from assay.models import ModelChoice

Command = TypeVar("Command", bound=Callable[..., Any])

MODEL = click.option(
    "--model", metavar="NAME", help="The model to ask, such as gemini-3-pro-preview; or none."
)
MODEL_URL = click.option(
    "--model-url", metavar="URL", help="The OpenAI-compatible address of the model's server."
)
MAX_COST = click.option(
    "--max-cost", type=click.FloatRange(min=0), help="Stop when the model has cost so many dollars."
)
MAX_TOKENS = click.option(
    "--max-tokens", type=click.IntRange(min=0), help="Stop when the model has used so many tokens."
)
JUDGE_VOTES = click.option(
    "--judge-votes", type=click.IntRange(min=1), help="How often the model judges a gist; odd."
)
_NAMES = {
    "model": "model",
    "model_url": "url",
    "max_cost": "max_cost",
    "max_tokens": "max_tokens",
    "judge_votes": "judge_votes",
}


def model_options(command: Command) -> Command:
    """Add --model, --model-url, --max-cost and --max-tokens to a command."""
    for option in (MAX_TOKENS, MAX_COST, MODEL_URL, MODEL):
        command = option(command)
    return command


def take_choice(given: dict[str, Any]) -> ModelChoice:
    """Take the values of these options out of what click collected for a command."""
    from assay.models import ModelChoice

    return ModelChoice(**{field: given.pop(name, None) for name, field in _NAMES.items()})
