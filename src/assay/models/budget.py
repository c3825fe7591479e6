"""The budget of a run: how many tokens or dollars its calls to models may use."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.errors import BudgetExceeded
from assay.models.usage import Usage


@dataclass
class Budget:
    """Limits and what was spent of them; without limits it only counts.

    Ask `check` before every call, tell `spend` after it. Calls that are under way when the limit is
    reached are still paid.
    """

    max_cost: float | None = None
    max_tokens: int | None = None
    spent: Usage = field(default_factory=Usage)

    def check(self) -> None:
        """Raise BudgetExceeded if nothing more may be spent."""
        used, cost = self.spent.tokens, self.spent.cost
        if self.max_tokens is not None and used >= self.max_tokens:
            raise BudgetExceeded(
                f"the model has used {used:,} of the {self.max_tokens:,} tokens it may use"
            )
        if self.max_cost is not None and (cost is None or cost >= self.max_cost):
            # A call without a known price may have cost anything.
            told = "an unknown part" if cost is None else f"{cost:.4f}"
            raise BudgetExceeded(
                f"the model has cost {told} of the {self.max_cost:g} US dollars it may cost"
            )

    def spend(self, usage: Usage) -> None:
        self.spent += usage
