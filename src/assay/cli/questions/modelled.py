"""What `assay questions verify` does more with a model: its options, its procedure, its fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.cli.model_options import take_choice
from assay.config import load_config
from assay.errors import InputError
from assay.runs import Run

if TYPE_CHECKING:
    from assay.questions.modelled.access import ModelAccess
    from assay.questions.modelled.fixing import Keeper
    from assay.questions.modelled.prover import ModelProver

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


def take_modelled(given: dict[str, Any]) -> dict[str, Any]:
    """Take what concerns a model out of what click collected, as a run keeps it.

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
        return {}
    fixing = "commit" if commits else "apply" if applies else "patch" if fix else None
    return {"model": asdict(choice), "fixing": fixing}


@dataclass(frozen=True)
class ModelProcedure:
    """Everything a run with a model needs beyond one without."""

    access: ModelAccess
    prover: ModelProver
    provers: tuple[Any, ...]
    keeper: Keeper | None

    def check(self, work: Iterable[Any]) -> None:
        """Refuse at the start what a fix would be refused for at the end."""
        if self.keeper is not None:
            self.keeper.check(dict.fromkeys(one.entry.file for one in work))

    def started(self, folder: Path) -> Any:
        """How each question is verified in this run."""
        from assay.questions.modelled.verifier import ModelVerifier

        return ModelVerifier(self.access, self.prover, folder=folder, keeper=self.keeper)

    def concluded(self, run: Run) -> list[str]:
        """What there is to say at the end."""
        from assay.questions.modelled.fixing import fix_counts, write_patch

        used = self.access.budget.spent
        cost = "of unknown price" if used.cost is None else f"for {used.cost:.4f} US dollars"
        told = [
            f"model: {used.calls} calls, {used.cached_calls} from the cache, "
            f"{used.tokens:,} tokens {cost}"
        ]
        if self.keeper is None:
            return told
        if counted := fix_counts(run):
            told.append(f"corrections: {counted}")
        patch = write_patch(run)
        return [*told, f"patch: {patch}"] if patch else told


def recorded(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what a run folder says was asked, marked as such: anybody may have written it."""
    model = asked.get("model")
    return asked if model is None else {**asked, "model": {**model, "is_recorded": True}}


def model_procedure(asked: dict[str, Any]) -> ModelProcedure | None:
    """The procedure for what was asked, or None where no model is to be asked."""
    if asked.get("model") is None:
        return None
    from assay.models import HOW_TO_SET, ModelChoice, resolve
    from assay.questions.modelled.extra import require_extra

    settings = resolve(ModelChoice(**asked["model"]), load_config().models)
    if settings is None:
        raise InputError("no model is configured", advice=HOW_TO_SET)
    require_extra()

    from assay.questions.modelled.access import ModelAccess
    from assay.questions.modelled.fixing import Fixing, Keeper
    from assay.questions.modelled.prover import ModelProver
    from assay.questions.provers.introspection import IntrospectionProver

    keeper = Keeper(Fixing(asked["fixing"])) if asked["fixing"] else None
    access = ModelAccess(settings)
    introspection = IntrospectionProver()
    prover = ModelProver(access, introspection)
    return ModelProcedure(access, prover, (introspection, prover), keeper)
