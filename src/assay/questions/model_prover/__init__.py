"""Questions with a model: the model proposes, execution decides, code gives the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.config import load_config
from assay.errors import InputError
from assay.runs import Run

if TYPE_CHECKING:
    from assay.models import ModelChoice
    from assay.questions.correct.apply_correction import CorrectionWriter
    from assay.questions.model_prover.adk_callbacks import ModelAccess
    from assay.questions.model_prover.pipeline import ModelProver
    from assay.questions.model_prover.verifier import ModelVerifier


@dataclass(frozen=True)
class ModelProcedure:
    """Everything that a run with a model needs in addition."""

    access: ModelAccess
    prover: ModelProver
    provers: tuple[Any, ...]
    writer: CorrectionWriter | None

    def check(self, work: Iterable[Any]) -> None:
        """Check at the start everything for which a fix could be refused at the end."""
        if self.writer is not None:
            self.writer.check(dict.fromkeys(one.entry.file for one in work))

    def verifier(self, folder: Path) -> ModelVerifier:
        """Return what verifies single questions in this run."""
        from assay.questions.model_prover.verifier import ModelVerifier

        return ModelVerifier(self.access, self.prover, folder=folder, writer=self.writer)

    def finish(self, run: Run) -> list[str]:
        """Write the patch, if there is one; return lines to print."""
        from assay.questions.correct.apply_correction import fix_counts, write_patch

        used = self.access.budget.spent
        cost = "of unknown price" if used.cost is None else f"for {used.cost:.4f} US dollars"
        lines = [
            f"model: {used.calls} calls, {used.cached_calls} from the cache, "
            f"{used.tokens:,} tokens {cost}"
        ]
        if self.writer is None:
            return lines
        if counted := fix_counts(run):
            lines.append(f"corrections: {counted}")
        patch = write_patch(run)
        return [*lines, f"patch: {patch}"] if patch else lines


def make_procedure(choice: ModelChoice | None, fixing: str | None) -> ModelProcedure | None:
    """Return the procedure for a model, or None if no model is used."""
    if choice is None:
        return None
    from assay.extras import require_extra
    from assay.models import HOW_TO_SET, resolve

    settings = resolve(choice, load_config().models)
    if settings is None:
        raise InputError("no model is configured", advice=HOW_TO_SET)
    require_extra("model", "proving questions with a model")

    from assay.questions.correct.apply_correction import CorrectionWriter, FixMode
    from assay.questions.lexical import LexicalProver
    from assay.questions.model_prover.adk_callbacks import ModelAccess
    from assay.questions.model_prover.pipeline import ModelProver

    writer = CorrectionWriter(FixMode(fixing)) if fixing else None
    access = ModelAccess(settings)
    lexical = LexicalProver()
    prover = ModelProver(access, lexical)
    return ModelProcedure(access, prover, (lexical, prover), writer)
